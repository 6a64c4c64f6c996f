"""What we write, shown to the packages of the formats' own makers: their types take it, their readers show it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compressor.api import Result, compress
from compressor.convert import convert
from compressor.formats import Source
from compressor.model import VISIBLE, Origin, Role, Verdict
from compressor.reading import read

pytestmark = pytest.mark.vendors

FIXTURES = Path(__file__).parents[2] / "fixtures"


@cache
def compacted(name: str) -> Result:
    """A fixture, compacted to half of its size."""
    return compress(FIXTURES / name, ratio=2)


def drain(value: Any) -> None:
    """Lists are validated when somebody goes through them."""
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, (str, bytes, int, float, bool, type(None))):
        for inner in value:
            drain(inner)


def openai_messages(messages: list[Any]) -> None:
    pydantic = pytest.importorskip("pydantic")
    chat = pytest.importorskip("openai.types.chat")
    drain(pydantic.TypeAdapter(list[chat.ChatCompletionMessageParam]).validate_python(messages))


def openai_items(items: list[Any]) -> None:
    pydantic = pytest.importorskip("pydantic")
    responses = pytest.importorskip("openai.types.responses")
    drain(pydantic.TypeAdapter(list[responses.ResponseInputItemParam]).validate_python(items))


def anthropic_messages(messages: list[Any]) -> None:
    pydantic = pytest.importorskip("pydantic")
    types = pytest.importorskip("anthropic.types")
    pydantic.TypeAdapter(list[types.MessageParam]).validate_python(messages)
    block = pydantic.TypeAdapter(types.ContentBlockParam)
    for message in messages:  # the message's own type looks into its blocks only when they are gone through
        for value in message["content"] if isinstance(message["content"], list) else ():
            block.validate_python(value)


@pytest.mark.parametrize(
    "name", ["openai-chat/support-desk.jsonl", "openai-chat/zh-support.jsonl", "openai-chat/array.json"]
)
def test_openai_chat(name: str) -> None:
    result = compacted(name)
    values = [json.loads(line) for line in result.data.splitlines()] if name.endswith("l") else json.loads(result.data)

    assert result.verdict in {Verdict.COMPACTED, Verdict.UNCHANGED}
    openai_messages(values)


def test_the_validation_of_openai_can_fail() -> None:
    pydantic = pytest.importorskip("pydantic")
    with pytest.raises(pydantic.ValidationError):
        openai_messages([{"role": "tool", "content": "whose?"}])


def test_openai_responses() -> None:
    openai_items(json.loads(compacted("responses/lock-log.json").data)["input"])


@pytest.mark.parametrize("name", ["anthropic/ops-runbook.json", "anthropic/lines.jsonl"])
def test_anthropic(name: str) -> None:
    data = compacted(name).data
    values = [json.loads(line) for line in data.splitlines()] if name.endswith("l") else [json.loads(data)]
    for value in values if "messages" in values[0] else [{"messages": values}]:
        anthropic_messages(value["messages"])


def test_the_validation_of_anthropic_can_fail() -> None:
    pydantic = pytest.importorskip("pydantic")
    with pytest.raises(pydantic.ValidationError):
        anthropic_messages([{"role": "user", "content": [{"type": "tool_result", "content": "whose?"}]}])


@pytest.mark.filterwarnings("ignore")
def test_langchain() -> None:
    """A thread's messages and dumped constructors load, and go on to an endpoint's own form."""
    messages = pytest.importorskip("langchain_core.messages")
    load = pytest.importorskip("langchain_core.load")
    thread = json.loads(compacted("langchain/thread.json").data)["values"]["messages"]
    loaded = messages.messages_from_dict([{"type": m["type"], "data": m} for m in thread])
    openai_messages(messages.convert_to_openai_messages(loaded))

    dumped = [json.loads(line) for line in compacted("langchain/dumped.jsonl").data.splitlines()]
    found = [load.load(value, allowed_objects="messages") for value in dumped]
    assert all(isinstance(m, messages.BaseMessage) for m in found)


@pytest.mark.filterwarnings("ignore")
def test_atif() -> None:
    atif = pytest.importorskip("atif")
    for path in (FIXTURES / "atif").glob("*.json"):
        data = compacted(f"atif/{path.name}").data
        assert atif.Trajectory.model_validate_json(data).steps


@pytest.mark.filterwarnings("ignore")
def test_inspect(tmp_path: Path) -> None:
    """Inspect reads the log, and writes what it read."""
    log = pytest.importorskip("inspect_ai.log")
    for path in (FIXTURES / "inspect").iterdir():
        out = tmp_path / path.name
        out.write_bytes(compacted(f"inspect/{path.name}").data)
        found = log.read_eval_log(str(out))
        log.write_eval_log(found, str(tmp_path / f"again-{path.name}"))
        assert found.samples


SOURCES = [
    "claude-code/refactor-billing.jsonl",
    "codex/payments-cli.jsonl",
    "tau2-bench/gauges.json",
    "letta/keykeeper.af",
]


@pytest.mark.parametrize("name", SOURCES)
def test_converted_files(name: str) -> None:
    """What `compress convert` writes is taken by the types of its target."""
    transcript = read(FIXTURES / name)

    openai_messages(json.loads(convert(transcript, "openai-chat").data)["messages"])
    anthropic_messages(json.loads(convert(transcript, "anthropic").data)["messages"])
    openai_items(json.loads(convert(transcript, "responses").data)["input"])
    messages = pytest.importorskip("langchain_core.messages")
    values = json.loads(convert(transcript, "langchain").data)
    values = values["messages"] if isinstance(values, dict) else values
    assert messages.messages_from_dict([{"type": m["type"], "data": m} for m in values])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["claude-code/refactor-billing.jsonl", "codex/payments-cli.jsonl"])
def test_a_viewer_shows_the_right_messages(name: str, tmp_path: Path) -> None:
    """`claude-code-log` reads our compaction back: the brief, the last request and the last answers are on its page."""
    pytest.importorskip("claude_code_log")
    result = compacted(name)
    assert result.verdict is Verdict.COMPACTED
    source = tmp_path / ("rollout.jsonl" if name.startswith("codex") else "session.jsonl")
    source.write_bytes(result.data)
    page = tmp_path / "page.md"
    viewer = Path(sys.executable).with_name("claude-code-log")
    env = {**os.environ, "HOME": str(tmp_path)}
    ran = subprocess.run(
        [viewer, "convert", source, "-o", page], capture_output=True, text=True, timeout=300, env=env, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    shown = _words(page.read_text(encoding="utf-8"))
    session = read(Source(str(source), result.data)).sessions[0]
    wanted = [m for m in session.messages if m.live and m.role is Role.ASSISTANT][-3:]
    wanted += [m for m in session.messages if m.live and m.origin is Origin.PERSON][-1:]
    if not name.startswith("codex"):  # its history after a compaction is for the model, not for the screen
        wanted.append(session.messages[session.brief])

    assert session.brief >= 0
    for m in wanted:
        for part in m.parts:
            lines = [w for line in part.text.splitlines() if (w := _words(line))] if part.type in VISIBLE else []
            if part.type.value == "text":
                missing = [line for line in lines if line not in shown]
                assert len(missing) <= len(lines) // 10, missing[:3]


def _words(text: str) -> str:
    """Letters and digits alone: a viewer sets text its own way."""
    return re.sub(r"[\W_]+", "", text)
