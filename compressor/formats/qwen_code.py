"""Qwen Code session files (`~/.qwen/projects/<folder>/chats/<session id>.jsonl`): a tree of records.

Messages have parts as Gemini's interface has them. The tool's own compaction is a `system` record of the subtype
`chat_compression` whose payload holds the history that takes the place of all before it; ours is the same, before all
that stays, with the mark beside that history. Of a history that the tool wrote, what stood before is the old message.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from compressor.formats import _mark, _tree
from compressor.formats._document import seam
from compressor.formats._gemini_parts import (
    answers,
    calls,
    holds_data,
    parts_of,
    put_answer,
    put_content,
    put_data,
    said,
)
from compressor.formats._layout import Editor
from compressor.formats._messages import name_of, origin_of, time_of, word
from compressor.formats._pairs import check_pairs
from compressor.formats._records import BLANK, UNREADABLE, Head, Source, leaves, set_at
from compressor.formats._tree import Plan, Reading, Shape, Way
from compressor.model import (
    Compaction,
    Finding,
    Level,
    Origin,
    Part,
    PartType,
    PathSteps,
    Record,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE: Final = "Qwen Code session (JSONL tree)"
ORDER: Final = 38
APPENDS: Final = True

_SHAPE: Final = Shape("uuid", "parentUuid", ("sessionId",))
_COMPRESSION: Final = "system/chat_compression"
_ATTRIBUTION: Final = "system/attribution_snapshot"
_HISTORY: Final = ("systemPayload", "compressedHistory")
#: What the tool lets the model answer to a summary; it belongs to the summary.
_THANKS: Final = "Got it. Thanks for the additional context!"
#: The subtype of a message that was a summary in an older compressed history.
_SUMMARY: Final = "summary"
_TYPES: Final = frozenset({"user", "assistant", "tool_result", "system"})
#: Fields that new records take over from the session's newest one.
_ENVELOPE: Final = ("sessionId", "cwd", "version", "gitBranch")


def sniff(head: Head) -> bool:
    """Records of a tree whose messages have parts, or that name their provenance."""
    rows = [r for r in head.rows if isinstance(r, dict)]
    tree = [r for r in rows if str(r.get("type")) in _TYPES and {"uuid", "parentUuid", "sessionId"} <= r.keys()]
    return any("provenance" in r or "systemPayload" in r or _has_parts(r) for r in tree)


def _has_parts(row: Mapping[str, Any]) -> bool:
    message = row.get("message")
    return isinstance(message, dict) and isinstance(message.get("parts"), list)


def _kind(value: Any) -> str:
    kind, sub = word(value, "type"), word(value, "subtype")
    return f"{kind}/{sub}" if kind == "system" and sub else kind or "other"


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    reading = _tree.load(source, _SHAPE, _kind)
    active = reading.active()
    compressions = [r.index for r in reading.records if r.index in active and _history(reading.values[r.index])]
    start = compressions[-1] if compressions else 0
    brief, mark = -1, None
    for record, value in zip(reading.records, reading.values, strict=True):
        if record.kind in (BLANK, UNREADABLE) or not isinstance(value, dict):
            continue
        on = record.index in active
        flags = {"live": on and record.index >= start, "abandoned": not on, "time": time_of(value.get("timestamp"))}
        if record.kind == _COMPRESSION:
            found = _compression(record, value, reading, flags)
            if found is not None and on and reading.rows[record.index]:
                brief, mark = reading.rows[record.index][0], found
        elif isinstance(value.get("message"), dict):
            _message(record, value, reading, flags)
    reading.notes.clear()
    if mark is not None:
        reading.build.change(brief, generation=mark.generation)
    session = reading.build.session(next(iter(reading.ids), ""), brief=brief, mark=mark, meta=_tree.meta(reading))
    records = tuple(reading.records)
    return Transcript(source.path, "qwen-code", source.raw, records, (session,), dict(reading.dirt.counts))


def _message(record: Record, value: Mapping[str, Any], reading: Reading, flags: Mapping[str, Any]) -> None:
    parts = value["message"].get("parts")
    at = ("message", "parts")
    fields = {"id": name_of(value.get("uuid")), **flags}
    if word(value, "type") == "assistant":
        reading.start(record, role=Role.ASSISTANT, origin=Origin.AGENT, **fields)
        put_content(reading.build, at, parts)
    elif any(True for _ in answers(parts)):
        _results(record, value, reading, fields)
    elif word(value, "type") == "user":
        harness = word(value, "provenance") not in ("", "real_user") or "subtype" in value
        origin = Origin.HARNESS if harness else origin_of(Role.USER, said(parts))
        summary = word(value, "subtype") == _SUMMARY
        reading.start(record, role=Role.USER, origin=origin, generation=int(summary), **fields)
        put_content(reading.build, at, parts)
    else:
        return
    _remember(parts, reading.rows[record.index][-1], reading)


def _results(record: Record, value: Mapping[str, Any], reading: Reading, fields: Mapping[str, Any]) -> None:
    """The answers of a record; the display's copy of one changes with it."""
    reading.start(record, role=Role.TOOL, origin=Origin.TOOL, **fields)
    _put_answers(value["message"]["parts"], ("message", "parts"), reading)
    shown = value.get("toolCallResult")
    if not isinstance(shown, dict):
        return
    first = next(
        (p for i, a in answers(value["message"]["parts"]) for p, _, _ in leaves(a.get("response"), (i,))), None
    )
    if first is not None and isinstance(shown.get("resultDisplay"), str):
        path = ("message", "parts", first[0], "functionResponse", "response", *first[1:])
        reading.copies[record.index, path].append((record.index, ("toolCallResult", "resultDisplay")))


