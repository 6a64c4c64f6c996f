"""Write a compaction the way the tool writes its own: a `compacted` record in place of what stood before it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from compressor.formats import _mark
from compressor.formats._codex_items import Place
from compressor.formats._codex_read import HISTORY, MARK_KEY
from compressor.formats._layout import Editor
from compressor.formats._line import Line
from compressor.formats._records import BLANK, BOM, UNREADABLE, dumps, get_at, loads, set_at
from compressor.model import Compaction, Message, Part, PartType, Session, Transcript, Written

#: What stands in the brief's place when the history before the kept items was cleared without a brief.
CLEARED: Final = "The conversation before this point was cleared."
#: Records whose newest one the tool reads when it resumes, in the order in which it writes them.
_STATE: Final = ("world_state", "turn_context", "event_msg/thread_settings_applied")


@dataclass(frozen=True, slots=True)
class _Job:
    """What is settled before anything is written.

    Attributes:
        head: messages that go into the replacement history before the brief.
        after: messages that follow it there: items of an older replacement history.
        later: messages that follow as records.
        edits: new texts by message, as (part, text).
        time: time stamp of the new records.
    """

    transcript: Transcript
    session: Session
    change: Compaction
    places: Sequence[Place]
    head: tuple[Message, ...]
    after: tuple[Message, ...]
    later: tuple[Message, ...]
    edits: Mapping[int, Sequence[tuple[Part, str]]]
    time: str

    def value(self, record: int) -> dict[str, Any]:
        """A record's value, parsed anew."""
        value = loads(self.body(record))
        assert isinstance(value, dict)
        return value

    def body(self, record: int) -> bytes:
        """A record's bytes without its line end."""
        r = self.transcript.records[record]
        return bytes(self.transcript.raw[r.start : r.end]).strip()


def write(transcript: Transcript, change: Compaction) -> Written:
    """The file with one change."""
    job = _prepare(transcript, change)
    lines = _Lines(job)
    if job.session.meta["legacy"]:
        _write_legacy(job, lines)
    else:
        _write_rollout(job, lines)
    return Written(lines.bytes(), _left_out(job, lines))


def _prepare(transcript: Transcript, change: Compaction) -> _Job:
    session = transcript.sessions[0]
    edits: defaultdict[int, list[tuple[Part, str]]] = defaultdict(list)
    for ordinal, text in sorted(change.texts.items()):
        edits[session.parts[ordinal].message].append((session.parts[ordinal], text))
    bare = _without_thoughts(session, edits)
    stays = [m for m in session.messages if m.index not in change.dropped and not m.abandoned and m.index not in bare]
    head = tuple(m for m in stays if m.index < change.brief_at)
    rest = stays[len(head) :]
    places: Sequence[Place] = session.meta["places"]
    inner = 0
    while inner < len(rest) and HISTORY in places[rest[inner].index].base:
        inner += 1
    gone = [m for m in session.messages if m.index in change.dropped or m.index in change.texts]
    times = [m.time for m in (gone[-1:] or session.messages[-1:]) if m.time]
    fallback = next((m.time for m in reversed(session.messages) if m.time), "")
    after, later = tuple(rest[:inner]), tuple(rest[inner:])
    return _Job(transcript, session, change, places, head, after, later, edits, times[0] if times else fallback)


def _without_thoughts(session: Session, edits: Mapping[int, object]) -> set[int]:
    """Thoughts that led to a call or an answer which is edited: they go, so that none stands before another's words."""
    groups = {session.messages[i].group for i in edits}
    return {m.index for m in session.messages if m.group in groups and _is_thought(m)}


def _is_thought(message: Message) -> bool:
    return all(p.type is PartType.THINKING for p in message.parts) and message.group != f"#{message.index}"


