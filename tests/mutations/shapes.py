"""What the generator of damage knows of each format: where messages lie, what calls and results are, what must be.

Everything here speaks of raw JSON as the tools write it; nothing comes from the product.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Key = Callable[[dict], "str | None"]


class Nested(list):
    """A list that stands in the file as JSON text inside a string."""


@dataclass(frozen=True)
class Shape:
    """One format.

    Attributes:
        lists: the message lists of a document; None for files of lines.
        call: the key of a call's id, for an object that is a call.
        result: the same for a result.
        chain: keys of a record's id and of its parent's.
        session: key of the session's id in a record.
        number: finds the holder and key of a running number in an item.
        sealed: finds the holder and key of a signed or encrypted value.
        enums, needed, typed: (test of an object, key) of values from a list, of fields that must be, of typed fields.
        speaker: an item of another role to put between a call and its result; None where that is allowed.
        inner: damage to an item in which calls and results stand together: it changes the item, or says no.
    """

    call: Key = lambda d: None
    result: Key = lambda d: None
    lists: Callable[[Any], Iterator[list]] | None = None
    chain: tuple[str, str] | None = None
    session: str | None = None
    number: str | None = None
    sealed: tuple[tuple[str, str], ...] = ()
    enums: tuple = ()
    needed: tuple = ()
    typed: tuple = ()
    speaker: Callable[[dict], dict] | None = None
    inner: Callable[[dict], bool] | None = None
    unnest: Callable[[Any], Any] = field(default=lambda doc: doc)


def of(key: str, **values) -> Key:
    """The key of the id of objects that have these values; a tuple of values: one of them; ...: any value."""

    def test(d: dict) -> str | None:
        for name, wanted in values.items():
            if name not in d or (
                wanted is not ... and d[name] not in (wanted if isinstance(wanted, tuple) else (wanted,))
            ):
                return None
        return key if isinstance(d.get(key), str) else None

    return test


def has(**values) -> Callable[[dict], bool]:
    """Whether an object has these values."""

    def test(d: dict) -> bool:
        for name, wanted in values.items():
            if name not in d or (
                wanted is not ... and d[name] not in (wanted if isinstance(wanted, tuple) else (wanted,))
            ):
                return False
        return True

    return test


def at(*path) -> Callable[[Any], Iterator[list]]:
    """The lists at a path; `"*"` is every element."""

    def find(doc: Any) -> Iterator[list]:
        values = [doc]
        for step in path:
            if step == "*":
                values = [v for value in values if isinstance(value, list) for v in value]
            else:
                values = [v[step] for v in values if isinstance(v, dict) and step in v]
        yield from (v for v in values if isinstance(v, list) and v)

    return find


def first(*finders) -> Callable[[Any], Iterator[list]]:
    """The lists of the first finder that has some."""

    def find(doc: Any) -> Iterator[list]:
        for finder in finders:
            found = list(finder(doc))
            if found and isinstance(found[0][0], dict):
                yield from found
                return

    return find


def _open_texts(value: Any) -> Any:
    """Strings that are JSON lists become lists, for telemetry attributes."""
    if isinstance(value, dict):
        return {k: _open_texts(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_open_texts(v) for v in value]
    if isinstance(value, str) and value.startswith("[{") and '"role"' in value:
        return Nested(json.loads(value))
    return value


def _nested_lists(value: Any) -> Iterator[list]:
    if isinstance(value, Nested):
        yield value
        return
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nested_lists(inner)


def _plain(near: dict) -> dict:
    return {"role": "user", "content": "wait"}


_OPENAI = dict(
    call=lambda d: "id" if "function" in d and isinstance(d.get("id"), str) else None,
    result=of("tool_call_id", role="tool"),
    speaker=_plain,
    enums=((has(role=..., content=...), "role"),),
    needed=((has(function=..., id=...), "function"), (has(name=..., arguments=...), "name"), (has(role="user", content=...), "content")),
    typed=((has(role=..., content=...), "content"), (has(function=..., id=...), "function"), (has(role=..., tool_calls=...), "tool_calls")),
)  # fmt: skip
_BLOCKS = dict(call=of("id", type="tool_use"), result=of("tool_use_id", type="tool_result"))
_BLOCK_FIELDS = dict(
    needed=((has(type="tool_use"), "id"), (has(type="tool_use"), "name"), (has(type="tool_result"), "tool_use_id"), (has(type="text", text=...), "text")),
    typed=((has(type="tool_use"), "id"), (has(role=..., content=...), "content"), (has(type="text", text=...), "text"), (has(type="tool_result"), "tool_use_id")),
)  # fmt: skip


def _atif_result_lost(step: dict) -> bool:
    results = step.get("observation", {}).get("results") if isinstance(step.get("observation"), dict) else None
    if not results or "source_call_id" not in results[0]:
        return False
    results[0]["source_call_id"] += "x"
    return True


def _opencode_output_lost(message: dict) -> bool:
    for part in message.get("parts", ()):
        if part.get("type") == "tool" and part["state"].get("status") == "completed":
            del part["state"]["output"]
            return True
    return False


_EVENT = has(kind=..., timestamp=...)

SHAPES: dict[str, Shape] = {
    "atif": Shape(
        lists=at("steps"),
        number="step_id",
        inner=_atif_result_lost,
        enums=((has(step_id=..., source=...), "source"),),
        needed=((has(step_id=..., source=...), "message"), (has(tool_call_id=...), "function_name"), (has(step_id=..., source=...), "source")),
        typed=((has(step_id=..., source=...), "message"), (has(tool_call_id=...), "arguments"), (has(step_id=..., source=...), "step_id")),
    ),
    "opencode": Shape(
        lists=at("messages"),
        inner=_opencode_output_lost,
        enums=((has(role=..., sessionID=...), "role"), (has(status=..., input=...), "status")),
        needed=((has(type="text", messageID=...), "text"), (has(callID=..., state=...), "state"), (has(role=..., sessionID=...), "id")),
        typed=((has(type="text", messageID=...), "text"), (has(callID=..., state=...), "state"), (has(info=..., parts=...), "parts")),
    ),
    "cline": Shape(
        lists=at(),
        enums=((has(role=..., content=...), "role"),),
        needed=((has(type="tool_use"), "name"), (has(type="text", text=...), "text"), (has(role=..., ts=...), "content")),
        typed=((has(type="text", text=...), "text"), (has(role=..., ts=...), "content"), (has(type="tool_use"), "id")),
        sealed=(("thinking", "signature"),),
    ),
    "roo": Shape(
        lists=at(),
        call=of("id", type="tool_use"),
        result=of("tool_use_id", type="tool_result"),
        enums=((has(role=..., content=...), "role"),),
        needed=((has(type="tool_use"), "name"), (has(type="text", text=...), "text"), (has(type="tool_result"), "tool_use_id")),
        typed=((has(type="text", text=...), "text"), (has(role=..., ts=...), "content"), (has(type="tool_use"), "id")),
    ),
    "inspect": Shape(
        lists=at("samples", "*", "messages"),
        call=lambda d: "id" if "arguments" in d and isinstance(d.get("id"), str) else None,
        result=of("tool_call_id", role="tool"),
        enums=((has(role=..., content=...), "role"),),
        needed=((has(role=..., content=...), "content"), (has(function=..., arguments=...), "function"), (has(role=..., content=...), "role")),
        typed=((has(role=..., content=...), "content"), (has(function=..., arguments=...), "arguments"), (has(role="assistant", tool_calls=...), "tool_calls")),
    ),
    "openhands-events": Shape(
        lists=at(),
        call=of("tool_call_id", action=...),
        result=of("tool_call_id", observation=...),
        enums=((_EVENT, "source"),),
        needed=((_EVENT, "id"), (has(action=..., tool_call_id=...), "tool_name"), (has(type="text", cache_prompt=...), "text")),
        typed=((_EVENT, "id"), (has(type="text", cache_prompt=...), "text"), (has(action=..., tool_call_id=...), "tool_call_id")),
    ),
    "claude-code": Shape(
        **_BLOCKS,
        **_BLOCK_FIELDS,
        chain=("uuid", "parentUuid"),
        session="sessionId",
        sealed=(("thinking", "signature"),),
        enums=((has(role=..., content=...), "role"), (has(uuid=..., message=...), "type")),
    ),
    "qwen-code": Shape(
        call=lambda d: "id" if "args" in d and isinstance(d.get("id"), str) else None,
        result=lambda d: "id" if "response" in d and isinstance(d.get("id"), str) else None,
        chain=("uuid", "parentUuid"),
        session="sessionId",
        enums=((has(uuid=..., message=...), "type"), (has(role=..., parts=...), "role")),
        needed=((has(role=..., parts=...), "parts"), (has(id=..., args=...), "name")),
        typed=((has(role=..., parts=...), "parts"), (has(text=...), "text"), (has(id=..., args=...), "args")),
    ),
    "pi": Shape(
        call=of("id", type="toolCall"),
        result=of("toolCallId", role="toolResult"),
        chain=("id", "parentId"),
        enums=((has(role=..., content=...), "role"), (has(message=..., parentId=...), "type")),
        needed=((has(type="toolCall"), "name"), (has(role="toolResult"), "toolCallId"), (has(type="text", text=...), "text")),
        typed=((has(role=..., content=...), "content"), (has(type="text", text=...), "text"), (has(type="toolCall"), "name")),
    ),
    "copilot-cli": Shape(
        call=lambda d: "toolCallId" if "name" in d and "arguments" in d else None,
        result=lambda d: "toolCallId" if "success" in d and isinstance(d.get("toolCallId"), str) else None,
        chain=("id", "parentId"),
        enums=((has(parentId=..., data=...), "type"),),
        needed=((has(toolCallId=..., name=...), "name"), (has(toolCallId=..., success=...), "toolCallId"), (has(messageId=..., content=...), "content")),
        typed=((has(messageId=..., content=...), "content"), (has(toolCallId=..., name=...), "name"), (has(parentId=..., data=...), "data")),
    ),
    "codex": Shape(
        call=of("call_id", type=("function_call", "custom_tool_call")),
        result=of("call_id", type=("function_call_output", "custom_tool_call_output")),
        number="ordinal",
        sealed=(("encrypted_content", "encrypted_content"),),
        enums=((has(type="message", role=...), "role"), (has(type="response_item", payload=...), "type")),
        needed=((has(type="function_call"), "arguments"), (has(type="function_call_output"), "output"), (has(type="message", role=...), "content")),
        typed=((has(type="function_call"), "arguments"), (has(type="message", role=...), "content"), (has(type="response_item", payload=...), "payload")),
    ),
    "gemini-cli": Shape(
        lists=at("messages"),
        session="sessionId",
        enums=((has(id=..., content=...), "type"), (has(args=..., status=...), "status")),
        needed=((has(id=..., content=...), "id"), (has(args=..., status=...), "name"), (has(id=..., content=...), "type")),
        typed=((has(id=..., content=...), "content"), (has(toolCalls=...), "toolCalls"), (has(args=..., status=...), "args")),
    ),
    "openai-chat": Shape(lists=first(at("*", "messages"), at("messages"), at()), **_OPENAI),
    "tau-bench": Shape(lists=at("*", "traj"), **_OPENAI),
    "mini-swe-agent": Shape(lists=at("messages"), **{**_OPENAI, "enums": ((has(role="user", content=...), "role"),)}),
    "tau2-bench": Shape(
        lists=at("simulations", "*", "messages"),
        call=lambda d: "id" if "arguments" in d and isinstance(d.get("id"), str) else None,
        result=of("id", role="tool"),
        number="turn_idx",
        speaker=lambda near: {**near, "role": "user", "content": "wait", "tool_calls": None, "raw_data": None},
        enums=((has(role=..., content=..., turn_idx=...), "role"),),
        needed=((has(id=..., arguments=...), "name"), (has(role="tool"), "id"), (has(role=..., turn_idx=...), "role")),
        typed=((has(role=..., turn_idx=...), "content"), (has(id=..., arguments=...), "arguments"), (has(tool_calls=..., turn_idx=...), "tool_calls")),
    ),
    "anthropic": Shape(
        lists=first(at("messages"), at("*", "messages"), at()),
        **_BLOCKS,
        **_BLOCK_FIELDS,
        speaker=_plain,
        sealed=(("thinking", "signature"),),
        enums=((has(role=..., content=...), "role"),),
    ),
    "langchain": Shape(
        lists=first(at("values", "messages"), at("messages"), at()),
        call=lambda d: "id" if "args" in d and isinstance(d.get("id"), str) else None,
        result=of("tool_call_id", tool_call_id=...),
        speaker=lambda near: (
            {**near, "kwargs": {"content": "wait", "type": "human", "id": "x-1"}, "id": [*near["id"][:-1], "HumanMessage"]}
            if "kwargs" in near
            else {"type": "human", "content": "wait", "id": "x-1", "additional_kwargs": {}, "response_metadata": {}}
        ),
        enums=((has(type=..., content=..., response_metadata=...), "type"),),
        needed=((has(args=..., id=...), "name"), (has(type=..., content=..., response_metadata=...), "content"), (has(tool_call_id=...), "tool_call_id")),
        typed=((has(type=..., content=..., response_metadata=...), "content"), (has(args=..., id=...), "args"), (has(tool_call_id=...), "tool_call_id")),
    ),
    "responses": Shape(
        lists=first(at("input"), at("*", "input"), at()),
        call=of("call_id", type=("function_call", "custom_tool_call")),
        result=of("call_id", type=("function_call_output", "custom_tool_call_output")),
        sealed=(("encrypted_content", "encrypted_content"),),
        enums=((has(type="message", role=...), "role"),),
        needed=((has(type="function_call"), "arguments"), (has(type="function_call_output"), "output"), (has(type="message", role=...), "content")),
        typed=((has(type="function_call"), "arguments"), (has(type="message", role=...), "content"), (has(type="function_call_output"), "call_id")),
    ),
    "sharegpt": Shape(
        lists=at("*", "conversations"),
        call=of("value", **{"from": "function_call"}),
        result=of("value", **{"from": "observation"}),
        speaker=lambda near: {"from": "gpt", "value": "wait"},
        enums=((lambda d: "from" in d and "value" in d, "from"),),
        needed=((lambda d: "from" in d and "value" in d, "value"), (lambda d: "from" in d and "value" in d, "from")),
        typed=((lambda d: "from" in d and "value" in d, "value"), (lambda d: "from" in d and "value" in d, "from")),
    ),
    "swe-agent": Shape(
        lists=at("history"),
        call=lambda d: "id" if "function" in d and isinstance(d.get("id"), str) else None,
        result=lambda d: None,
        enums=((has(role=..., message_type=...), "role"),),
        needed=((has(role=..., message_type=...), "content"), (has(action=..., observation=...), "action"), (has(role=..., message_type=...), "role")),
        typed=((has(role=..., message_type=...), "content"), (has(action=..., observation=...), "observation"), (has(action=..., observation=...), "action")),
    ),
    "openhands": Shape(
        lists=at(),
        call=lambda d: "id" if "args" in d and d.get("action") in ("run", "read", "write", "edit", "browse") else None,
        result=lambda d: "cause" if "observation" in d and isinstance(d.get("cause"), int) else None,
        number="id",
        enums=((lambda d: "source" in d and "timestamp" in d, "source"),),
        needed=((lambda d: "action" in d and "args" in d, "args"), (lambda d: "observation" in d and "extras" in d, "content"), (lambda d: "action" in d and "args" in d, "source")),
        typed=((lambda d: "observation" in d and "extras" in d, "content"), (lambda d: "action" in d and "args" in d, "args"), (lambda d: "action" in d and "args" in d, "id")),
    ),
    "letta": Shape(
        lists=at("agents", "*", "messages"),
        call=lambda d: "id" if "function" in d and isinstance(d.get("id"), str) else None,
        result=of("tool_call_id", role="tool"),
        enums=((has(role=..., content=...), "role"),),
        needed=((has(function=..., id=...), "function"), (has(role=..., otid=...), "role"), (has(role="user", otid=...), "content")),
        typed=((has(role=..., otid=...), "content"), (has(role=..., tool_calls=...), "tool_calls"), (has(role=..., otid=...), "id")),
    ),
    "otel": Shape(
        lists=_nested_lists,
        unnest=_open_texts,
        call=of("id", type="tool_call"),
        result=of("id", type="tool_call_response"),
        speaker=lambda near: {"role": "user", "parts": [{"type": "text", "content": "wait"}]},
        enums=((has(role=..., parts=...), "role"),),
        needed=((has(role=..., parts=...), "parts"), (has(type="tool_call"), "name"), (has(type="text", content=...), "content")),
        typed=((has(role=..., parts=...), "parts"), (has(type="text", content=...), "content"), (has(type="tool_call"), "name")),
    ),
    "generic": Shape(
        enums=(),
        needed=((has(speaker=..., text=...), "speaker"), (has(speaker=..., text=...), "text")),
        typed=((has(speaker=..., text=...), "speaker"), (has(speaker=..., text=...), "text")),
    ),
}  # fmt: skip