def _put_answers(parts: Any, at: PathSteps, reading: Reading) -> None:
    found = dict(answers(parts))
    for i, part in enumerate(parts_of(parts)):
        if i in found:
            put_answer(reading.build, (*at, i, "functionResponse"), found[i])
        elif holds_data(part):
            put_data(reading.build, (*at, i), part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            reading.build.output((*at, i, "text"), part["text"])


def _remember(parts: Any, message: int, reading: Reading) -> None:
    told: defaultdict[object, list[int]] = reading.notes.setdefault("told", defaultdict(list))
    told[_content(parts)].append(message)


def _content(parts: Any) -> object:
    """What a message is known by when a compressed history tells it again: its calls, its answers, else its words."""
    named = [name_of(c.get("id")) for c in calls(parts)] + [name_of(a.get("id")) for _, a in answers(parts)]
    return tuple(named) or said(parts)


def _history(value: Any) -> list[Any] | None:
    """The history in a compression, or None."""
    if _kind(value) != _COMPRESSION:
        return None
    payload = value.get("systemPayload")
    history = payload.get(_HISTORY[1]) if isinstance(payload, dict) else None
    return history if isinstance(history, list) else None


def _compression(record: Record, value: Mapping[str, Any], reading: Reading, flags: Mapping[str, Any]) -> Any:
    """The history that takes the place of all before: what stood before is live again, the rest is new."""
    history = _history(value)
    if history is None:
        reading.fault(record, "E10", Level.ERROR, "compression without a history")
        return None
    told = reading.notes.setdefault("told", defaultdict(list))
    for i, content in enumerate(history):
        parts = content.get("parts") if isinstance(content, dict) else None
        before = told.get(_content(parts))
        if before and flags["live"]:
            reading.build.change(before.pop(0), live=True)
        elif said(parts) != _THANKS and parts:
            _retold(record, (*_HISTORY, i, "parts"), content, reading, flags)
    payload = value["systemPayload"]
    mark = _mark.from_field(payload.get(_mark.FIELD))
    if mark is None and _mark.FIELD in payload:
        reading.fault(record, "E10", Level.WARNING, "mark of a compaction cannot be read")
    return mark


def _retold(
    record: Record, at: PathSteps, content: Mapping[str, Any], reading: Reading, flags: Mapping[str, Any]
) -> None:
    """A message that stands in a compressed history alone."""
    parts = content["parts"]
    fields = {"id": f"{name_of(reading.values[record.index].get('uuid'))}#{at[2]}", **flags}
    if content.get("role") == "model":
        reading.start(record, role=Role.ASSISTANT, origin=Origin.AGENT, **fields)
        put_content(reading.build, at, parts)
    elif any(True for _ in answers(parts)):
        reading.start(record, role=Role.TOOL, origin=Origin.TOOL, **fields)
        _put_answers(parts, at, reading)
    else:
        reading.start(record, role=Role.USER, origin=Origin.HARNESS, generation=1, **fields)
        put_content(reading.build, at, parts)


# -- writing -----------------------------------------------------------------------------------------------------


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    change = changes.get(0)
    if change is None:
        return Written(bytes(transcript.raw))
    plan = Plan(
        stays=lambda record: record.kind not in (_COMPRESSION, _ATTRIBUTION),
        brief=_brief,
        first=True,
        replacement=lambda part, text: {"text": text} if part.type is PartType.IMAGE else text,
        more=_more,
        retell=_retell,
    )
    return _tree.write(transcript, change, _SHAPE, plan, seam(transcript.sessions[0], change))


def _brief(way: Way) -> None:
    change, session = way.change, way.change.session
    history: list[Any] = [{"role": "user", "parts": [{"text": change.brief or _mark.CLEARED}]}]
    kept = (m for m in session.messages if m.index not in change.dropped and not m.abandoned)
    following = next(kept, None)
    if following is None or following.role is not Role.ASSISTANT:
        history.append({"role": "model", "parts": [{"text": _THANKS}]})
    way.new(
        {
            "uuid": _tree.new_id(change, "brief"),
            "parentUuid": None,
            **_envelope(way),
            "timestamp": _tree.time_of_brief(change),
            "type": "system",
            "subtype": "chat_compression",
            "provenance": "system",
            "systemPayload": {
                "info": {"originalTokenCount": change.mark.tokens, "compressionStatus": 1},
                "compressedHistory": history,
                _mark.FIELD: _mark.as_field(change.mark),
            },
        }
    )


def _envelope(way: Way) -> dict[str, Any]:
    nodes = way.change.session.meta["nodes"]
    newest = way.value(nodes[-1].record) if nodes else {}
    fields: dict[str, Any] = {k: newest[k] for k in _ENVELOPE if k in newest}
    if way.change.new_id and "sessionId" in fields:
        fields["sessionId"] = way.change.new_id
    return fields


def _more(editor: Editor, record: int, parts: Sequence[Part]) -> None:
    """A display that is no text (a diff) is a copy, too; a signature signs other words."""
    for part in parts:
        block = part.path[:3]
        if part.type is not PartType.IMAGE and "thoughtSignature" in editor.children(block):
            editor.delete((*block, "thoughtSignature"))
    if parts and parts[0].type in (PartType.TOOL_RESULT, PartType.IMAGE) and "toolCallResult" in editor.children(()):
        shown = editor.children(("toolCallResult",))
        if "resultDisplay" in shown and not editor.source(("toolCallResult", "resultDisplay")).startswith('"'):
            editor.delete(("toolCallResult", "resultDisplay"))


def _retell(way: Way, record: int, texts: Mapping[int, str]) -> bool:
    """What stays of an older compressed history goes out as records of its own."""
    if way.transcript.records[record].kind != _COMPRESSION:
        return False
    session: Session = way.change.session
    value = way.value(record)
    for index in session.meta["rows"][record]:
        if index in way.change.dropped:
            continue
        m = session.messages[index]
        base = (*_HISTORY, int(m.id.rpartition("#")[2]))
        for part in m.parts:
            if part.ordinal in texts:
                new = {"text": texts[part.ordinal]} if part.type is PartType.IMAGE else texts[part.ordinal]
                value = set_at(value, part.path, new)
        kind = {Role.ASSISTANT: "assistant", Role.TOOL: "tool_result"}.get(m.role, "user")
        head = {"uuid": m.id, "parentUuid": None, **_envelope(way), "timestamp": m.time, "type": kind}
        more = {"subtype": _SUMMARY, "provenance": "system"} if m.generation else {}
        way.new({**head, **more, "message": value[base[0]][base[1]][base[2]]})
    return True


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, E02, E04, E05, E10, E12; W02."""
    yield from _tree.check(transcript)
    yield from check_pairs(transcript.sessions[0], transcript.path)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original, grown by what the tool appended (see `compressor.formats`)."""
    old = read(Source("", original), {}).sessions[0]
    return _tree.join(original, old, grown, first_new, _SHAPE)


def resume_command(transcript: Transcript, output: str) -> str:
    """Put the output where the tool looks for it, and resume it there."""
    session = transcript.sessions[0]
    first = next((v for r in transcript.records if (v := _cwd(transcript, r))), "")
    if not session.id or not first:
        return ""
    folder = "".join(c if c.isascii() and c.isalnum() else "-" for c in first)
    place = f"{folder}/chats/{session.id}.jsonl"
    copy = f"cp {shlex.quote(output)} ~/.qwen/projects/{shlex.quote(place)}"
    return f"{copy} && cd {shlex.quote(first)} && qwen --resume {shlex.quote(session.id)}"


def _cwd(transcript: Transcript, record: Record) -> str:
    if record.kind in (BLANK, UNREADABLE, "other"):
        return ""
    return word(_tree.value_of(transcript, record), "cwd")
