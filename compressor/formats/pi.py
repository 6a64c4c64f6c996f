"""Pi session files: a header, and entries that name their parent.

What the tool sends is the way from the newest entry to the root, from the newest `compaction` entry on: its summary,
then the entries from `firstKeptEntryId` on. A compaction of ours is such an entry, before all that stays; the mark is
in its `details`. An older summary that stays becomes a `custom_message`, since only the newest `compaction` is sent.
Files of the first version have no ids, and name the first kept entry by its place.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from compressor.formats import _mark, _tree
from compressor.formats._document import seam
from compressor.formats._layout import Editor
from compressor.formats._messages import describe, name_of, origin_of, time_of, word
from compressor.formats._pairs import Builder, check_pairs
from compressor.formats._records import BLANK, UNREADABLE, Head, Source, leaves
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
    Transcript,
    Written,
)

TITLE: Final = "Pi session (JSONL tree)"
ORDER: Final = 36
APPENDS: Final = True

_SHAPE: Final = Shape("id", "parentId", ("id",), frozenset({"session"}))
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT, "toolResult": Role.TOOL}
#: Entries whose text the model reads, and the key of the text.
_TEXTS: Final = {"compaction": "summary", "branch_summary": "summary", "custom_message": "content"}
#: Messages whose texts the model reads, and the keys of the texts.
_SAID: Final = {
    "bashExecution": ("command", "output"),
    "branchSummary": ("summary",),
    "compactionSummary": ("summary",),
    "custom": ("content",),
}
#: The kind of a `custom_message` that was a `compaction`.
_WAS: Final = "compaction"


def sniff(head: Head) -> bool:
    """The header stands first."""
    first = next((r for r in head.rows if isinstance(r, dict)), {})
    return first.get("type") == "session" and isinstance(first.get("cwd"), str) and isinstance(first.get("id"), str)


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else "other"


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    reading = _tree.load(source, _SHAPE, _kind)
    active = reading.active()
    start = _start(reading, active)
    brief, mark = -1, None
    for record, value in zip(reading.records, reading.values, strict=True):
        if record.kind in (BLANK, UNREADABLE, "session") or not isinstance(value, dict):
            continue
        on = record.index in active
        flags = {"live": on and record.index >= start, "abandoned": not on, "time": time_of(value.get("timestamp"))}
        _entry(record, value, reading, flags)
        found = _marked(value)
        if found is not None and on:
            brief, mark = reading.rows[record.index][0], found
    _check(reading)
    for record in reading.notes.get("compactions", ())[:-1]:
        for index in reading.rows[record]:  # of several summaries only the newest is sent
            reading.build.change(index, live=False)
    if mark is not None:
        reading.build.change(brief, generation=mark.generation)
    meta = _tree.meta(reading)
    session = reading.build.session(next(iter(reading.ids), ""), brief=brief, mark=mark, meta=meta)
    return Transcript(source.path, "pi", source.raw, tuple(reading.records), (session,), dict(reading.dirt.counts))


def _start(reading: Reading, active: set[int]) -> int:
    """The first record that is sent; the compaction's own summary counts whatever stands before it."""
    compactions = [r.index for r in reading.records if r.kind == "compaction" and r.index in active]
    if not compactions:
        return 0
    reading.notes["compactions"] = tuple(compactions)
    newest = compactions[-1]
    kept = _first_kept(reading, newest)
    return newest if kept < 0 else min(newest, kept)


def _first_kept(reading: Reading, compaction: int) -> int:
    """The record of the first entry that a compaction keeps, or -1."""
    value = reading.values[compaction]
    place = value.get("firstKeptEntryIndex")
    if isinstance(place, int):
        entries = [r.index for r in reading.records if r.kind not in (BLANK, UNREADABLE)]
        return entries[place] if 0 <= place < len(entries) else -1
    named = value.get("firstKeptEntryId")
    return next((n.record for n in reading.nodes if n.id == named), -1)


def _check(reading: Reading) -> None:
    """E10: compactions that name an entry, and marks."""
    known = {n.id for n in reading.nodes}
    for record, value in zip(reading.records, reading.values, strict=True):
        if record.kind != "compaction":
            continue
        first = value.get("firstKeptEntryId")
        if isinstance(first, str) and first not in known:
            text = "compaction keeps from an entry on that is not in the file: the tool sends nothing before it"
            reading.fault(record, "E10", Level.ERROR, text, first)
        details = value.get("details")
        if isinstance(details, dict) and _mark.FIELD in details and _marked(value) is None:
            reading.fault(record, "E10", Level.WARNING, "mark of a compaction cannot be read")


def _marked(value: Mapping[str, Any]) -> Any:
    details = value.get("details")
    return _mark.from_field(details.get(_mark.FIELD)) if isinstance(details, dict) else None


def _entry(record: Record, value: Mapping[str, Any], reading: Reading, flags: Mapping[str, Any]) -> None:
    key = _TEXTS.get(record.kind)
    if key is not None:
        old = record.kind != "custom_message" or value.get("customType") == _WAS
        fields = {"role": Role.USER, "origin": Origin.HARNESS, "id": name_of(value.get("id")), **flags}
        reading.start(record, **fields, generation=int(old))
        _content(reading.build, (key,), value.get(key))
    elif record.kind == "message" and isinstance(value.get("message"), dict):
        _message(record, value, reading, flags)


