"""Answers from a cassette, for tests and hooks: `--summarizer replay --cassette FILE`.

The same requests are made as by the model that was recorded (`--summarizer llm --model NAME --cassette FILE`), and
looked up. One that was not recorded is an error: nobody else answers in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from compressor.asking import Terms
from compressor.brief import Brief, Task
from compressor.errors import ConfigError
from compressor.summarizers import _writer
from compressor.summarizers._answers import Answer, Cassette
from compressor.summarizers._clients import Client
from compressor.summarizers._request import Request
from compressor.summarizers._service import Service

OPTIONS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": False, "properties": {}}
DETERMINISTIC: Final = True
REPAIRS: Final = True


def ready(options: Mapping[str, Any], terms: Terms) -> None:
    """Raise `ConfigError` if there is no readable cassette."""
    Cassette(_there(terms))


def _there(terms: Terms) -> Path:
    if terms.cassette is None or not terms.cassette.exists():
        place = f'"{terms.cassette}" is not there' if terms.cassette else "none named"
        raise ConfigError(f"cassette: {place}", hint="record one: --summarizer llm --model NAME --cassette FILE")
    return terms.cassette


class _Player(Service):
    """A service that knows recorded answers only."""

    def __init__(self, tape: Cassette) -> None:
        self._tape = tape
        super().__init__({"model": "recorded", **tape.options}, Terms(), _no_client)

    def at_hand(self, request: Request) -> Answer:
        """The recorded answer."""
        return self._tape.answer(request)


def _no_client() -> Client:
    raise AssertionError("a cassette sends nothing")


@lru_cache(maxsize=4)
def _player(path: Path, _size: int, _time: int) -> _Player:
    return _Player(Cassette(path))


def summarize(task: Task, options: Mapping[str, Any]) -> Brief:
    """The brief that was recorded.

    Raises:
        CassetteError: a request has no recorded answer.
    """
    path = _there(task.terms)
    state = path.stat()
    player = _player(path, state.st_size, state.st_mtime_ns)
    return _writer.Writer(task, player.options, player).write()
