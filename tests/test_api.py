from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import compressor
from compressor import ConfigError, ReadError, Verdict
from compressor.options import specs

MESSAGES: list[dict[str, object]] = [
    {"role": "system", "content": "You are a careful engineer. Never push to main."},
    {"role": "user", "content": "Find out why the build of release 4.2.1 fails, and mend it."},
    *(
        message
        for i in range(40)
        for message in (
            {
                "role": "assistant",
                "content": f"Step {i}: next is module {i}.",
                "tool_calls": [
                    {
                        "id": f"call_{i}",
                        "type": "function",
                        "function": {"name": "read", "arguments": json.dumps({"path": f"src/module_{i}.py"})},
                    }
                ],
            },
            {
                "role": "tool",
                "tool_call_id": f"call_{i}",
                "content": "".join(f"line {n} of module {i} adds nothing\n" for n in range(30)),
            },
        )
    ),
    {"role": "assistant", "content": "The build fails because src/lock.py expects version 3."},
]


def test_a_file(sample: Path) -> None:
    result = compressor.compress(sample, budget=15_000)

    assert result.verdict is Verdict.COMPACTED
    assert result.ratio > 3
    assert result.brief in result.sessions[0].brief
    assert len(result.data) < sample.stat().st_size
    assert sorted(p.name for p in Path().iterdir()) == ["session.jsonl"]
    assert result.report()["sessions"][0]["verdict"] == "compacted"
    with pytest.raises(ConfigError):
        _ = result.messages


def test_an_output(sample: Path) -> None:
    result = compressor.compress(str(sample), output="out.jsonl", preset="archive")

    assert Path("out.jsonl").read_bytes() == result.data
    assert Path(".compress").is_dir()
    assert result.sessions[0].output == "out.jsonl"
    again = compressor.compress("out.jsonl")
    assert (again.verdict, again.data) == (Verdict.UNCHANGED, result.data)


def test_messages_come_back_as_messages() -> None:
    before = json.dumps(MESSAGES)

    result = compressor.compress(MESSAGES, ratio=3)

    assert json.dumps(MESSAGES) == before
    assert result.messages[0]["role"] == "system"
    assert "Never push to main" in json.dumps(result.messages)
    assert len(json.dumps(result.messages)) < len(before)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"budget": "lots"}, "is not a whole number"),
        ({"budget": 1000, "ratio": 2}, "at once"),
        ({"preset": "none-such"}, "unknown preset"),
    ],
)
def test_wrong_options_are_told(sample: Path, said: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        compressor.compress(sample, **said)


def test_its_options_are_those_of_the_command_line() -> None:
    ours = set(inspect.signature(compressor.compress).parameters) - {"source", "output"}

    assert ours <= {name for name, spec in specs().items() if not spec.once}


def test_an_input_is_never_overwritten(sample: Path) -> None:
    Path("link.jsonl").symlink_to(sample)
    before = sample.read_bytes()

    for output in ("session.jsonl", "link.jsonl", "./x/../session.jsonl"):
        with pytest.raises(ConfigError, match="would replace the input"):
            compressor.compress(sample, output=output)
    assert sample.read_bytes() == before


def test_what_cannot_be_read_is_told(folder: Path) -> None:
    with pytest.raises(ReadError, match=r"none\.jsonl: cannot be opened"):
        compressor.compress("none.jsonl")
