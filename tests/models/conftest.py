"""What the tests of the model stage share: the scripted server, a session worth compacting, runs of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from modelkit import KEY, write_session
from server import Server, serving

#: No other endpoint may be reached from a test, and no key of the machine may be sent.
_FOREIGN = ("OPENAI", "ANTHROPIC", "OPENROUTER", "DEEPSEEK", "DASHSCOPE", "GEMINI", "GOOGLE", "MISTRAL", "GROQ", "XAI")


@pytest.fixture(autouse=True)
def _only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COMPRESS_API_KEY", KEY)
    # the test model's package is a plug-in of llm, too, without what it needs as one
    monkeypatch.setenv("LLM_LOAD_PLUGINS", "")


@pytest.fixture(autouse=True)
def _no_connection_stays_open() -> Iterator[None]:
    yield
    from compressor.summarizers._service import close

    close()


@pytest.fixture
def server() -> Iterator[Server]:
    pytest.importorskip("openai")
    with serving() as running:
        yield running


@pytest.fixture
def session(folder: Path) -> Path:
    return write_session(folder / "session.json")


@pytest.fixture
def run(cli: Callable[..., Any], server: Server) -> Callable[..., Any]:
    """`compress run` with the scripted model; waits between tries are short."""

    def go(*args: object, fast: bool = True, protocol: str = "openai") -> Any:
        url = server.url if protocol == "openai" else server.root
        options = ["--summarizer", "llm", "--model", "scripted", "--base-url", url]
        if protocol != "openai":
            options += ["--summarizer-option", f"client={protocol}"]
        if fast:
            options += ["--summarizer-option", "backoff=0.01"]
        return cli("run", *args, *options)

    return go
