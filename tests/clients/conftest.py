"""The sessions that the agents make, once for all tests: a short one, a long one, one that the agent compacted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "formats")]

from agents import AGENTS, Agent  # noqa: E402  (their folder is no package)
from scripted_model import Model  # noqa: E402

KINDS = ("short", "long", "compacted")


@pytest.fixture(scope="session")
def model() -> Iterator[Model]:
    """The model on this machine."""
    with Model() as served:
        yield served


Made = Callable[[str, str], tuple[Agent, str]]


@pytest.fixture(scope="session")
def made(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Makes the session of a kind with an agent, once: the agent and the session's id."""
    top = tmp_path_factory.mktemp("agents")

    @cache
    def agent(name: str) -> Agent:
        return AGENTS[name](top / name / "home", top / name / "repo", model)

    @cache
    def make(name: str, kind: str) -> tuple[Agent, str]:
        runner = agent(name)
        session = runner.turn("List the files and read them ALPHA", calls=2 if kind == "short" else 7)
        if kind == "long":
            runner.turn("Second turn BETA", session, calls=6)
            runner.turn("Third turn GAMMA", session, calls=6)
        elif kind == "compacted":
            runner.compact(session)
            runner.turn("Third turn GAMMA", session, calls=2)
        return runner, session

    return make