class _Lines:
    """The output, line by line, with ordinals that only grow."""

    def __init__(self, job: _Job) -> None:
        self._job = job
        self._out: list[bytes] = []
        self._last = -1
        self._end = b"\r\n" if 2 * job.transcript.dirt.get("crlf", 0) > len(job.transcript.records) else b"\n"
        self._ordinals: dict[int, int | None] = dict(job.session.meta["ordinals"])
        self._counted = any(o is not None for o in self._ordinals.values())
        self.used: set[int] = set()

    def record(self, index: int, body: bytes | None = None) -> None:
        """A record of the input, changed (`body`) or not."""
        self.used.add(index)
        line = self._job.body(index) if body is None else body
        ordinal = self._ordinals.get(index)
        if ordinal is not None and ordinal <= self._last:
            line = _set(line, ordinal=self._last + 1)
            ordinal = self._last + 1
        if ordinal is None and self._counted:
            self.new(loads(line))
            return
        self._last = self._last if ordinal is None else ordinal
        self._out.append(line + self._end)

    def new(self, value: Mapping[str, Any]) -> None:
        """A new record; its ordinal stands where the tool puts it."""
        fields = dict(value)
        if self._counted:
            self._last += 1
            fields = {"timestamp": fields.pop("timestamp", ""), "ordinal": self._last, **fields}
        self._out.append(dumps(fields) + self._end)

    def as_it_is(self, index: int) -> None:
        """A line that cannot be read, a blank one, a byte-order mark."""
        r = self._job.transcript.records[index]
        body = bytes(self._job.transcript.raw[r.start : r.end])
        self._out.append(body if body == BOM or body.endswith(b"\n") else body + self._end)

    def bytes(self) -> bytes:
        return b"".join(self._out)


def _set(body: bytes, **fields: Any) -> bytes:
    line = Line(body)
    for key, value in fields.items():
        line.set((key,), value)
    return line.changed()


# -- rollouts ----------------------------------------------------------------------------------------------------


def _write_rollout(job: _Job, lines: _Lines) -> None:
    records = job.transcript.records
    begin = next((i for i, r in enumerate(records) if r.kind == "session_meta"), -1)
    for record in records[: max(begin, 0)]:
        if record.kind in (BLANK, UNREADABLE):
            lines.as_it_is(record.index)
    if begin >= 0:
        lines.record(begin, _meta(job, begin))
    lines.new({"timestamp": job.time, "type": "compacted", "payload": _payload(job)})
    if not job.session.meta["paginated"]:
        lines.new({"timestamp": job.time, "type": "event_msg", "payload": {"type": "context_compacted"}})
    first = min((job.places[m.index].record for m in job.later), default=len(records))
    _write_state(job, lines, first)
    _write_later(job, lines, begin + 1)


def _meta(job: _Job, index: int) -> bytes:
    new_id = job.change.new_id
    if not new_id:
        return job.body(index)
    payload = job.value(index)["payload"]
    editor = Editor(job.body(index).decode("utf-8", "surrogateescape"))
    for key in ("id", "session_id"):
        if key in payload:
            editor.set(("payload", key), new_id)
    return editor.text().encode("utf-8", "surrogateescape")


def _payload(job: _Job) -> dict[str, Any]:
    brief = _user_message(job.change.brief or CLEARED)
    history = [*(_item(job, m) for m in job.head), brief, *(_item(job, m) for m in job.after)]
    mark = {"version": 1, "item": len(job.head), **asdict(job.change.mark)}
    return {"message": "", HISTORY: history, MARK_KEY: mark}