def _message(record: Record, value: Mapping[str, Any], reading: Reading, flags: Mapping[str, Any]) -> None:
    message = value["message"]
    said = word(message, "role")
    role = _ROLES.get(said, Role.USER)
    origin = origin_of(role, _first(message.get("content"))) if said in _ROLES else Origin.HARNESS
    summary = said in ("branchSummary", "compactionSummary")
    reading.start(record, role=role, origin=origin, id=name_of(value.get("id")), generation=int(summary), **flags)
    path = ("message", "content")
    if role is Role.TOOL:
        name = name_of(message.get("toolName"))
        reading.build.result(name_of(message.get("toolCallId")), name=name, error=message.get("isError") is True)
        _content(reading.build, path, message.get("content"), result=True)
        return
    for key in _SAID.get(said, ("content",)):
        _content(reading.build, ("message", key), message.get(key))


def _first(content: Any) -> str:
    blocks = content if isinstance(content, list) else [content]
    return next((t for b in blocks if isinstance(t := b.get("text") if isinstance(b, dict) else b, str)), "")


def _content(build: Builder, at: PathSteps, content: Any, *, result: bool = False) -> None:
    put = build.output if result else build.text
    if isinstance(content, str):
        put(at, content)
    for i, block in enumerate(content if isinstance(content, list) else ()):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            put((*at, i, "text"), block["text"])
        elif kind == "thinking" and isinstance(block.get("thinking"), str):
            build.thinking((*at, i, "thinking"), block["thinking"])
        elif kind == "image":
            build.image((*at, i), describe(block.get("data"), block.get("mimeType")))
        elif kind == "toolCall":
            build.call(name_of(block.get("id")), name_of(block.get("name")))
            for path, key, text in leaves(block.get("arguments"), (*at, i, "arguments")):
                build.argument(path, key, text)


# -- writing -----------------------------------------------------------------------------------------------------


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    change = changes.get(0)
    if change is None:
        return Written(bytes(transcript.raw))
    plan = Plan(
        stays=lambda record: record.kind != "label",
        brief=_brief,
        first=True,
        replacement=lambda part, text: {"type": "text", "text": text} if part.type is PartType.IMAGE else text,
        more=_more,
        retell=_retell,
    )
    return _tree.write(transcript, change, _SHAPE, plan, seam(transcript.sessions[0], change))


def _brief(way: Way) -> None:
    """The `compaction` entry; what it keeps stands behind it."""
    change = way.change
    fields: dict[str, Any] = {"type": "compaction"}
    old = not change.session.meta["nodes"]
    if not old:
        fields |= {"id": _tree.new_id(change, "brief")[:8], "parentId": None}
    fields |= {"timestamp": _tree.time_of_brief(change), "summary": change.brief or _mark.CLEARED}
    if old:
        fields["firstKeptEntryIndex"] = sum(1 for line in way.out if line.startswith(b"{")) + 1
    else:
        fields["firstKeptEntryId"] = _first_left(change) or fields["id"]
    fields |= {"tokensBefore": change.mark.tokens, "details": {_mark.FIELD: _mark.as_field(change.mark)}}
    way.new(fields)


def _first_left(change: Compaction) -> str:
    kept = (m for m in change.session.messages if m.index not in change.dropped and not m.abandoned)
    return next((m.id for m in kept if not m.id.startswith("#")), "")


def _more(editor: Editor, record: int, parts: Sequence[Part]) -> None:
    """What the tool keeps for its display beside a result is a copy; a signature signs other words."""
    if parts[0].type in (PartType.TOOL_RESULT, PartType.IMAGE) and "details" in editor.children(("message",)):
        editor.delete(("message", "details"))
    for part in parts:
        if len(part.path) > 3:  # message, content, the block's place, …
            block = part.path[:3]
            for key in ("textSignature", "thinkingSignature", "thoughtSignature"):
                if part.type is not PartType.IMAGE and key in editor.children(block):
                    editor.delete((*block, key))


def _retell(way: Way, record: int, texts: Mapping[int, str]) -> bool:
    """An older summary as a message."""
    if way.transcript.records[record].kind != "compaction":
        return False
    value = way.value(record)
    text = next(iter(texts.values()), value.get("summary"))
    head: dict[str, Any] = {k: value[k] for k in ("id", "parentId", "timestamp") if k in value}
    way.new({"type": "custom_message", **head, "customType": _WAS, "content": text, "display": True})
    return True


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, E02, E04, E05, E10, E12; W02."""
    session = transcript.sessions[0]
    yield from _tree.check(transcript)
    yield from check_pairs(session, transcript.path)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original, grown by what the tool appended (see `compressor.formats`)."""
    old = read(Source("", original), {}).sessions[0]
    return _tree.join(original, old, grown, first_new, _SHAPE)


def resume_command(transcript: Transcript, output: str) -> str:
    """The tool opens a session by its file."""
    return f"pi --session {shlex.quote(output)}"
