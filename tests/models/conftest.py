"""What the tests of the model stage share: the scripted server, a session worth compacting, runs of the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from server import Server, serving

#: No other endpoint may be reached from a test, and no key of the machine may be sent.
_FOREIGN = ("OPENAI", "ANTHROPIC", "OPENROUTER", "DEEPSEEK", "DASHSCOPE", "GEMINI", "GOOGLE", "MISTRAL", "GROQ", "XAI")
KEY = "sk-test-0123456789abcdef"


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


def messages(name: str = "billing", rounds: int = 12, lines: int = 25) -> list[dict[str, Any]]:
    """A chat with tool calls that is worth compacting: much output that nobody needs, a few facts that matter."""
    out: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a careful engineer. Never push to main."},
        {
            "role": "user",
            "content": f"Find out why the {name} build fails and mend it. Do not touch the migrations folder.",
        },
    ]
    for i in range(rounds):
        call = {"name": "read", "arguments": json.dumps({"path": f"src/{name}/module_{i}.py"})}
        out += [
            {
                "role": "assistant",
                "content": f"Next I look at module {i} of {name}.",
                "tool_calls": [{"id": f"call_{i}", "type": "function", "function": call}],
            },
            {
                "role": "tool",
                "tool_call_id": f"call_{i}",
                "content": "".join(f"nothing of note happens on line {n} of module {i}\n" for n in range(lines)),
            },
        ]
    out += [
        {"role": "user", "content": "Which version does the lock file expect?"},
        {"role": "assistant", "content": f"The {name} build fails because the lock file expects version 3.1.4."},
    ]
    return out


def write_session(path: Path, *args: Any, **kwargs: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"messages": messages(*args, **kwargs)}), encoding="utf-8")
    return path


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


def report_of(path: str = "session.report.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))["sessions"][0]
    return found
