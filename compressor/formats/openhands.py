"""OpenHands V0 events: one list, a list under `history`, `events` or `trajectory` of a row, or one event a line.

Messages, the agent's actions and what answers them (by `cause`) are the conversation; state changes, recalls and
other events of the machinery are passed through. The model's raw answer in `tool_call_metadata` tells thoughts and
arguments again, on each event of the answer: all copies change together, and the actions of one answer leave together.
The format has its own sign of a compaction, which the brief takes: a `condensation` action with the summary
and the ids of the events that it stands for. Beside the events (`test_result`, `metrics`, …) nothing is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from compressor.formats import _document
from compressor.formats._lists import Item
from compressor.formats._messages import (
    State,
    check_lists,
    finder,
    like,
    name_of,
    origin_of,
    parsed_object,
    read_lists,
    step,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source, leaves
from compressor.model import NESTED, Compaction, Finding, Level, Origin, PathSteps, Role, Session, Transcript, Written

TITLE = "OpenHands V0 event lists"
ORDER = 55
APPENDS = False

_LISTS: Final[Sequence[PathSteps]] = (("history",), ("events",), ("trajectory",))
_SOURCES: Final = frozenset({"agent", "user", "environment"})
#: Events of the machinery: the model never sees them.
_HIDDEN: Final = frozenset(
    {"change_agent_state", "recall", "condensation_request", "null", "initialize", "start", "agent_state_changed"}
)
#: Arguments of an action that the harness fills in.
_FILLED: Final = frozenset(
    {"confirmation_state", "security_risk", "impl_source", "kernel_init_code", "action", "tool_call_metadata"}
)
_CONDENSED: Final = "condensation"


def is_event(value: Any) -> bool:
    """An event, whatever it tells."""
    if not isinstance(value, dict) or word(value, "source") not in _SOURCES:
        return False
    acts = isinstance(value.get("action"), str) and isinstance(value.get("args"), dict)
    return acts or (isinstance(value.get("observation"), str) and "content" in value)


find = finder(is_event, _LISTS)


def sniff(head: Head) -> bool:
    """Events of actions and observations."""
    values = (head.document,) if head.document is not None else head.rows
    return any(True for value in values for _ in find(value))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "openhands", find, event, finish=_copies)


def event(build: Builder, item: Item, state: State) -> None:
    """Put one event into the builder, if the model sees it."""
    value = item.value
    if not is_event(value):
        return
    number, cause = _number(value, "id"), _number(value, "cause")
    kind = word(value, "action") or word(value, "observation")
    if number is not None and kind != _CONDENSED:
        if number <= state.notes.get("last", -1):
            state.notes.setdefault("falls", []).append(len(build))
        state.notes["last"] = number
    _raw(item, state)
    if kind in _HIDDEN or ("observation" in value and cause in state.notes.get("hidden", ())):
        if number is not None:
            state.notes.setdefault("hidden", set()).add(number)
    elif "observation" in value:
        _observation(build, item, state)
    elif kind in ("message", "system", "finish", _CONDENSED):
        _message(build, item, state, str(kind))
    else:
        _action(build, item, state)


def _number(value: dict[str, Any], key: str) -> int | None:
    number = value.get(key)
    return number if isinstance(number, int) else None


def _start(build: Builder, item: Item, role: Role, origin: Origin, **flags: Any) -> None:
    value = item.value
    number = _number(value, "id")
    id_ = "" if number is None else str(number)
    time = name_of(value.get("timestamp"))
    build.start(record=item.record, line=item.line, role=role, origin=origin, id=id_, time=time, **flags)


def _message(build: Builder, item: Item, state: State, kind: str) -> None:
    """What somebody said: the task, the agent's words, the system prompt, or the summary of a condensation."""
    value, args = item.value, item.value["args"]
    key = {"finish": "final_thought", _CONDENSED: "summary"}.get(kind, "content")
    if kind == "finish" and not isinstance(args.get(key), str):
        key = "thought"
    text = args.get(key)
    by_agent = value["source"] == "agent"
    role = Role.SYSTEM if kind == "system" else Role.ASSISTANT if by_agent else Role.USER
    flags: dict[str, Any] = {}
    origin = origin_of(role, text if isinstance(text, str) else "")
    if kind == _CONDENSED:
        role, origin, flags = Role.ASSISTANT, Origin.HARNESS, {"generation": 1}
        _forget(build, state, args)
    _start(build, item, role, origin, **flags)
    if kind != _CONDENSED:
        _known(build, item, state)
    if isinstance(text, str):
        path = (*item.path, "args", key)
        build.text(path, text)
        state.copy(item, path, (*item.path, "message"), text, value.get("message"))
        _said(state, value, item, path, text)


def _said(state: State, value: dict[str, Any], item: Item, path: PathSteps, text: str) -> None:
    answer = _answer(value)
    if answer:
        state.notes.setdefault("said", {}).setdefault(answer, (item, path, text))


def _forget(build: Builder, state: State, args: dict[str, Any]) -> None:
    """The events that a condensation stands for are no longer sent."""
    first, last = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
    listed = args.get("forgotten_event_ids")
    numbers = [n for n in (listed if isinstance(listed, list) else ()) if isinstance(n, int)]
    events = state.notes.setdefault("events", {})
    if isinstance(first, int) and isinstance(last, int):
        numbers += [n for n in events if n is not None and first <= n <= last]
    state.notes.setdefault("forgot", {})[len(build)] = numbers
    for number in numbers:
        if number in events:
            build.change(events[number], live=False)


