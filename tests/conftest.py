"""What all tests share: a clean environment, the command line in process, the corpus where it is at hand."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from kit import FIXTURES, ROOT, Ran

from compressor.archive import Store

# machines differ; what is slow is found by benchmarks, not by a deadline per example
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _no_options_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own COMPRESS_* options must not steer the tests; child processes find this checkout."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in os.environ:
        if name.startswith("COMPRESS_") and name not in {"COMPRESS_CORPUS", "COMPRESS_CLIENTS"}:
            monkeypatch.delenv(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command line in this process, in an empty folder."""
    from compressor.cli import main

    def run(*args: object) -> Ran:
        capfd.readouterr()
        code = main([str(a) for a in args])
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def sample(folder: Path) -> Path:
    """A long session of the shipped fixtures, as `session.jsonl` in the current folder."""
    return Path(shutil.copy(FIXTURES / "claude-code" / "refactor-billing.jsonl", folder / "session.jsonl"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real transcripts; the test is skipped without it."""
    named = os.environ.get("COMPRESS_CORPUS")
    if not named:
        pytest.skip("COMPRESS_CORPUS is not set")
    return Path(named)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An archive in a folder of its own."""
    opened = Store(tmp_path / "vault")
    yield opened
    opened.close()
