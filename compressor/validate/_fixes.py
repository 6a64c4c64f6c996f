"""`--fix`: repairs that have one right form. Everything else is left to people.

Repairs go into the text, so that what is not named stays byte for byte: line ends between glued records and at the
end, no byte-order mark, no blank lines; results whose call is missing leave; a record whose parent is missing
follows the record before it, as the tool itself appends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compressor import plugins, reading
from compressor.errors import CompressError
from compressor.formats._layout import Editor
from compressor.formats._lists import load
from compressor.formats._records import BLANK, BOM, UNREADABLE, Source, loads
from compressor.model import Part, PathSteps, Session, Transcript
from compressor.validate.terms import Terms

#: Keys of a record's own id and of its parent's, in formats whose records form a chain.
CHAINS: Final[Mapping[str, tuple[str, str]]] = {
    "claude-code": ("uuid", "parentUuid"),
    "qwen-code": ("uuid", "parentUuid"),
    "pi": ("id", "parentId"),
    "copilot-cli": ("id", "parentId"),
}
#: A repair may uncover another one; each round has fewer to do.
_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class Fixed:
    """A repaired file: its bytes, and what was done, by code."""

    data: bytes
    done: Mapping[str, int]


@dataclass(slots=True)
class _Work:
    """Edits of one round, by record."""

    transcript: Transcript
    gone: set[int] = field(default_factory=set)
    editors: dict[int, Editor] = field(default_factory=dict)

    def editor(self, record: int) -> Editor:
        if record not in self.editors:
            self.editors[record] = Editor(self.body(record).decode("utf-8", "surrogateescape"))
        return self.editors[record]

    def body(self, record: int) -> bytes:
        r = self.transcript.records[record]
        return bytes(self.transcript.raw[r.start : r.end])

    def bytes(self) -> bytes:
        out = []
        for r in self.transcript.records:
            if r.index in self.gone:
                continue
            edited = self.editors.get(r.index)
            out.append(edited.text().encode("utf-8", "surrogateescape") if edited else self.body(r.index))
        return b"".join(out)


def fix(source: Source, terms: Terms, wanted: frozenset[str]) -> Fixed:
    """Repair a file as far as there is one right repair.

    Args:
        source: the file.
        terms: say its format.
        wanted: the codes whose repairs are made.
    """
    done: dict[str, int] = {}
    data = bytes(source.raw)
    for _ in range(_ROUNDS):
        before = data
        data = _text(Source(source.path, data), wanted, done)
        data = _structure(Source(source.path, data), terms, wanted, done)
        if data == before:
            break
    return Fixed(data, done)


def _count(done: dict[str, int], code: str, by: int = 1) -> None:
    done[code] = done.get(code, 0) + by


def _text(source: Source, wanted: frozenset[str], done: dict[str, int]) -> bytes:
    raw = bytes(source.raw)
    if "J04" in wanted and raw.startswith(BOM):
        _count(done, "J04")
        raw = raw.removeprefix(BOM)
    file = load(Source(source.path, raw))
    out: list[bytes] = []
    for i, r in enumerate(file.records):
        body = raw[r.start : r.end]
        if r.kind == BLANK and "J10" in wanted and not body.strip():
            _count(done, "J10")
            continue
        follows = file.records[i + 1] if i + 1 < len(file.records) else None
        if "J02" in wanted and follows is not None and follows.line == r.line and _whole(r.kind, follows.kind):
            _count(done, "J02")
            body = body.rstrip(b" \t") + b"\n"
        out.append(body)
    return b"".join(out)


def _whole(*kinds: str) -> bool:
    return all(kind not in (UNREADABLE, BLANK) for kind in kinds)


def _structure(source: Source, terms: Terms, wanted: frozenset[str], done: dict[str, int]) -> bytes:
    try:
        transcript = reading.read(source, format=terms.input_format, options=terms.map)
    except CompressError:
        return bytes(source.raw)
    work = _Work(transcript)
    if "E02" in wanted:
        for session in transcript.sessions:
            _orphans(work, session, done)
    if "E05" in wanted and transcript.format in CHAINS:
        _chain(work, CHAINS[transcript.format], done)
    data = work.bytes()
    appends = plugins.load("formats", transcript.format).APPENDS and len(transcript.records) > 1
    if "E01" in wanted and appends and data and not data.endswith(b"\n") and _whole(transcript.records[-1].kind):
        _count(done, "E01")
        data += b"\n"
    return data


def _orphans(work: _Work, session: Session, done: dict[str, int]) -> None:
    """Results without a call: the whole message where it holds nothing else, else their blocks."""
    orphans = {c.index for c in session.calls if c.message < 0}
    for index in sorted({m for c in session.calls if c.index in orphans for m in c.results}):
        message = session.messages[index]
        place = _place(session, index)
        if place is None:
            continue
        if all(p.call in orphans for p in message.parts):
            _count(done, "E02")
            if place:
                work.editor(message.record).delete(place)
            else:
                work.gone.add(message.record)
            continue
        for block in sorted({b for p in message.parts if p.call in orphans and (b := _block(p, place))}, reverse=True):
            _count(done, "E02")
            work.editor(message.record).delete(block)


def _place(session: Session, index: int) -> PathSteps | None:
    """Where a message lies in its record; () if it is the record; None: it shares its record with others."""
    places: Sequence[PathSteps] | None = session.meta.get("at")
    if places is not None:
        return places[index]
    record = session.messages[index].record
    return () if sum(m.record == record for m in session.messages) == 1 else None


def _block(part: Part, place: PathSteps) -> PathSteps:
    """The content block that a result's text stands in: up to the first step that counts."""
    rest = part.path[len(place) :]
    count = next((i for i, step in enumerate(rest) if isinstance(step, int) and step >= 0), -1)
    return (*place, *rest[: count + 1]) if count >= 0 else ()


def _chain(work: _Work, keys: tuple[str, str], done: dict[str, int]) -> None:
    """Links: past records that leave, and to the record before where the parent is nowhere."""
    own, up = keys
    values = [_value(work, r.index) for r in work.transcript.records]
    parents = {v[own]: v.get(up) for v in values if isinstance(v.get(own), str)}
    left = {values[i][own] for i in work.gone if isinstance(values[i].get(own), str)}
    previous: dict[bool, str | None] = {}
    for index, value in enumerate(values):
        name = value.get(own)
        if not isinstance(name, str) or index in work.gone or up not in value:
            continue
        side = value.get("isSidechain") is True
        parent = value[up]
        if parent in left:
            while parent in left:
                parent = parents.get(parent)
            work.editor(index).set((up,), parent)
        elif isinstance(parent, str) and parent not in parents:
            _count(done, "E05")
            work.editor(index).set((up,), previous.get(side))
        previous[side] = name


def _value(work: _Work, record: int) -> dict[str, Any]:
    try:
        value = loads(work.body(record).strip())
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
