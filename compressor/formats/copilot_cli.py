"""Copilot CLI session files (`~/.copilot/session-state/<session id>/events.jsonl`): one chain of events.

Each event names the one before it. What the model sees of a request is `transformedContent`; the start of a tool, its
`detailedContent` and the hooks tell calls and results again: the first two change with their original, hooks and
permissions leave. A brief is a `user.message` with the mark in its data: the tool's own `session.compaction_complete`
is read, but whether it is sent again after a resume is not known, and a request always is.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from compressor.formats import _mark, _tree
from compressor.formats._document import seam
from compressor.formats._layout import Editor
from compressor.formats._messages import name_of, origin_of, time_of, word
from compressor.formats._pairs import check_pairs
from compressor.formats._records import Head, Source, leaves
from compressor.formats._tree import Plan, Reading, Shape, Way
from compressor.model import (
    Compaction,
    Finding,
    Level,
    Origin,
    Part,
    Place,
    Record,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE: Final = "Copilot CLI session (JSONL events)"
ORDER: Final = 34
APPENDS: Final = True

_START: Final = "session.start"
_SHAPE: Final = Shape("id", "parentId", ("data", "sessionId"), frozenset({_START, "session.resume"}))
_TURN_START, _TURN_END = "assistant.turn_start", "assistant.turn_end"
_PROMPT: Final = "system.message"
_CALL: Final = "tool.execution_start"
#: Events that tell again what others tell, or what was asked of the person.
_NOISE: Final = ("hook.", "permission.", "assistant.turn_", "assistant.usage", "assistant.intent", "session.usage")


def sniff(head: Head) -> bool:
    """Events with dotted names that make a chain."""
    rows = [r for r in head.rows if isinstance(r, dict)]
    return any(
        "." in word(r, "type") and isinstance(r.get("data"), dict) and {"id", "parentId"} <= r.keys() for r in rows
    )


def _kind(value: Any) -> str:
    return word(value, "type") or "other"


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    reading = _tree.load(source, _SHAPE, _kind)
    active = reading.active()
    live = _newest_summary(reading, active)
    prompt = max((r.index for r in reading.records if r.kind == _PROMPT and r.index in active), default=-1)
    brief, mark = -1, None
    requested = {i for v in reading.values for i in _requested(v)}
    for record, value in zip(reading.records, reading.values, strict=True):
        data = value.get("data") if isinstance(value, dict) else None
        if not isinstance(data, dict):
            continue
        # each start of the tool brings its prompt again: the newest counts
        on = record.index in active and (record.kind != _PROMPT or record.index == prompt)
        fields = {
            "id": name_of(value.get("id")),
            "live": on and (record.index >= live or record.kind == _PROMPT),
            "abandoned": not on,
            "sidechain": bool(data.get("parentToolCallId")),
            "time": time_of(value.get("timestamp")),
        }
        _event(record, data, reading, fields, requested)
        if _mark.FIELD in data:
            found = _mark.from_field(data[_mark.FIELD])
            if found is None:
                reading.fault(record, "E10", Level.WARNING, "mark of a compaction cannot be read")
            elif on and reading.rows[record.index]:
                brief, mark = reading.rows[record.index][0], found
    if mark is not None:
        reading.build.change(brief, generation=mark.generation, origin=Origin.HARNESS)
    reading.notes["starts"] = _starts(reading)
    session = reading.build.session(next(iter(reading.ids), ""), brief=brief, mark=mark, meta=_tree.meta(reading))
    records = tuple(reading.records)
    return Transcript(source.path, "copilot-cli", source.raw, records, (session,), dict(reading.dirt.counts))


def _newest_summary(reading: Reading, active: set[int]) -> int:
    """The record of the newest summary of the tool's, or 0."""
    found = 0
    for record, value in zip(reading.records, reading.values, strict=True):
        if record.kind == "session.compaction_complete" and record.index in active and _summary(value.get("data")):
            found = record.index
    return found


def _summary(data: Any) -> str:
    return word(data, "summaryContent") if isinstance(data, dict) and data.get("success") is not False else ""


def _requested(value: Any) -> Iterator[str]:
    """The ids of the calls that a message of the model's makes."""
    data = value.get("data") if isinstance(value, dict) else None
    found = data.get("toolRequests") if isinstance(data, dict) else None
    for call in found if isinstance(found, list) else ():
        if isinstance(call, dict):
            yield name_of(call.get("toolCallId"))


