"""Turns as the messages of each target, in a form that its endpoint or trainer takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from compressor.convert._turns import Asked, Losses, Turn
from compressor.formats._records import dumps
from compressor.model import Role

Conversations = Sequence[tuple[str, Sequence[Turn]]]
Writer = Callable[[Conversations, Losses], tuple[bytes, str]]


def _text(arguments: Mapping[str, Any]) -> str:
    return dumps(arguments).decode("utf-8", "surrogateescape")


def _rows(values: Sequence[Any], wrapped: Sequence[Any]) -> tuple[bytes, str]:
    """One conversation is a document; several are a line each."""
    if len(values) == 1:
        text = json.dumps(values[0], ensure_ascii=False, indent=1)
        return _encode(text) + b"\n", ".json"
    return b"".join(dumps(row) + b"\n" for row in wrapped), ".jsonl"


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), indent=1).encode()


def openai_chat(conversations: Conversations, losses: Losses) -> tuple[bytes, str]:
    """Chat completions: a list of messages, results behind the message that called."""
    values = [{"messages": [m for turn in talk for m in _openai(turn)]} for _, talk in conversations]
    _count_times(conversations, losses)
    return _rows(values, [{"id": i, **v} for (i, _), v in zip(conversations, values, strict=True)])


def _openai(turn: Turn) -> Iterator[dict[str, Any]]:
    message: dict[str, Any] = {"role": turn.role.value, "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": _text(c.arguments)}}
            for c in turn.calls
        ]
    yield message
    for c in turn.calls:
        yield {"role": "tool", "tool_call_id": c.id, "content": c.result}


def anthropic(conversations: Conversations, losses: Losses) -> tuple[bytes, str]:
    """Anthropic messages: the system prompt apart, the two sides in turn, the user first."""
    values = []
    for _, talk in conversations:
        system = "\n\n".join(t.text for t in talk if t.role is Role.SYSTEM and t.text)
        messages: list[dict[str, Any]] = []
        for turn in (t for t in talk if t.role is not Role.SYSTEM):
            for role, blocks in _anthropic(turn):
                _join(messages, role, blocks)
        if messages and messages[0]["role"] == "assistant":
            losses["a first word of the user's (made up: the endpoint wants one)"] += 1
            messages.insert(
                0, {"role": "user", "content": [{"type": "text", "text": "(the conversation begins here)"}]}
            )
        values.append({**({"system": system} if system else {}), "messages": messages})
    _count_times(conversations, losses)
    return _rows(values, [{"id": i, **v} for (i, _), v in zip(conversations, values, strict=True)])


def _anthropic(turn: Turn) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    blocks += [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in turn.calls]
    if blocks:
        yield turn.role.value, blocks
    if turn.calls:
        yield "user", [_tool_result(c) for c in turn.calls]


def _tool_result(c: Asked) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": c.id, "content": c.result}
    return {**block, "is_error": True} if c.error else block


def _join(messages: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """One message a side; results always begin their own, so that they stand before any text."""
    results = any(b["type"] == "tool_result" for b in blocks)
    called = messages and any(b["type"] == "tool_use" for b in messages[-1]["content"])
    if messages and messages[-1]["role"] == role and not results and not called:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def langchain(conversations: Conversations, losses: Losses) -> tuple[bytes, str]:
    """LangChain messages as `model_dump` gives them."""
    values = [[m for i, turn in enumerate(talk) for m in _langchain(i, turn)] for _, talk in conversations]
    _count_times(conversations, losses)
    return _rows(values, [{"id": i, "messages": v} for (i, _), v in zip(conversations, values, strict=True)])


def _langchain(number: int, turn: Turn) -> Iterator[dict[str, Any]]:
    kind = {Role.SYSTEM: "system", Role.USER: "human", Role.ASSISTANT: "ai"}[turn.role]
    frame: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}, "name": None}
    message = {"content": turn.text, **frame, "type": kind, "id": f"message-{number}"}
    if kind == "ai":
        calls = [{"name": c.name, "args": dict(c.arguments), "id": c.id, "type": "tool_call"} for c in turn.calls]
        message |= {"tool_calls": calls, "invalid_tool_calls": []}
    yield message
    for n, c in enumerate(turn.calls):
        yield {
            "content": c.result, **frame, "type": "tool", "name": c.name, "id": f"message-{number}-{n}",
            "tool_call_id": c.id, "status": "error" if c.error else "success",
        }  # fmt: skip


def responses(conversations: Conversations, losses: Losses) -> tuple[bytes, str]:
    """Responses items: messages, calls and outputs, one after the other."""
    values = [{"input": [item for turn in talk for item in _responses(turn)]} for _, talk in conversations]
    _count_times(conversations, losses)
    return _rows(values, [{"id": i, **v} for (i, _), v in zip(conversations, values, strict=True)])


def _responses(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.text:
        # the endpoint takes an assistant's blocks only with the id that it gave them; text alone needs none
        blocks = turn.text if turn.role is Role.ASSISTANT else [{"type": "input_text", "text": turn.text}]
        yield {"type": "message", "role": turn.role.value, "content": blocks}
    for c in turn.calls:
        yield {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": _text(c.arguments)}
    for c in turn.calls:
        yield {"type": "function_call_output", "call_id": c.id, "output": c.result}


def sharegpt(conversations: Conversations, losses: Losses) -> tuple[bytes, str]:
    """ShareGPT rows: human and gpt in turn, calls and observations one by one."""
    rows = []
    for id_, talk in conversations:
        said = [m for turn in talk if turn.role is not Role.SYSTEM for m in _sharegpt(turn, losses)]
        row: dict[str, Any] = {"id": id_} if id_ else {}
        row["conversations"] = _in_turn(said)
        system = "\n\n".join(t.text for t in talk if t.role is Role.SYSTEM and t.text)
        rows.append({**row, "system": system} if system else row)
    _count_times(conversations, losses)
    return _encode(json.dumps(rows, ensure_ascii=False, indent=1)) + b"\n", ".json"


def _sharegpt(turn: Turn, losses: Losses) -> Iterator[tuple[str, str]]:
    if turn.role is Role.USER:
        yield "human", turn.text
        return
    if turn.text:
        yield "gpt", turn.text
    for c in turn.calls:
        yield "function_call", _text({"name": c.name, "arguments": c.arguments})
        yield "observation", c.result
    losses["ids of calls"] += len(turn.calls)


def _in_turn(said: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """The two sides in turn: what one side says in a row is one entry, a missing side an empty one."""
    out: list[dict[str, str]] = []
    for kind, text in said:
        asks = kind in ("human", "observation")
        if out and asks == (out[-1]["from"] in ("human", "observation")):
            if kind == out[-1]["from"] and kind in ("human", "gpt"):
                out[-1]["value"] += f"\n\n{text}"
                continue
            out.append({"from": "gpt" if asks else "human", "value": ""})
        elif not out and not asks:
            out.append({"from": "human", "value": ""})
        out.append({"from": kind, "value": text})
    return out


def generic(conversations: Conversations, losses: Losses) -> tuple[bytes, str]:
    """A chat log: one message a line, calls and results as text."""
    lines = []
    for id_, talk in conversations:
        for turn in talk:
            entries = [(turn.role.value, turn.text)] if turn.text else []
            for c in turn.calls:
                losses["calls (told as text)"] += 1
                entries += [("assistant", f"[called {c.name} with {_text(c.arguments)}]"), ("tool", c.result)]
            for role, text in entries:
                line: dict[str, Any] = {"role": role, "text": text}
                if turn.time:
                    line["time"] = turn.time
                if len(conversations) > 1:
                    line["conversation_id"] = id_
                lines.append(dumps(line) + b"\n")
    return b"".join(lines), ".jsonl"


def _count_times(conversations: Conversations, losses: Losses) -> None:
    losses["times of messages"] += sum(bool(turn.time) for _, talk in conversations for turn in talk)


WRITERS: Final[Mapping[str, Writer]] = {
    "openai-chat": openai_chat,
    "anthropic": anthropic,
    "langchain": langchain,
    "responses": responses,
    "sharegpt": sharegpt,
    "generic": generic,
}
