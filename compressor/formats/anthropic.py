"""Anthropic Messages: content blocks, results in the next user message, the system prompt beside the list.

A user message that holds nothing but results is the tools'; one that also holds text is the person's, and its
results are result parts. Thinking and compaction blocks are signed: their messages are opaque. The brief is a
user message (two user messages in a row are one to the interface), its last line the mark.
"""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from compressor.formats import _document
from compressor.formats._layout import Editor
from compressor.formats._lists import Item, Where
from compressor.formats._messages import (
    State,
    arguments,
    belonging,
    check_lists,
    describe,
    first_text,
    is_list,
    like,
    name_of,
    origin_of,
    read_lists,
    row_id,
    step,
    texts,
    time_of,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source, get_at, loads
from compressor.model import (
    Compaction,
    Finding,
    Level,
    Origin,
    Part,
    PartType,
    PathSteps,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE = "Anthropic Messages (lines, rows, arrays, request bodies)"
ORDER = 80
APPENDS = False

_LISTS: Final[tuple[PathSteps, ...]] = (
    ("messages",),
    ("body", "messages"),
    ("request", "messages"),
    ("params", "messages"),
)
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_SIGNED: Final = frozenset({"thinking", "redacted_thinking", "compaction"})
_TELLING: Final = _CALLS | _SIGNED | {"tool_result"}
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def is_message(value: Any) -> bool:
    """A message of this format, whatever else it holds."""
    return (
        isinstance(value, dict)
        and word(value, "role") in _ROLES
        and isinstance(value.get("content"), (str, list))
        and "tool_calls" not in value
    )


def find(value: Any) -> Iterator[Where]:
    """The lists of a record's value, with the system prompt of each."""
    if isinstance(value, list) and not is_list(value, is_message):
        for i, row in enumerate(value):
            yield from _below(row, (i,))
    elif isinstance(value, list):
        yield Where(())
    elif is_message(value):
        yield Where(None)
    else:
        yield from _below(value, ())


def _below(row: Any, path: PathSteps) -> Iterator[Where]:
    for key in _LISTS:
        if is_list(step(row, key), is_message):
            system = (*key[:-1], "system")
            before = ((*path, *system),) if isinstance(step(row, system), (str, list)) else ()
            yield Where((*path, *key), row_id(row), before)


def sniff(head: Head) -> bool:
    """Content blocks that only this interface has, or a system prompt beside the list."""
    values = (head.document,) if head.document is not None else head.rows
    rows = [row for value in values for row in (value if isinstance(value, list) else [value])]
    return any(_is_ours(row) for row in rows[:200])


def _is_ours(row: Any) -> bool:
    if is_message(row):
        return _telling(row)
    for key in _LISTS:
        messages = step(row, key)
        if is_list(messages, is_message):
            if any(_telling(m) for m in messages):
                return True
            roles = {word(m, "role") for m in messages}
            return step(row, (*key[:-1], "system")) is not None and roles <= {"user", "assistant"}
    return False


def _telling(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    return any(word(b, "type") in _TELLING and "value" not in b for b in blocks) and "tool_calls" not in message


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "anthropic", find, message)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message, or the system prompt, into the builder."""
    value, at = item.value, item.path
    if at[-1:] == ("system",):
        build.start(record=item.record, line=item.line, role=Role.SYSTEM, origin=Origin.HARNESS)
        _blocks(build, at, value)
        return
    if not is_message(value):
        return
    role, content = _ROLES[value["role"]], value["content"]
    kinds = {word(b, "type") for b in content} if isinstance(content, list) else set()
    if role is Role.USER and kinds and kinds <= {"tool_result"} and all(isinstance(b, dict) for b in content):
        role = Role.TOOL
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=origin_of(role, first_text(content)),
        id=name_of(value.get("id")),
        pinned=value.get("pinned") is True,
        opaque=bool(kinds & _SIGNED),
        time=time_of(value.get("timestamp")),
    )
    _blocks(build, (*at, "content"), content)


def _blocks(build: Builder, at: PathSteps, content: Any) -> None:
    if isinstance(content, str):
        build.text(at, content)
    for i, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, str):
            build.text((*at, i), block)
        elif isinstance(block, dict):
            put_block(build, (*at, i), block)


def put_block(build: Builder, at: PathSteps, block: dict[str, Any]) -> None:
    """Put one content block into the builder."""
    kind = word(block, "type")
    if kind == "text" and isinstance(block.get("text"), str):
        build.text((*at, "text"), block["text"])
    elif kind == "thinking" and isinstance(block.get("thinking"), str):
        build.thinking((*at, "thinking"), block["thinking"])
    elif kind in _CALLS:
        build.call(name_of(block.get("id")), name_of(block.get("name")))
        arguments(build, (*at, "input"), block.get("input"))
    elif "tool_use_id" in block:
        build.result(name_of(block["tool_use_id"]), error=block.get("is_error") is True)
        _result(build, (*at, "content"), block.get("content"))
    elif kind in ("image", "document", "container_upload"):
        build.image(at, _embedded(block))
    elif kind == "compaction" and isinstance(block.get("content"), str):
        build.other((*at, "content"), block["content"])
    elif kind == "search_result":
        texts(block.get("content"), (*at, "content"), build.text)


def _result(build: Builder, at: PathSteps, content: Any) -> None:
    if isinstance(content, str):
        build.output(at, content)
    for i, block in enumerate(content if isinstance(content, list) else ()):
        kind = word(block, "type")
        if kind == "text" and isinstance(block.get("text"), str):
            build.output((*at, i, "text"), block["text"])
        elif kind in ("image", "document"):
            build.image((*at, i), _embedded(block))
        elif isinstance(block, str):
            build.output((*at, i), block)


def _embedded(block: dict[str, Any]) -> str:
    source = block.get("source")
    if not isinstance(source, dict):
        return str(block.get("type"))
    data = next((source[k] for k in ("data", "url", "file_id") if k in source), None)
    return describe(data, source.get("media_type") or block.get("type"))


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note, more=_no_empty_blocks)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief as a user message."""
    return like(near, {"role": "user", "content": text, **belonging(near)})


def _no_empty_blocks(session: Session, change: Compaction, editor: Callable[[int], Editor]) -> None:
    """The interface refuses empty text blocks: an emptied one leaves, unless a message would be left without any."""
    emptied: defaultdict[tuple[int, PathSteps], list[Part]] = defaultdict(list)
    for ordinal, text in change.texts.items():
        part = session.parts[ordinal]
        if not text and part.path[-1] == "text" and part.message not in change.dropped:
            emptied[session.messages[part.message].record, part.path[:-2]].append(part)
    for (record, blocks), parts in emptied.items():
        if parts[0].type is PartType.TOOL_RESULT or len(parts) < len(editor(record).children(blocks)):
            for part in parts:
                editor(record).delete(part.path[:-1])


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E07 (signed blocks), E10, E13 (who begins)."""
    yield from check_lists(transcript)
    for session in transcript.sessions:
        talk = [m for m in session.messages if m.role is not Role.SYSTEM]
        if talk and talk[0].role is Role.ASSISTANT:
            yield Finding("E13", Level.WARNING, "first message is the assistant's", at=place(transcript.path, talk[0]))
        yield from _check_next(transcript, session)
    yield from _check_signed(transcript)


def _check_next(transcript: Transcript, session: Session) -> Iterator[Finding]:
    """E03: in a message, results stand before any text."""
    for m in session.messages:
        visible = [p.type for p in m.parts if p.type in (PartType.TEXT, PartType.TOOL_RESULT)]
        if m.role is Role.USER and any(a is PartType.TEXT and b is PartType.TOOL_RESULT for a, b in pairwise(visible)):
            yield Finding("E03", Level.ERROR, "tool result stands after text", at=place(transcript.path, m))


def _check_signed(transcript: Transcript) -> Iterator[Finding]:
    """E07: what is signed has a signature that can be one."""
    parsed, value = -1, None
    for session in transcript.sessions:
        for m in (m for m in session.messages if m.opaque):
            if m.record != parsed:
                record = transcript.records[m.record]
                parsed, value = m.record, loads(bytes(transcript.raw[record.start : record.end]))
            for block in get_at(value, session.meta["at"][m.index])["content"]:
                kind = block.get("type") if isinstance(block, dict) else ""
                key = {"thinking": "signature", "redacted_thinking": "data"}.get(str(kind), "")
                if key and not _is_base64(block.get(key)):
                    message = f"{kind} block without a valid {key}"
                    yield Finding("E07", Level.WARNING, message, at=place(transcript.path, m))


def _is_base64(value: Any) -> bool:
    if not isinstance(value, str) or not value:
        return False
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
