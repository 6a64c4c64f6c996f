"""`compress convert`: every format to every target, valid there, nothing said lost, what is lost told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from compressor.convert import TARGETS, convert
from compressor.formats import Source
from compressor.model import Level, PartType, Role
from compressor.reading import read
from compressor.validate import Terms, check_source

FIXTURES = Path(__file__).parent.parent / "fixtures"
SAMPLES = sorted(
    p
    for f in FIXTURES.iterdir()
    if f.name != "dirty"
    for p in f.rglob("*")
    if p.suffix in {".json", ".jsonl", ".traj", ".af"}
)


def readable(path: Path):
    from compressor.errors import CompressError

    try:
        return read(path)
    except CompressError:
        return pytest.skip("a part of a folder, not read alone")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: f"{p.parent.name}-{p.name}")
@pytest.mark.parametrize("target", TARGETS)
def test_every_format_to_every_target(path: Path, target: str) -> None:
    """The output is sound in its format, and every request and answer is in it word for word."""
    transcript = readable(path)
    converted = convert(transcript, target)
    checked = check_source(
        Source(f"x{converted.suffix}", converted.data), Terms(ignore=("K", "D"), input_format=target)
    )
    text = "\n".join(p.text for s in read(Source("x", converted.data), format=target).sessions for p in s.parts)

    assert not [f for f in checked.findings if f.level is Level.ERROR]
    for session in transcript.sessions:
        for m in session.messages:
            if m.abandoned or m.sidechain or m.generation or m.role not in (Role.USER, Role.ASSISTANT):
                continue
            for part in m.parts:
                if part.type is PartType.TEXT and part.text.strip():
                    assert part.text.strip() in text


@pytest.mark.parametrize("target", [t for t in TARGETS if t != "generic"])
def test_calls_and_results_are_told_whole(target: str) -> None:
    """Arguments keep their numbers and nested values; each result follows its call."""
    rows = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "a.py", "lines": [3, 9], "deep": {"x": 1.5}}},
            {"type": "tool_use", "id": "toolu_2", "name": "Wait", "input": {"seconds": 3}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "nothing there"},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "waited", "is_error": True},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    ]  # fmt: skip
    converted = convert(read(Source("x.json", json.dumps({"messages": rows}).encode())), target)
    again = read(Source("y", converted.data), format=target).sessions[0]

    assert [c.name for c in again.calls] == ["Read", "Wait"]
    assert all(c.message < c.results[0] for c in again.calls)
    text = converted.data.decode().replace("\\", "").replace(" ", "").replace("\n", "")
    assert '"lines":[3,9]' in text
    assert '"deep":{"x":1.5}' in text
    assert '"seconds":3' in text


def test_what_endpoints_refuse_is_told_as_text() -> None:
    """A call without a result, a result without a call, an id used twice."""
    rows = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "a", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "one"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "b", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "two"},
        {"role": "tool", "tool_call_id": "gone", "content": "whose?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "d", "type": "function", "function": {"name": "e", "arguments": "{}"}}]},
    ]  # fmt: skip
    converted = convert(read(Source("x.json", json.dumps(rows).encode())), "anthropic")

    assert converted.losses["results without their call (told as text)"] == 1
    assert converted.losses["calls without a result (told as text)"] == 1
    assert converted.losses["ids of calls (used twice or missing)"] == 1
    assert not check_source(Source("y.json", converted.data), Terms()).findings


def test_live_leaves_out_what_the_tool_does_not_send() -> None:
    transcript = read(FIXTURES / "claude-code" / "compacted-by-tool.jsonl")

    assert len(convert(transcript, "openai-chat", live=True).data) < len(convert(transcript, "openai-chat").data)


def test_the_command(cli, sample: Path) -> None:
    before = sample.read_bytes()
    ran = cli("convert", "session.jsonl", "--to", "openai-chat")

    assert ran.code == 0
    assert "session.openai-chat.json: " in ran.out
    assert "lost: " in ran.err
    assert sample.read_bytes() == before
    assert cli("convert", "session.jsonl", "--to", "openai-chat").code == 2
    assert cli("convert", "session.jsonl", "--to", "openai-chat", "--force").code == 0
    assert cli("convert", "session.jsonl", "--to", "openai-chat", "-o", "session.jsonl", "--force").code == 2
    assert json.loads(cli("convert", "session.jsonl", "--to", "anthropic", "-o", "-").out)["messages"]


def test_an_unknown_target(cli, sample: Path) -> None:
    ran = cli("convert", "session.jsonl", "--to", "openai")

    assert ran.code == 2
    assert 'cannot convert to "openai"\nhint: did you mean "openai-chat"?' in ran.err


def test_many_conversations_are_a_line_each(cli, folder: Path) -> None:
    shutil.copy(FIXTURES / "tau-bench" / "ferry.json", folder / "ferry.json")
    assert cli("convert", "ferry.json", "--to", "responses").code == 0

    assert len((folder / "ferry.responses.jsonl").read_text().splitlines()) == len(
        read(FIXTURES / "tau-bench" / "ferry.json").sessions
    )