def _action(build: Builder, item: Item, state: State) -> None:
    value, args = item.value, item.value["args"]
    role = Role.ASSISTANT if value["source"] == "agent" else Role.USER
    meta = value.get("tool_call_metadata")
    meta = meta if isinstance(meta, dict) else {}
    several = isinstance(meta.get("total_calls_in_response"), int) and meta["total_calls_in_response"] > 1
    answer = _answer(value)
    flags = {"group": f"answer:{answer}"} if several and answer else {}
    _start(build, item, role, Origin.AGENT if role is Role.ASSISTANT else Origin.HARNESS, **flags)
    _known(build, item, state)
    thought = args.get("thought")
    if isinstance(thought, str) and thought and value["action"] != "think":
        path = (*item.path, "args", "thought")
        build.text(path, thought)
        _said(state, value, item, path, thought)
    id_ = name_of(meta.get("tool_call_id")) or f"event:{value.get('id')}"
    state.notes.setdefault("calls", {})[_number(value, "id")] = id_
    build.call(id_, name_of(meta.get("function_name")) or value["action"])
    for key, arg in args.items():
        if key not in _FILLED and (key != "thought" or value["action"] == "think"):
            for path, name, text in leaves(arg, (*item.path, "args", key), key):
                build.argument(path, name, text)
    state.notes.setdefault("acts", []).append((id_, item))


def _observation(build: Builder, item: Item, state: State) -> None:
    value = item.value
    if not isinstance(value.get("content"), str):
        return
    path = (*item.path, "content")
    cause = _number(value, "cause")
    call = state.notes.get("calls", {}).get(cause)
    if call is None and cause is None:
        _start(build, item, Role.USER, Origin.HARNESS)
        _known(build, item, state)
        build.text(path, value["content"])
        return
    _start(build, item, Role.TOOL, Origin.TOOL)
    _known(build, item, state)
    build.result(call or f"event:{cause}", error=value["observation"] == "error")
    build.output(path, value["content"])
    for other, _, text in leaves(value.get("extras"), (*item.path, "extras")):
        if value["content"]:
            state.copy(item, path, other, value["content"], text)
    state.copy(item, path, (*item.path, "message"), value["content"], value.get("message"))


def _known(build: Builder, item: Item, state: State) -> None:
    state.notes.setdefault("events", {})[_number(item.value, "id")] = len(build) - 1


def _answer(value: dict[str, Any]) -> str:
    """The id of the model's answer that an event comes from, or ""."""
    return name_of(step(value, ("tool_call_metadata", "model_response", "id")))


def _raw(item: Item, state: State) -> None:
    """Note where an event tells the model's answer again."""
    choices = step(item.value, ("tool_call_metadata", "model_response", "choices"))
    raw = step(choices[0], ("message",)) if isinstance(choices, list) and choices else None
    if not isinstance(raw, dict):
        return
    path: PathSteps = (*item.path, "tool_call_metadata", "model_response", "choices", 0, "message")
    told = state.notes.setdefault("told", [])
    told.append((_answer(item.value), item, (*path, "content"), raw.get("content")))
    calls = raw.get("tool_calls")
    for i, call in enumerate(calls if isinstance(calls, list) else ()):
        place_ = (*path, "tool_calls", i, "function", "arguments")
        state.notes.setdefault("raw", {}).setdefault(name_of(step(call, ("id",))), []).append(
            (item, place_, step(call, ("function", "arguments")))
        )


def _copies(build: Builder, state: State) -> None:
    """Tie what was noted of the model's answers to the parts that they tell again."""
    said = state.notes.pop("said", {})
    for answer, other, path, text in state.notes.pop("told", ()):
        if answer in said:
            item, original, ours = said[answer]
            if isinstance(text, str) and text and text.strip() == ours.strip():
                state.copies.setdefault((item.record, original), []).append((other.record, path))
    raw = state.notes.pop("raw", {})
    for id_, item in state.notes.pop("acts", ()):
        args = {k: v for k, v in item.value["args"].items() if isinstance(v, str)}
        for other, path, value in raw.get(id_, ()):
            for place_, key, text in leaves(parsed_object(value), (*path, NESTED)):
                if key in args and args[key] == text:
                    state.copies.setdefault((item.record, (*item.path, "args", key)), []).append((other.record, place_))


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief: a condensation, with the ids of the events that it stands for."""
    forgot: dict[int, list[int]] = session.meta.get("forgot", {})
    numbers = {m.index: int(m.id) for m in session.messages if m.id.isdigit()}
    kept = {n for i, n in numbers.items() if i not in change.dropped}
    free = [numbers[i] for i in sorted(change.dropped) if i in numbers and numbers[i] not in kept]
    # a condensation that leaves hands on what it stood for
    gone = {n for i in change.dropped for n in forgot.get(i, [numbers[i]] if i in numbers else [])}
    before = [m for m in session.messages[: _document.seam(session, change)] if m.index not in change.dropped]
    time = _document.replaced_time(session, change)
    fields: dict[str, Any] = {
        "id": free[0] if free else max(kept, default=-1) + 1,
        **({"timestamp": time} if time else {}),
        "source": "agent",
        "message": "Condensed.",
        "action": _CONDENSED,
        "args": {
            "forgotten_event_ids": sorted(gone),
            "forgotten_events_start_id": None,
            "forgotten_events_end_id": None,
            "summary": text,
            "summary_offset": len(before),
        },
    }
    return like(near, fields)


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, E02, E04, E10, E16 (event ids rise)."""
    yield from check_lists(transcript, adjacent=False)
    for session in transcript.sessions:
        for index in session.meta.get("falls", ()):
            m = session.messages[min(index, len(session.messages) - 1)]
            yield Finding("E16", Level.WARNING, "event id does not rise", at=place(transcript.path, m))


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the events of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
