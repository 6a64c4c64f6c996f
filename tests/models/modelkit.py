"""Sessions and reports for the tests of the model stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KEY = "sk-test-0123456789abcdef"


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


def report_of(path: str = "session.report.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))["sessions"][0]
    return found
