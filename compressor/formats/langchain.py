"""LangChain messages in all four serialisations, alone, in lists, and in LangGraph thread states.

    {"type": "human", "content": …}                                  as `model_dump` gives it
    {"type": "human", "data": {"content": …}}                        as `message_to_dict` gives it
    {"lc": 1, "type": "constructor", "id": […, "HumanMessage"], "kwargs": {"content": …}}      as `dumpd` gives it
    {"values": {"messages": […]}, …}                                 a thread's state

A call stands up to three times in an assistant message (`tool_calls`, the vendor's copy in `additional_kwargs`,
`tool_use` blocks): all copies change together. The brief is a human message in the file's own serialisation.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from compressor.formats import _document, _mark
from compressor.formats._lists import Item
from compressor.formats._messages import (
    State,
    arguments,
    check_lists,
    describe,
    finder,
    first_text,
    like,
    name_of,
    origin_of,
    read_lists,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source, get_at
from compressor.model import Compaction, Finding, Level, PathSteps, Role, Session, Transcript, Written

TITLE = "LangChain messages and LangGraph thread states"
ORDER = 60
APPENDS = False

_LISTS: Final[Sequence[PathSteps]] = (
    ("messages",),
    ("values", "messages"),
    ("channel_values", "messages"),
    ("checkpoint", "channel_values", "messages"),
    ("state", "messages"),
    ("input", "messages"),
    ("output", "messages"),
    ("kwargs", "messages"),
)
_TYPES: Final = {
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "chat": Role.USER,
    "HumanMessage": Role.USER,
    "HumanMessageChunk": Role.USER,
    "AIMessage": Role.ASSISTANT,
    "AIMessageChunk": Role.ASSISTANT,
    "SystemMessage": Role.SYSTEM,
    "SystemMessageChunk": Role.SYSTEM,
    "ToolMessage": Role.TOOL,
    "ToolMessageChunk": Role.TOOL,
    "FunctionMessage": Role.TOOL,
    "ChatMessage": Role.USER,
}
_CHAT_ROLES: Final = {"assistant": Role.ASSISTANT, "ai": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL}


def body_of(value: Any) -> tuple[str, dict[str, Any], PathSteps] | None:
    """The type of a message, the object that holds its fields, and the path to that; None if it is no message."""
    if not isinstance(value, dict):
        return None
    kind: Any = value.get("type")
    found: Any = value
    path: PathSteps = ()
    if value.get("lc") == 1 and isinstance(value.get("id"), list) and value["id"]:
        kind, found, path = value["id"][-1], value.get("kwargs"), ("kwargs",)
    elif isinstance(value.get("data"), dict):
        found, path = value["data"], ("data",)
    if (
        not isinstance(kind, str)
        or kind not in _TYPES
        or not isinstance(found, dict)
        or not isinstance(found.get("content"), (str, list))
    ):
        return None
    return kind, found, path


def is_message(value: Any) -> bool:
    """A message of one of the serialisations."""
    found = body_of(value)
    # other chat logs have a `type` and a `content` too: what LangChain always writes beside them tells
    return found is not None and ("role" not in value or found[0] in ("chat", "ChatMessage"))


find = finder(is_message, _LISTS)


def sniff(head: Head) -> bool:
    """Messages with LangChain's types and at least one of its own keys."""
    values = (head.document,) if head.document is not None else head.rows
    for value in values:
        for where in find(value):
            items = [value] if where.path is None else get_at(value, where.path)
            if any(_telling(v) for v in items[:20]):
                return True
    return False