def _event(
    record: Record, data: Mapping[str, Any], reading: Reading, fields: Mapping[str, Any], requested: set[str]
) -> None:
    kind = record.kind
    if kind == _PROMPT and isinstance(data.get("content"), str):
        reading.start(record, role=Role.SYSTEM, origin=Origin.HARNESS, **fields)
        reading.build.text(("data", "content"), data["content"])
    elif kind == "user.message":
        _request(record, data, reading, fields)
    elif kind == "system.notification" and isinstance(data.get("content"), str):
        reading.start(record, role=Role.USER, origin=Origin.HARNESS, **fields)
        reading.build.text(("data", "content"), data["content"])
    elif kind == "session.compaction_complete" and _summary(data):
        reading.start(record, role=Role.USER, origin=Origin.HARNESS, generation=1, **fields)
        reading.build.text(("data", "summaryContent"), data["summaryContent"])
    elif kind == "assistant.message":
        _answer(record, data, reading, fields)
    elif kind == _CALL:
        _started(record, data, reading, fields, requested)
    elif kind == "tool.execution_complete":
        _result(record, data, reading, fields)


def _request(record: Record, data: Mapping[str, Any], reading: Reading, fields: Mapping[str, Any]) -> None:
    """A request; what the person typed is a copy of what the model sees."""
    typed, seen = data.get("content"), data.get("transformedContent")
    given = word(data, "source") not in ("", "user")
    origin = Origin.HARNESS if given else origin_of(Role.USER, typed if isinstance(typed, str) else "")
    reading.start(record, role=Role.USER, origin=origin, **fields)
    path = ("data", "transformedContent" if isinstance(seen, str) and seen else "content")
    if isinstance(data.get(path[1]), str):
        reading.build.text(path, data[path[1]])
    if path[1] != "content" and isinstance(typed, str):
        reading.copies[record.index, path].append((record.index, ("data", "content")))


def _answer(record: Record, data: Mapping[str, Any], reading: Reading, fields: Mapping[str, Any]) -> None:
    group = name_of(data.get("messageId"))
    reading.start(record, role=Role.ASSISTANT, origin=Origin.AGENT, **fields, **({"group": group} if group else {}))
    if isinstance(data.get("reasoningText"), str):
        reading.build.thinking(("data", "reasoningText"), data["reasoningText"])
    if isinstance(data.get("content"), str) and data["content"]:
        reading.build.text(("data", "content"), data["content"])
    found = data.get("toolRequests")
    places = reading.notes.setdefault("calls", {})
    for i, call in enumerate(found if isinstance(found, list) else ()):
        if not isinstance(call, dict):
            continue
        at = ("data", "toolRequests", i, "arguments")
        reading.build.call(name_of(call.get("toolCallId")), name_of(call.get("name")))
        for path, key, text in leaves(call.get("arguments"), at):
            reading.build.argument(path, key, text)
        places[name_of(call.get("toolCallId"))] = (record.index, at, call.get("arguments"))
    if data.get("reasoningOpaque"):
        reading.notes.setdefault("opaque", set()).add(record.index)


def _started(
    record: Record, data: Mapping[str, Any], reading: Reading, fields: Mapping[str, Any], requested: set[str]
) -> None:
    """The start of a tool tells a call again; of a call that no message made it is the call itself."""
    name = name_of(data.get("toolCallId"))
    at = ("data", "arguments")
    if name not in requested:
        reading.start(record, role=Role.ASSISTANT, origin=Origin.AGENT, **fields)
        reading.build.call(name, name_of(data.get("toolName")))
        for path, key, text in leaves(data.get("arguments"), at):
            reading.build.argument(path, key, text)
        return
    home = reading.notes.get("calls", {}).get(name)
    if home is None:
        return
    place, path, told = home
    if told != data.get("arguments"):
        reading.fault(record, "E15", Level.WARNING, "start of a tool tells other arguments than its call", name)
    here = {p[len(at) :] for p, _, _ in leaves(data.get("arguments"), at)}
    for p, _, _ in leaves(told, path):
        if p[len(path) :] in here:
            reading.copies[place, p].append((record.index, (*at, *p[len(path) :])))


