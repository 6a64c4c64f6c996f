"""mini-swe-agent trajectories: `messages` beside `info`, with the raw answers of the model under `extra`.

The raw answer tells a message again, and so does the raw output of a command: the copies change with the
message. `info`, the actions under `extra` and the message in which the run ends are never touched. Without tool calls the
command is the assistant's own text, and the next user message is its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.formats import _document, openai_chat
from compressor.formats._lists import Item, Where
from compressor.formats._messages import (
    State,
    check_lists,
    first_text,
    is_list,
    like,
    name_of,
    read_lists,
    step,
    time_of,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source
from compressor.formats.swe_agent import origin, role_of, text_call
from compressor.model import Compaction, Finding, Level, Origin, Role, Session, Transcript, Written

TITLE = "mini-swe-agent trajectories"
ORDER = 53
APPENDS = False

#: The message with which a run ends; it holds what is scored.
_EXIT: Final = "exit"


def is_message(value: Any) -> bool:
    """A message of a run."""
    return (
        isinstance(value, dict)
        and (word(value, "role") in openai_chat.ROLES or value.get("role") == _EXIT)
        and "content" in value
    )


def find(value: Any) -> Iterator[Where]:
    """The messages of a run."""
    if isinstance(value, dict) and _is_run(value) and is_list(value.get("messages"), is_message):
        yield Where(("messages",), name_of(value.get("instance_id")))


def _is_run(value: dict[str, Any]) -> bool:
    kind = value.get("trajectory_format")
    told = isinstance(kind, str) and kind.startswith("mini-swe-agent")
    return told or step(value, ("info", "mini_version")) is not None


def sniff(head: Head) -> bool:
    """A document that says it is one."""
    return any(True for _ in find(head.document))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "mini-swe-agent", find, message)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder."""
    value, at = item.value, item.path
    if not is_message(value):
        return
    ends = value["role"] == _EXIT
    text = first_text(value["content"])
    role = Role.USER if ends else role_of(value, text, state)
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=Origin.HARNESS if ends else origin(role, text, False, state),
        pinned=ends or value.get("pinned") is True,
        time=time_of(step(value, ("extra", "timestamp"))),
    )
    if role is Role.TOOL:
        build.result(state.answered(value.get("tool_call_id")))
    openai_chat.parts(build, (*at, "content"), value["content"], result=role is Role.TOOL)
    openai_chat.calls(build, at, value, state)
    if role is Role.ASSISTANT:
        if not value.get("tool_calls"):
            text_call(build, state, "bash")
        _raw_answer(build, item, state)
    elif role is Role.TOOL and isinstance(value["content"], str):
        raw = step(value, ("extra", "raw_output"))
        if isinstance(raw, str) and raw.strip() and raw.strip()[:200] in text:
            state.mirror(item, (*at, "content"), (*at, "extra", "raw_output"))


def _raw_answer(build: Builder, item: Item, state: State) -> None:
    """The model's raw answer, which tells the message again."""
    value, at = item.value, item.path
    choices = step(value, ("extra", "response", "choices"))
    raw = step(choices[0], ("message",)) if isinstance(choices, list) and choices else None
    if not isinstance(raw, dict):
        return
    there = (*at, "extra", "response", "choices", 0, "message")
    same = True
    if isinstance(value["content"], str) and isinstance(raw.get("content"), str):
        same = state.copy(item, (*at, "content"), (*there, "content"), value["content"], raw["content"])
    ours, theirs = value.get("tool_calls"), raw.get("tool_calls")
    if isinstance(ours, list) and isinstance(theirs, list):
        for i, (mine, copy) in enumerate(zip(ours, theirs, strict=False)):
            steps = ("tool_calls", i, "function", "arguments")
            args = (step(mine, ("function", "arguments")), step(copy, ("function", "arguments")))
            same = state.copied_arguments(item, (*at, *steps), args[0], (*there, *steps), args[1]) and same
    if not same:
        state.notes.setdefault("differ", []).append(len(build) - 1)


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note, openai_chat.picture)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief: a user message."""
    return like(near, {"role": "user", "content": text})


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10, E15 (raw answers); a command in plain text needs no result."""
    yield from (f for f in check_lists(transcript) if f.check != "E02" or f.fact)
    for session in transcript.sessions:
        for index in session.meta.get("differ", ()):
            at = place(transcript.path, session.messages[index])
            yield Finding("E15", Level.WARNING, "message differs from the model's raw answer", at=at)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
