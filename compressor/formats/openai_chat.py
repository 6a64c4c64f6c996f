"""OpenAI chat-completions messages, as lines, rows, arrays and request logs.

Layouts: one message a line (conversations told apart by `conversation_id` and its like), `{"messages": […]}` a
line, an array of messages, an array of rows with `messages`, one document with `messages` (completion logs:
the response is not touched), preference rows. A brief is a user message; its last line is the mark, because
interfaces that take these messages reject keys they do not know.

In place of `text` a content part may have `value`, `arguments` may be an object instead of a JSON string: either
stays what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.formats import _document
from compressor.formats._lists import Item
from compressor.formats._messages import (
    State,
    arguments,
    belonging,
    check_lists,
    describe,
    finder,
    first_text,
    holds_media,
    like,
    name_of,
    origin_of,
    read_lists,
    time_of,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source
from compressor.model import Compaction, Finding, Level, Part, PathSteps, Role, Session, Transcript, Written

TITLE = "OpenAI chat messages (lines, rows, arrays, completion logs)"
ORDER = 90
APPENDS = False

ROLES: Final = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_CONTENT: Final = ("content", "tool_calls", "function_call", "refusal", "reasoning_content")


def is_message(value: Any) -> bool:
    """A message of this format, whatever else it holds."""
    return isinstance(value, dict) and word(value, "role") in ROLES and any(k in value for k in _CONTENT)


find = finder(is_message)


def sniff(head: Head) -> bool:
    """Message lists with a `role` in one of the layouts."""
    values = (head.document,) if head.document is not None else head.rows
    return any(True for value in values for _ in find(value))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "openai-chat", find, message)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder."""
    value, at = item.value, item.path
    if not is_message(value):
        return
    role = ROLES[value["role"]]
    content = value.get("content")
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=origin_of(role, first_text(content)),
        id=name_of(value.get("id")),
        pinned=value.get("pinned") is True or holds_media(state, first_text(content)),
        time=time_of(value.get("timestamp") or value.get("created_at")),
    )
    if isinstance(value.get("reasoning_content"), str):
        build.thinking((*at, "reasoning_content"), value["reasoning_content"])
    if role is Role.TOOL:
        name = name_of(value.get("name"))
        build.result(state.answered(value.get("tool_call_id"), name), name=name)
    parts(build, (*at, "content"), content, result=role is Role.TOOL)
    if isinstance(value.get("refusal"), str):
        build.text((*at, "refusal"), value["refusal"])
    calls(build, at, value, state)


def parts(build: Builder, at: PathSteps, content: Any, *, result: bool) -> None:
    """Put a content value into the builder: a string, or a list of parts."""
    put = build.output if result else build.text
    if isinstance(content, str):
        put(at, content)
    for i, part in enumerate(content if isinstance(content, list) else ()):
        if isinstance(part, str):
            put((*at, i), part)
        elif isinstance(part, dict):
            _part(build, (*at, i), part, put)


def _part(build: Builder, at: PathSteps, part: dict[str, Any], put: Any) -> None:
    kind = part.get("type")
    if kind == "reasoning":
        put = build.thinking
    for key in ("text", "value", "refusal"):
        if isinstance(part.get(key), str):
            put((*at, key), part[key])
            return
    source = part.get(kind) if isinstance(kind, str) else None
    if isinstance(source, dict):
        data = next((source[k] for k in ("url", "data", "file_data", "file_id") if k in source), None)
        build.image(at, describe(data, {"input_audio": "audio", "file": "file"}.get(str(kind))))
    elif isinstance(source, str):
        build.image(at, describe(source))


def calls(build: Builder, at: PathSteps, value: dict[str, Any], state: State) -> None:
    """Put the tool calls of a message into the builder, the old `function_call` among them."""
    found = value.get("tool_calls")
    for i, call in enumerate(found if isinstance(found, list) else ()):
        if not isinstance(call, dict):
            continue
        key = next((k for k in ("function", "custom") if isinstance(call.get(k), dict)), None)
        body, place_ = (call[key], (*at, "tool_calls", i, key)) if key else (call, (*at, "tool_calls", i))
        _call(build, place_, body, name_of(call.get("id")), state)
    old = value.get("function_call")
    if isinstance(old, dict):
        _call(build, (*at, "function_call"), old, "", state)


def _call(build: Builder, at: PathSteps, body: dict[str, Any], id: str, state: State) -> None:
    state.called(id)
    build.call(id, name_of(body.get("name")))
    for key in ("arguments", "input"):
        if key in body:
            arguments(build, (*at, key), body[key])


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note, picture)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief: a user message, in the shape of the session's own user messages."""
    content = near.get("content") if isinstance(near, dict) else None
    shaped: Any = text
    if isinstance(content, list) and content and isinstance(content[0], dict):
        shaped = [{"type": "text", "value" if "value" in content[0] else "text": text}]
    fields: dict[str, Any] = {"role": "user", "content": shaped, **belonging(near)}
    if "loss_weight" in near:
        fields["loss_weight"] = 0.0
    return like(near, fields)


def picture(part: Part, text: str) -> Any:
    """What stands for an image whose text was set."""
    return {"type": "text", "text": text}


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10; E13: a message without content has a call."""
    yield from check_lists(transcript)
    for session in transcript.sessions:
        calling = {c.message for c in session.calls}
        for m in session.messages:
            if m.role is Role.ASSISTANT and not m.parts and m.index not in calling:
                yield Finding("E13", Level.WARNING, "assistant message holds nothing", at=place(transcript.path, m))


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