def _telling(value: Any) -> bool:
    found = body_of(value)
    if found is None:
        return False
    _, body, path = found
    return bool(path) or "additional_kwargs" in body or "response_metadata" in body or value["type"] in ("human", "ai")


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "langchain", find, message)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder."""
    found = body_of(item.value) if is_message(item.value) else None
    if found is None:
        return
    kind, body, inner = found
    at = (*item.path, *inner)
    role = _CHAT_ROLES.get(str(body.get("role")), Role.USER) if "hat" in kind and "role" in body else _TYPES[kind]
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=origin_of(role, first_text(body["content"])),
        id=name_of(body.get("id")),
        pinned=body.get("pinned") is True,
        opaque=any(isinstance(b, dict) and "signature" in b for b in body["content"]),
    )
    extra = body.get("additional_kwargs")
    thought = extra.get("reasoning_content") if isinstance(extra, dict) else None
    if isinstance(thought, str):
        build.thinking((*at, "additional_kwargs", "reasoning_content"), thought)
    if role is Role.TOOL:
        name = name_of(body.get("name"))
        build.result(state.answered(body.get("tool_call_id"), name), name=name, error=body.get("status") == "error")
    _content(build, (*at, "content"), body["content"], result=role is Role.TOOL)
    _calls(build, item, at, body, state)


def _content(build: Builder, at: PathSteps, content: Any, *, result: bool) -> None:
    put = build.output if result else build.text
    if isinstance(content, str):
        put(at, content)
        return
    for i, block in enumerate(content):
        path = (*at, i)
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            put(path, block)
        elif not isinstance(block, dict):
            continue
        elif kind in ("thinking", "reasoning"):
            key = next((k for k in ("thinking", "reasoning", "text") if isinstance(block.get(k), str)), "")
            if key:
                build.thinking((*path, key), block[key])
        elif isinstance(block.get("text"), str):
            put((*path, "text"), block["text"])
        elif kind in ("image_url", "image", "audio", "file", "video", "media"):
            build.image(path, _embedded(block, str(kind)))


def _embedded(block: dict[str, Any], kind: str) -> str:
    source = block.get("image_url", block.get("source", block))
    if isinstance(source, dict):
        media = source.get("media_type") or source.get("mime_type")
        data = next(
            (source[k] for k in ("url", "data", "base64", "file_id", "id") if isinstance(source.get(k), str)), None
        )
        return describe(data, media or kind.removesuffix("_url"))
    return describe(source, kind.removesuffix("_url"))


def _calls(build: Builder, item: Item, at: PathSteps, body: dict[str, Any], state: State) -> None:
    """The calls of a message; the vendor's copies of them only if there is nothing to copy."""
    calls = _objects(body.get("tool_calls"))
    raw = _raw_calls(body)
    for i, call in calls:
        _call(build, (*at, "tool_calls", i, "args"), call, state)
        for other, copied in raw.get(name_of(call.get("id")), ()):
            path = (*at, *other)
            if not state.copied_arguments(item, (*at, "tool_calls", i, "args"), call.get("args"), path, copied):
                state.notes.setdefault("differ", []).append(len(build) - 1)
    for i, call in _objects(body.get("invalid_tool_calls")):
        _call(build, (*at, "invalid_tool_calls", i, "args"), call, state)
    if not calls:
        for id_, places in raw.items():
            path, value = places[0]
            state.called(id_)
            build.call(id_, _name(body, path))
            arguments(build, (*at, *path), value)


def _call(build: Builder, at: PathSteps, call: dict[str, Any], state: State) -> None:
    id_ = name_of(call.get("id"))
    state.called(id_)
    build.call(id_, name_of(call.get("name")))
    arguments(build, at, call.get("args"))


def _objects(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a list, with their places in it."""
    return [(i, v) for i, v in enumerate(value) if isinstance(v, dict)] if isinstance(value, list) else []


def _raw_calls(body: dict[str, Any]) -> dict[str, list[tuple[PathSteps, Any]]]:
    """The copies of calls in the vendor's own form, by id: where their arguments stand, and these."""
    found: dict[str, list[tuple[PathSteps, Any]]] = {}
    extra = body.get("additional_kwargs")
    for i, call in _objects(extra.get("tool_calls") if isinstance(extra, dict) else None):
        function = call.get("function")
        if isinstance(function, dict) and "arguments" in function:
            path: PathSteps = ("additional_kwargs", "tool_calls", i, "function", "arguments")
            found.setdefault(name_of(call.get("id")), []).append((path, function["arguments"]))
    for i, block in _objects(body["content"]):
        if word(block, "type") in ("tool_use", "tool_call"):
            key = "input" if "input" in block else "args"
            found.setdefault(name_of(block.get("id")), []).append((("content", i, key), block.get(key)))
    for i, chunk in _objects(body.get("tool_call_chunks")):
        if isinstance(chunk.get("args"), str):
            found.setdefault(name_of(chunk.get("id")), []).append((("tool_call_chunks", i, "args"), chunk["args"]))
    return found


def _name(body: dict[str, Any], path: PathSteps) -> str:
    """The name of the call whose arguments stand at `path`."""
    return name_of(get_at(body, path[:-1]).get("name"))


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief as a human message, serialised as its neighbour."""
    found = body_of(near)
    kind, body, path = found if found is not None else ("human", {}, ())
    blocks = isinstance(body.get("content"), list) and bool(body["content"]) and isinstance(body["content"][0], dict)
    fields: dict[str, Any] = {"content": [{"type": "text", "text": text}] if blocks else text}
    usual: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "example": False}
    fields |= {key: value for key, value in usual.items() if key in body}
    if name_of(body.get("id")):
        fields["id"] = str(uuid.uuid5(uuid.NAMESPACE_OID, _mark.split(text)[0]))
    if path == ("kwargs",):
        fields = {**fields, "type": "human"} if "type" in body else fields
        cls = "HumanMessageChunk" if kind.endswith("Chunk") and "type" not in body else "HumanMessage"
        module = near["id"][:-1]
        if not module or not all(isinstance(name, str) for name in module):
            module = ["langchain", "schema", "messages"]
        return like(near, {**near, "id": [*module, cls], "kwargs": like(body, fields)})
    if path == ("data",):
        inner = {**fields, "type": "human"} if "type" in body else fields
        return like(near, {"type": "human", "data": like(body, inner)})
    return like(near, {"type": "human", **fields})


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10, E15 (copies of calls)."""
    yield from check_lists(transcript)
    for session in transcript.sessions:
        for index in dict.fromkeys(session.meta.get("differ", ())):
            at = place(transcript.path, session.messages[index])
            yield Finding("E15", Level.WARNING, "copies of a tool call differ", at=at)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