def _result(record: Record, data: Mapping[str, Any], reading: Reading, fields: Mapping[str, Any]) -> None:
    reading.start(record, role=Role.TOOL, origin=Origin.TOOL, **fields)
    failed = data.get("success") is False
    reading.build.result(name_of(data.get("toolCallId")), name=name_of(data.get("toolName")), error=failed)
    result, error = data.get("result"), data.get("error")
    if isinstance(result, dict) and isinstance(result.get("content"), str):
        path = ("data", "result", "content")
        reading.build.output(path, result["content"])
        if isinstance(result.get("detailedContent"), str):
            reading.copies[record.index, path].append((record.index, ("data", "result", "detailedContent")))
    elif isinstance(result, str):
        reading.build.output(("data", "result"), result)
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        reading.build.output(("data", "error", "message"), error["message"])


def _starts(reading: Reading) -> dict[int, int]:
    """By record of a tool's start, the record of the message that made the call."""
    calls = reading.notes.pop("calls", {})
    found = {}
    for record, value in zip(reading.records, reading.values, strict=True):
        if record.kind == _CALL and isinstance(value, dict):
            home = calls.get(word(value.get("data"), "toolCallId"))
            if home is not None:
                found[record.index] = home[0]
    return found


# -- writing -----------------------------------------------------------------------------------------------------


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    change = changes.get(0)
    if change is None:
        return Written(bytes(transcript.raw))
    session = transcript.sessions[0]
    kept = _kept_records(session, change)
    turns = _kept_turns(transcript, kept)
    starts: Mapping[int, int] = session.meta["starts"]

    def stays(record: Record) -> bool:
        if record.index in starts:
            return starts[record.index] in kept
        return record.index in turns or not record.kind.startswith(_NOISE)

    plan = Plan(stays=stays, brief=_brief, first=False, more=_without_reasoning(session))
    return _tree.write(transcript, change, _SHAPE, plan, seam(session, change))


def _kept_records(session: Session, change: Compaction) -> set[int]:
    return {m.record for m in session.messages if m.index not in change.dropped and not m.abandoned}


def _kept_turns(transcript: Transcript, kept: set[int]) -> set[int]:
    """The bounds of the turns in which something stays."""
    bounds: set[int] = set()
    opened: list[int] = []
    for record in transcript.records:
        if record.kind == _TURN_START:
            opened.append(record.index)
        elif record.kind == _TURN_END and opened:
            begin = opened.pop()
            if any(begin < r < record.index for r in kept):
                bounds |= {begin, record.index}
    return bounds | {r for r in opened if any(k > r for k in kept)}


def _without_reasoning(session: Session) -> Any:
    """Sealed reasoning belongs to the message as it was: it leaves where the message is edited."""
    sealed: set[int] = session.meta.get("opaque", set())

    def more(editor: Editor, record: int, parts: Sequence[Part]) -> None:
        if record in sealed:
            editor.delete(("data", "reasoningOpaque"))

    return more


def _brief(way: Way) -> None:
    change = way.change
    text = change.brief or _mark.CLEARED
    data = {
        "content": text,
        "transformedContent": text,
        "attachments": [],
        "source": "compaction",
        _mark.FIELD: _mark.as_field(change.mark),
    }
    time = _tree.time_of_brief(change)
    way.new(
        {"type": "user.message", "data": data, "id": _tree.new_id(change, "brief"), "timestamp": time, "parentId": None}
    )


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, E02, E04, E05 (here the parents make one chain), E10, E12, E15; W02."""
    session = transcript.sessions[0]
    yield from _tree.check(transcript)
    yield from check_pairs(session, transcript.path)
    nodes = session.meta["nodes"]
    for before, node in pairwise(nodes):
        if node.parent != before.id:
            at = Place(transcript.path, transcript.records[node.record].line, node.id)
            yield Finding("E05", Level.WARNING, "event does not follow the one before it", node.id, at)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original, grown by what the tool appended (see `compressor.formats`)."""
    old = read(Source("", original), {}).sessions[0]
    return _tree.join(original, old, grown, first_new, _SHAPE)


def resume_command(transcript: Transcript, output: str) -> str:
    """Put the output where the tool looks for it, and resume it there."""
    session = transcript.sessions[0]
    if not session.id:
        return ""
    folder = f"~/.copilot/session-state/{shlex.quote(session.id)}"
    copy = f"cp {shlex.quote(output)} {folder}/events.jsonl"
    return f"mkdir -p {folder} && {copy} && copilot --resume {shlex.quote(session.id)}"