def _user_message(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def _item(job: _Job, message: Message) -> dict[str, Any]:
    """A message as an item, with its new texts."""
    place = job.places[message.index]
    value = job.value(place.record)
    for part, text in job.edits.get(message.index, ()):
        value = set_at(value, part.path, _replacement(part, text))
    item = get_at(value, place.base)
    if isinstance(item, str):
        return _user_message(item)
    assert isinstance(item, dict)
    if _loses_id(job, message):
        item.pop("id", None)
    return item


def _replacement(part: Part, text: str) -> Any:
    return {"type": "input_text", "text": text} if part.type is PartType.IMAGE else text


def _loses_id(job: _Job, message: Message) -> bool:
    """An item whose words changed is no longer the one that its id names."""
    return message.index in job.edits and message.role == "assistant"


def _write_state(job: _Job, lines: _Lines, first: int) -> None:
    """What a resuming tool wants to know of the turn that goes on: folder, model, settings."""
    records = job.transcript.records
    for kind in _STATE:
        known = [r.index for r in records if r.kind == kind]
        if kind == "world_state":
            known = [i for i in known if job.value(i)["payload"].get("full") is True]
        before = [i for i in known if i < first] or known
        if before and (kind == "turn_context" or job.session.meta["paginated"]):
            lines.record(before[-1])


def _write_later(job: _Job, lines: _Lines, begin: int) -> None:
    """The kept items in order, with the turns they stand in; broken lines stay where they are."""
    at = {job.places[m.index].record: m for m in job.later if job.places[m.index].base in ((), ("payload",))}
    moved = [m for m in job.later if job.places[m.index].base not in ((), ("payload",))]
    first = min(at, default=len(job.transcript.records))
    said = {
        p.text for m in (*job.head, *job.later) if m.origin == "person" for p in m.parts if m.index not in job.edits
    }
    for record in job.transcript.records[begin:]:
        while moved and job.places[moved[0].index].record <= record.index:
            message = moved.pop(0)
            lines.new({"timestamp": message.time or job.time, "type": "response_item", "payload": _item(job, message)})
        if record.kind in (BLANK, UNREADABLE):
            lines.as_it_is(record.index)
        elif record.index in at:
            lines.record(record.index, _edited(job, at[record.index]))
        elif record.index in lines.used:
            continue
        elif (record.kind == "turn_context" and record.index > first) or _tells(job, record.index, record.kind, said):
            lines.record(record.index)


def _tells(job: _Job, index: int, kind: str, said: set[str]) -> bool:
    """The event that shows a kept request to the person: without one the tool does not list the session."""
    if kind not in ("event_msg/user_message", "event_msg/item_completed"):
        return False
    payload = job.value(index)["payload"]
    if kind == "event_msg/user_message":
        return payload.get("message") in said
    shown = payload.get("item")
    if not isinstance(shown, dict) or shown.get("type") != "UserMessage" or not isinstance(shown.get("content"), list):
        return False
    return all(isinstance(c, dict) and c.get("text") in said for c in shown["content"])


def _edited(job: _Job, message: Message) -> bytes:
    """A record with its new texts; without any, byte for byte the same."""
    body = job.body(job.places[message.index].record)
    edits = job.edits.get(message.index, ())
    if not edits:
        return body
    line = Line(body)
    for part, text in edits:
        line.set(part.path, _replacement(part, text))
    base = job.places[message.index].base
    if _loses_id(job, message) and "id" in get_at(line.value, base):
        line.delete((*base, "id"))
    return line.changed()


# -- the oldest files: bare items --------------------------------------------------------------------------------


def _write_legacy(job: _Job, lines: _Lines) -> None:
    """Without `compacted` records: the brief is a user message, and the mark its last line."""
    records = job.transcript.records
    at = {job.places[m.index].record: m for m in (*job.head, *job.later)}
    before = max((job.places[m.index].record for m in job.head), default=-1)
    text = _mark.join(job.change.brief or CLEARED, job.change.mark)
    begun = False
    for record in records:
        if record.kind.endswith("/session_meta"):
            new_id = job.change.new_id
            lines.record(record.index, _set(job.body(record.index), id=new_id) if new_id else None)
            continue
        if not begun and record.index > before and record.kind not in (BLANK, UNREADABLE):
            begun = True
            lines.new(_user_message(text))
        if record.kind in (BLANK, UNREADABLE):
            lines.as_it_is(record.index)
        elif record.index in at:
            lines.record(record.index, _edited(job, at[record.index]))
    if not begun:
        lines.new(_user_message(text))


# -- both --------------------------------------------------------------------------------------------------------


def _left_out(job: _Job, lines: _Lines) -> dict[str, int]:
    """Records that are not in the output, apart from those of messages that were dropped by name."""
    named = {m.record for m in job.session.messages if m.index in job.change.dropped}
    named |= {job.places[m.index].record for m in (*job.head, *job.after, *job.later)}
    left = Counter(
        r.kind
        for r in job.transcript.records
        if r.index not in lines.used and r.index not in named and r.kind not in (BLANK, UNREADABLE)
    )
    return dict(left)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the grown file's records from message `first_new` on; ordinals go on from its own."""
    session = grown.sessions[0]
    if first_new >= len(session.messages):
        return original
    first = session.meta["places"][first_new].record
    ordinals = dict(session.meta["ordinals"])
    last = _last_ordinal(original)
    pieces = [original if original.endswith(b"\n") or not original else original + b"\n"]
    for record in grown.records[first:]:
        body = bytes(grown.raw[record.start : record.end])
        if last is not None and ordinals.get(record.index) is not None:
            last += 1
            body = _set(body, ordinal=last)
        pieces.append(body if body.endswith(b"\n") else body + b"\n")
    return b"".join(pieces)


def _last_ordinal(data: bytes) -> int | None:
    """The ordinal of the last record that has one."""
    end = len(data)
    while end > 0:
        start = data.rfind(b"\n", 0, end) + 1
        try:
            value = loads(data[start:end])
        except ValueError:
            value = None
        if isinstance(value, dict) and type(value.get("ordinal")) is int:
            return int(value["ordinal"])
        end = start - 1
    return None
