"""Write message lists back: changes go into the text at the places where the messages lie.

A format says where its lists are (`_lists.Where`) and what a message is; this module keeps the bytes. Each message
has a place: its record, and the path to it in the record's JSON value. Changes go into the text at these places
(`_layout.Editor`), so that a line or an element that nobody touched goes out as it came in.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compressor.formats import _mark
from compressor.formats._layout import Editor, dump, escapes_in, sniff
from compressor.formats._lists import DOCUMENT, Thread
from compressor.formats._records import BOM
from compressor.model import Compaction, Part, PartType, PathSteps, Role, Session, Transcript, Written

#: How much of a file is looked at to see how it writes non-ASCII characters.
_SAMPLE: Final = 1 << 20


def text_block(part: Part, text: str) -> Any:
    """What an image becomes where content blocks are `{"type": "text", "text": …}`."""
    return {"type": "text", "text": text}


Note = Callable[[Session, Compaction, str, Any], Any]
Picture = Callable[[Part, str], Any]
More = Callable[[Session, Compaction, Callable[[int], Editor]], None]


def write(
    transcript: Transcript,
    changes: Mapping[int, Compaction],
    note: Note,
    picture: Picture = text_block,
    more: More | None = None,
) -> Written:
    """The file with the changes in it.

    Args:
        transcript: as read by a format that uses `session_meta`.
        changes: by position of the session.
        note: the message that holds the brief: from the session, its change, the text and a message as a model.
        picture: the block that stands for an image whose text was set.
        more: further edits of a changed session, through the editor of a record (copies of texts, lists of ids).
    """
    if not changes:
        return Written(bytes(transcript.raw))
    work = _Rewriting(transcript)
    for position in sorted(changes):
        work.change(transcript.sessions[position], changes[position], note, picture, more)
    return Written(work.bytes())


@dataclass(slots=True)
class _Rewriting:
    """What leaves, what is edited and what is new, by record."""

    transcript: Transcript
    gone: set[int] = field(default_factory=set)
    editors: dict[int, Editor] = field(default_factory=dict)
    new: defaultdict[int, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    escapes: bool | None = None

    def editor(self, record: int) -> Editor:
        if record not in self.editors:
            self.editors[record] = Editor(self._text(record), escapes=self._escapes())
        return self.editors[record]

    def change(self, session: Session, change: Compaction, note: Note, picture: Picture, more: More | None) -> None:
        places: Sequence[PathSteps] = session.meta["at"]
        for ordinal, text in change.texts.items():
            part = session.parts[ordinal]
            if part.message not in change.dropped:
                value = picture(part, text) if part.type is PartType.IMAGE else text
                record = session.messages[part.message].record
                for home, path in ((record, part.path), *session.meta["copies"].get((record, part.path), ())):
                    self.editor(home).set(path, value)
        for index in _whole_items(session, change):
            record = session.messages[index].record
            if places[index]:
                self.editor(record).delete(places[index])
            else:
                self.gone.add(record)
            for home, path in session.meta["also"].get(index, ()):
                self.editor(home).delete(path)
        self._brief(session, change, note)
        if more is not None:
            more(session, change, self.editor)

    def _brief(self, session: Session, change: Compaction, note: Note) -> None:
        places: Sequence[PathSteps] = session.meta["at"]
        position = seam(session, change)
        model = next((m for m in session.messages if m.role is Role.USER), session.messages[0])
        near = json.loads(self.editor(model.record).source(places[model.index]).strip() or "null")
        value = note(session, change, _mark.join(change.brief, change.mark), near)
        path: PathSteps | None = session.meta["list"]
        if path is not None:
            later = (places[i] for i in range(position, len(places)) if places[i][:-1] == path)
            last = max((int(p[-1]) for p in places if p[:-1] == path), default=-1)
            index = next(later, (last + 1,))[-1]
            self.editor(model.record).insert(path, int(index), value)
            return
        behind = position == len(session.messages)
        record = session.messages[-1 if behind else position].record
        line = dump(value, sniff(self._text(record), escapes=self._escapes())).encode("utf-8") + self._line_end(record)
        self.new[record + behind].append(line)

    def _escapes(self) -> bool:
        """How the whole file writes non-ASCII characters, by its beginning: one line may hold none."""
        if self.escapes is None:
            self.escapes = escapes_in(bytes(self.transcript.raw[:_SAMPLE]).decode("utf-8", "replace"))
        return self.escapes

    def _text(self, record: int) -> str:
        r = self.transcript.records[record]
        return bytes(self.transcript.raw[r.start : r.end]).decode("utf-8", "surrogateescape")

    def _line_end(self, record: int) -> bytes:
        # the last line may lack its end: the first one tells
        for r in (self.transcript.records[record], *self.transcript.records[:2]):
            body = bytes(self.transcript.raw[max(r.start, r.end - 2) : r.end])
            if body.endswith(b"\n"):
                return b"\r\n" if body == b"\r\n" else b"\n"
        return b"\n"

    def bytes(self) -> bytes:
        out: list[bytes] = []
        for r in self.transcript.records:
            for line in self.new.get(r.index, ()):
                out += (_line_break(out), line)
            if r.index in self.gone:
                continue
            if r.index in self.editors:
                out.append(self.editors[r.index].text().encode("utf-8", "surrogateescape"))
            else:
                out.append(bytes(self.transcript.raw[r.start : r.end]))
        for line in self.new.get(len(self.transcript.records), ()):
            out += (_line_break(out), line)
        data = b"".join(out)
        # a document keeps its own end; tools append to lines
        lines = (
            any(s.meta["list"] is None for s in self.transcript.sessions)
            or self.transcript.records[-1].kind != DOCUMENT
        )
        return data + b"\n" if lines and not data.endswith(b"\n") else data


def _line_break(out: Sequence[bytes]) -> bytes:
    """What must stand before a new line: nothing, unless the last record has no line end (glued, or the last)."""
    last = next((piece for piece in reversed(out) if piece), b"\n")
    return b"" if last.endswith(b"\n") or last == BOM else b"\n"


def _whole_items(session: Session, change: Compaction) -> Iterator[int]:
    """One message of each item that leaves; an item with a message that stays is not touched."""
    places: Sequence[PathSteps] = session.meta["at"]
    kept = {(m.record, places[m.index]) for m in session.messages if m.index not in change.dropped}
    for index in sorted(change.dropped):
        key = (session.messages[index].record, places[index])
        if key not in kept:
            kept.add(key)
            yield index


def seam(session: Session, change: Compaction) -> int:
    """`brief_at`, moved to before what it would tear apart: a call and its results, or the items of one answer."""
    first: dict[str, int] = {}
    kept = [m for m in session.messages if m.index not in change.dropped]
    stretches = [(first.setdefault(m.group, m.index), m.index) for m in kept]
    for call in session.calls:
        if call.message >= 0 and call.message not in change.dropped:
            stretches += ((call.message, r) for r in call.results if r not in change.dropped)
    position = change.brief_at
    for start, end in sorted(stretches, reverse=True):
        if start < position <= end:
            position = start
    return position


#: What stays of a text whose message has left, where a format tells it again.
LEFT: Final = "[…]"


def leave_a_sign(session: Session, change: Compaction, editor: Callable[[int], Editor]) -> None:
    """Copies of a message that left, which stand elsewhere and do not leave with it, become a sign."""
    for index in change.dropped:
        m = session.messages[index]
        gone = [(m.record, session.meta["at"][index]), *session.meta["also"].get(index, ())]
        for part in m.parts:
            for record, path in session.meta["copies"].get((m.record, part.path), ()):
                if not any(record == r and path[: len(p)] == p for r, p in gone):
                    editor(record).set(path, LEFT)


def replaced_time(session: Session, change: Compaction) -> str:
    """The time of the last message that the brief stands for, as written, or ""."""
    last = max(change.dropped, default=change.brief_at - 1)
    return session.messages[last].time if last >= 0 else ""


Place = tuple[int, PathSteps]


def session_meta(
    thread: Thread,
    places: Sequence[PathSteps],
    copies: Mapping[Place, Sequence[Place]],
    also: Mapping[int, Sequence[Place]],
) -> dict[str, Any]:
    """`Session.meta` as `write` and `join` need it.

    Args:
        thread: the conversation.
        places: path of each message's item in its record.
        copies: for a part (record and path) the further places of the same text: they change together.
        also: for a message (index) further elements or members that leave the file with it.
    """
    return {"at": tuple(places), "list": thread.where.path, "copies": copies, "also": also}


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original's bytes with the messages of session 0 of `grown` from `first_new` on at the end of its list."""
    session = grown.sessions[0]
    added = session.messages[first_new:]
    if not added:
        return original
    path: PathSteps | None = session.meta["list"]
    if path is None:
        records = dict.fromkeys(m.record for m in added)
        pieces = [bytes(grown.raw[grown.records[i].start : grown.records[i].end]) for i in records]
        lines = [p if p.endswith(b"\n") else p + b"\n" for p in pieces]
        return original + (b"" if original.endswith(b"\n") or not original else b"\n") + b"".join(lines)
    record = grown.records[added[0].record]
    new = Editor(bytes(grown.raw[record.start : record.end]).decode("utf-8", "surrogateescape"))
    bom = original.startswith(BOM)
    old = Editor(original.removeprefix(BOM).decode("utf-8", "surrogateescape"))
    count = len(old.children(path))
    for place in dict.fromkeys(session.meta["at"][m.index] for m in added):
        old.insert_source(path, count, new.source(place))
    return (BOM if bom else b"") + old.text().encode("utf-8", "surrogateescape")
