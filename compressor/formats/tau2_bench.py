"""tau2-bench results: `simulations` of `messages`, in one document or one simulation a file.

A run is scored again by replaying its calls and comparing their results, and by looking for phrases in what the
agent said: messages with calls, results, and messages with a phrase that the task asks for are pinned, and
everything beside `messages` is untouched. Users call tools too. A result bears the id of its call as its own `id`.
Simulations of speech (`ticks`) hold no messages: they are recognised, and nothing of them is compacted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.formats import _document
from compressor.formats._lists import Item, Where
from compressor.formats._messages import (
    State,
    arguments,
    check_lists,
    is_list,
    like,
    name_of,
    origin_of,
    read_lists,
    step,
    time_of,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source
from compressor.model import Compaction, Finding, Level, PathSteps, Role, Session, Transcript, Written

TITLE = "tau2-bench results"
ORDER = 51
APPENDS = False

_ROLES: Final = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}


def is_message(value: Any) -> bool:
    """A message of a simulation."""
    return (
        isinstance(value, dict) and word(value, "role") in _ROLES and ("content" in value or "tool_messages" in value)
    )


def find(value: Any) -> Iterator[Where]:
    """The messages of each simulation."""
    if not isinstance(value, dict):
        return
    if _is_simulation(value):
        if is_list(value.get("messages"), is_message):
            yield Where(("messages",), name_of(value.get("id")))
        return
    simulations = value.get("simulations")
    for i, row in enumerate(simulations if isinstance(simulations, list) else ()):
        if isinstance(row, dict) and is_list(row.get("messages"), is_message):
            yield Where(("simulations", i, "messages"), name_of(row.get("id")))


def _is_simulation(value: dict[str, Any]) -> bool:
    return "task_id" in value and "termination_reason" in value and ("messages" in value or "ticks" in value)


def _is_results(value: dict[str, Any]) -> bool:
    return (
        isinstance(value.get("tasks"), list)
        and isinstance(value.get("info"), dict)
        and "environment_info" in value["info"]
    )


def sniff(head: Head) -> bool:
    """A results document, or a simulation."""
    value = head.document
    return isinstance(value, dict) and (_is_results(value) or _is_simulation(value))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    wanted: dict[str, list[str]] = {}

    def find_and_ask(value: Any) -> Iterator[Where]:
        wanted.update(_phrases(value))
        yield from find(value)

    def parse(build: Builder, item: Item, state: State) -> None:
        message(build, item, state, wanted)

    return read_lists(source, "tau2-bench", find_and_ask, parse)


def _phrases(value: Any) -> Iterator[tuple[str, list[str]]]:
    """By task, what the agent must have said."""
    tasks = value.get("tasks") if isinstance(value, dict) else None
    for task in tasks if isinstance(tasks, list) else ():
        found = step(task, ("evaluation_criteria", "communicate_info"))
        if isinstance(found, list):
            yield name_of(task.get("id")), [_plain(p) for p in found if isinstance(p, str) and p.strip()]


def _plain(text: str) -> str:
    """As the benchmark compares: without case and without commas."""
    return text.lower().replace(",", "")


def message(build: Builder, item: Item, state: State, wanted: Mapping[str, list[str]]) -> None:
    """Put one message into the builder."""
    value, at = item.value, item.path
    if not is_message(value):
        return
    role = _ROLES[value["role"]]
    text = value.get("content")
    said = _plain(text) if isinstance(text, str) else ""
    calls = value.get("tool_calls")
    asked = wanted.get(name_of(state.thread.holder.get("task_id")), ())
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=origin_of(role, said),
        pinned=bool(calls) or role is Role.TOOL or (role is Role.ASSISTANT and any(p in said for p in asked)),
        time=time_of(value.get("timestamp")),
    )
    turn = value.get("turn_idx")
    if isinstance(turn, int):
        if turn <= state.notes.get("turn", -1):
            _wrong(build, state, "E16", "turn number does not rise")
        state.notes["turn"] = turn
    if role is Role.TOOL:
        _results(build, at, value, state)
    else:
        _said(build, item, text, state)
        _calls(build, at, calls, state)


def _results(build: Builder, at: PathSteps, value: dict[str, Any], state: State) -> None:
    """One result, or several in one message."""
    several = value.get("tool_messages")
    if not isinstance(several, list):
        _result(build, at, value, state)
        return
    for i, result in enumerate(several):
        if isinstance(result, dict):
            _result(build, (*at, "tool_messages", i), result, state)


def _said(build: Builder, item: Item, text: Any, state: State) -> None:
    """What was said, which the vendor's raw answer repeats."""
    if not isinstance(text, str):
        return
    path: PathSteps = ("raw_data", "message", "content")
    build.text((*item.path, "content"), text)
    raw = step(item.value, path)
    if not state.copy(item, (*item.path, "content"), (*item.path, *path), text, raw) and isinstance(raw, str):
        _wrong(build, state, "E15", "copies of what was said differ")


def _calls(build: Builder, at: PathSteps, calls: Any, state: State) -> None:
    for i, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict):
            state.called(name_of(call.get("id")))
            build.call(name_of(call.get("id")), name_of(call.get("name")))
            arguments(build, (*at, "tool_calls", i, "arguments"), call.get("arguments"))


def _wrong(build: Builder, state: State, code: str, what: str) -> None:
    state.notes.setdefault("wrong", []).append((len(build) - 1, code, what))


def _result(build: Builder, at: PathSteps, value: dict[str, Any], state: State) -> None:
    build.result(state.answered(value.get("id")), error=value.get("error") is True)
    if isinstance(value.get("content"), str):
        build.output((*at, "content"), value["content"])


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief as a system message, which no replay counts as anybody's turn."""
    fields: dict[str, Any] = {"role": "system", "content": text}
    if "turn_idx" in near:
        fields["turn_idx"] = None
    time = _document.replaced_time(session, change)
    if "timestamp" in near and time:
        fields["timestamp"] = time
    return like(near, fields)


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10, E15 (the copy of what was said in `raw_data`), E16 (`turn_idx` rises)."""
    yield from check_lists(transcript)
    for session in transcript.sessions:
        for index, code, what in session.meta.get("wrong", ()):
            yield Finding(code, Level.WARNING, what, at=place(transcript.path, session.messages[index]))


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
