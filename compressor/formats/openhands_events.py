"""OpenHands events as its agent kit writes them: one event a file, one a line, or a list of them.

An action and its observation are a pair by `tool_call_id`; the actions of one answer (`llm_response_id`), and what
follows an answer with sealed thoughts up to the next message, stay or leave together. The kit's own compaction is a
`Condensation`: ids of events that are forgotten, and a summary with its place among what is sent. A brief is one that
forgets nothing that is still there. Events take no field that they do not know: the mark is the summary's last line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from compressor.formats import _document
from compressor.formats._layout import Editor
from compressor.formats._lists import Item
from compressor.formats._messages import (
    State,
    arguments,
    check_lists,
    describe,
    finder,
    name_of,
    origin_of,
    parsed_object,
    read_lists,
    time_of,
    word,
)
from compressor.formats._pairs import Builder
from compressor.formats._records import Head, Source, leaves
from compressor.model import (
    NESTED,
    Compaction,
    Finding,
    Level,
    Origin,
    PathSteps,
    Place,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE: Final = "OpenHands events (one a line, a list, or one a file)"
ORDER: Final = 54
APPENDS: Final = False

_SOURCES: Final = frozenset({"agent", "user", "environment", "hook"})
_CONDENSATION: Final = "Condensation"
#: The sender of a message that was the summary of a condensation.
_WAS: Final = "condensation"
_RESULTS: Final = {"ObservationEvent": "", "AgentErrorEvent": "error", "UserRejectObservation": "rejection_reason"}
#: Where exports keep the events.
_LISTS: Final[tuple[PathSteps, ...]] = (("events",), ("history",))


def is_event(value: Any) -> bool:
    """An event, whatever it tells."""
    kind = word(value, "kind")
    known = kind.endswith("Event") or kind in (_CONDENSATION, *_RESULTS) or kind.startswith("Condensation")
    return known and word(value, "source") in _SOURCES and isinstance(value.get("id"), str)


find = finder(is_event, _LISTS)


def sniff(head: Head) -> bool:
    """Events with the name of their kind."""
    values = (head.document,) if head.document is not None else head.rows
    return any(True for value in values for _ in find(value))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    return read_lists(source, "openhands-events", find, event, finish=_finish)


def event(build: Builder, item: Item, state: State) -> None:
    """Put one event into the builder, if the model sees it."""
    value = item.value
    if not is_event(value):
        return
    kind = word(value, "kind")
    seen: dict[str, int] = state.notes.setdefault("ids", {})
    first = len(build)
    if value["id"] in seen:
        _fault(item, state, "E04", Level.WARNING, "two events have one id", value["id"])
    if kind == "SystemPromptEvent":
        _start(build, item, Role.SYSTEM, Origin.HARNESS)
        _content(build, item, ("system_prompt",), value.get("system_prompt"))
        _content(build, item, ("dynamic_context",), value.get("dynamic_context"))
    elif kind == "MessageEvent" and isinstance(value.get("llm_message"), dict):
        state.notes.pop("loop", None)
        _message(build, item)
    elif kind == "ActionEvent":
        _action(build, item, state)
    elif kind in _RESULTS:
        _result(build, item, state)
    elif kind == _CONDENSATION:
        _condensation(build, item, state)
    seen.setdefault(value["id"], first if len(build) > first else -1)


def _fault(item: Item, state: State, code: str, level: Level, message: str, fact: str) -> None:
    found = Finding(code, level, message, fact, Place("", item.line, item.value["id"]))
    state.notes.setdefault("faults", []).append(found)


def _start(build: Builder, item: Item, role: Role, origin: Origin, **flags: Any) -> int:
    time = time_of(item.value.get("timestamp"))
    return build.start(
        record=item.record, line=item.line, role=role, origin=origin, id=item.value["id"], time=time, **flags
    )


def _content(build: Builder, item: Item, key: PathSteps, content: Any, *, result: bool = False) -> None:
    """A text, a text block, or a list of blocks."""
    put = build.output if result else build.text
    at = (*item.path, *key)
    blocks = content if isinstance(content, list) else [content]
    for i, block in enumerate(blocks):
        path = (*at, i) if isinstance(content, list) else at
        if isinstance(block, str):
            put(path, block)
        elif word(block, "text"):
            put((*path, "text"), block["text"])
        elif isinstance(block, dict) and isinstance(block.get("image_urls"), list):
            for j, url in enumerate(block["image_urls"]):
                build.other((*path, "image_urls", j), describe(url))


def _message(build: Builder, item: Item) -> None:
    value, inner = item.value, item.value["llm_message"]
    role = Role.ASSISTANT if word(inner, "role") == "assistant" else Role.USER
    text = "".join(word(b, "text") for b in inner.get("content") or () if isinstance(b, dict))
    harness = role is Role.USER and word(value, "source") != "user"
    summary = int(word(value, "sender") == _WAS)
    _start(build, item, role, Origin.HARNESS if harness else origin_of(role, text), generation=summary)
    if isinstance(inner.get("reasoning_content"), str):
        build.thinking((*item.path, "llm_message", "reasoning_content"), inner["reasoning_content"])
    _content(build, item, ("llm_message", "content"), inner.get("content"))
    _content(build, item, ("extended_content",), value.get("extended_content"))


def _action(build: Builder, item: Item, state: State) -> None:
    """A call with the thoughts before it; the typed action tells its arguments again."""
    value = item.value
    if value.get("thinking_blocks") and "loop" not in state.notes:
        state.notes["loop"] = value["id"]
    group = state.notes.get("loop") or name_of(value.get("llm_response_id")) or value["id"]
    _start(build, item, Role.ASSISTANT, Origin.AGENT, group=group)
    if isinstance(value.get("reasoning_content"), str):
        build.thinking((*item.path, "reasoning_content"), value["reasoning_content"])
    _content(build, item, ("thought",), value.get("thought"))
    call = value.get("tool_call")
    name = name_of(value.get("tool_call_id"))
    state.called(name)
    build.call(name, name_of(value.get("tool_name")))
    if isinstance(call, dict) and "arguments" in call:
        path: PathSteps = (*item.path, "tool_call", "arguments")
        arguments(build, path, call["arguments"])
        _copies(item, state, path, call["arguments"], value.get("action"))
    else:
        arguments(build, (*item.path, "action"), value.get("action"))


def _copies(item: Item, state: State, path: PathSteps, given: Any, action: Any) -> None:
    inner = parsed_object(given)
    path, given = ((*path, NESTED), inner) if isinstance(inner, dict) else (path, given)
    told = {p[1:]: t for p, _, t in leaves(action, ("action",))}
    for place_, _, text in leaves(given, path):
        rest = place_[len(path) :]
        state.copy(item, place_, (*item.path, "action", *rest), text, told.get(rest))


def _result(build: Builder, item: Item, state: State) -> None:
    value = item.value
    kind = word(value, "kind")
    group = {"group": state.notes["loop"]} if "loop" in state.notes else {}
    _start(build, item, Role.TOOL, Origin.TOOL, **group)
    seen = value.get("observation")
    failed = bool(_RESULTS[kind]) or (isinstance(seen, dict) and seen.get("is_error") is True)
    name = name_of(value.get("tool_name"))
    build.result(state.answered(value.get("tool_call_id"), name), name=name, error=failed)
    if _RESULTS[kind]:
        _content(build, item, (_RESULTS[kind],), value.get(_RESULTS[kind]), result=True)
    elif isinstance(seen, dict):
        key = next((k for k in ("content", "output", "message") if k in seen), "content")
        _content(build, item, ("observation", key), seen.get(key), result=True)
    if name_of(value.get("action_id")) and value["action_id"] not in state.notes["ids"]:
        _fault(item, state, "E11", Level.ERROR, "result names an action that is not there", value["action_id"])


def _condensation(build: Builder, item: Item, state: State) -> None:
    forgotten = item.value.get("forgotten_event_ids")
    state.notes.setdefault("forgotten", []).append((item, [name_of(i) for i in forgotten or () if name_of(i)]))
    index = -1
    if isinstance(item.value.get("summary"), str):
        index = _start(build, item, Role.USER, Origin.HARNESS, generation=1)
        build.text((*item.path, "summary"), item.value["summary"])
        state.notes.setdefault("summaries", []).append(index)
    state.notes.setdefault("condensations", []).append((item.record, item.path, index))


def _finish(build: Builder, state: State) -> None:
    """What condensations forget is not sent, nor is any summary but the newest."""
    ids: dict[str, int] = state.notes.pop("ids", {})
    for item, names in state.notes.pop("forgotten", []):
        for name in names:
            if ids.get(name, -1) >= 0:
                build.change(ids[name], live=False)
            elif name not in ids:
                text = "condensation forgets an event that is not there"
                _fault(item, state, "E10", Level.WARNING, text, name)
    for index in state.notes.pop("summaries", [])[:-1]:
        build.change(index, live=False)
    state.notes.pop("loop", None)


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    return _document.write(transcript, changes, _note, more=_remember)


def _note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """A condensation whose summary is sent at its place."""
    position = _document.seam(session, change)
    kept = [m for m in session.messages if m.index not in change.dropped and m.index < position]
    last = _document.replaced_time(session, change)
    return {
        "id": f"compaction-{change.mark.digest[:16]}",
        "timestamp": last or next((m.time for m in session.messages if m.time), ""),
        "source": "environment",
        "forgotten_event_ids": [],
        "summary": text,
        "summary_offset": len(kept),
        "llm_response_id": f"compaction-{change.mark.archive[:16]}",
        "kind": _CONDENSATION,
    }


def _remember(session: Session, change: Compaction, editor: Callable[[int], Editor]) -> None:
    """What stays is forgotten no more; an older summary becomes a message, for the kit sends the newest one alone."""
    for record, path, index in session.meta.get("condensations", ()):
        if index in change.dropped:
            continue
        if index < 0:
            editor(record).set((*path, "forgotten_event_ids"), [])
            continue
        m = session.messages[index]
        text = change.texts.get(m.parts[0].ordinal, m.parts[0].text)
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        about = {"id": m.id, "timestamp": m.time, "source": "environment", "sender": _WAS}
        editor(record).set(path, {**about, "llm_message": message, "kind": "MessageEvent"})


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10, E11; an event alone in its file has its other half in another one."""
    alone = sum(m.generation == 0 for s in transcript.sessions for m in s.messages) < 2
    yield from (f for f in check_lists(transcript) if not alone or f.check != "E02")
    for session in transcript.sessions:
        for fault in () if alone else session.meta.get("faults", ()):
            yield replace(fault, at=replace(fault.at, file=transcript.path))


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """The kit reads a folder of events: there is no command for a file."""
    return ""
