"""Lines that name the line before them: read the way from the newest one to the root, write a shorter way.

A file is a tree of records, each with an id and the id of its parent; what counts is the way from the newest record
up to a root. A compaction is one straight way: each record that stays hangs on the one before it.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from compressor.formats._layout import Editor
from compressor.formats._pairs import Builder
from compressor.formats._records import BLANK, BOM, UNREADABLE, Dirt, Source, dumps, get_at, loads, split
from compressor.model import Compaction, Finding, Level, Part, PathSteps, Place, Record, Session, Transcript, Written

_NAMESPACE: Final = uuid.UUID("c3f6a9d2-1f5b-5e63-9a7e-8d21f0b6e4a5")


@dataclass(frozen=True, slots=True)
class Shape:
    """The keys of a format's tree.

    Attributes:
        id: of a record's own id.
        parent: of its parent's id.
        name: path to the session's id.
        carriers: kinds of the records that have the session's id; empty: all.
    """

    id: str
    parent: str
    name: PathSteps
    carriers: frozenset[str] = frozenset()

    def carries(self, kind: str) -> bool:
        """Whether records of this kind have the session's id."""
        return not self.carriers or kind in self.carriers


@dataclass(frozen=True, slots=True)
class Node:
    """A record with an id: its place, and its parent's id."""

    record: int
    id: str
    parent: str | None


@dataclass(slots=True)
class Reading:
    """A file while it is read.

    Attributes:
        build: takes the messages.
        rows: by record, the messages that were made from it.
        copies: for a part (record, path) the further places of the same text.
        faults: what the reader saw, without the file's name.
        notes: a format's own.
    """

    build: Builder = field(default_factory=Builder)
    records: list[Record] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    rows: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    copies: defaultdict[tuple[int, PathSteps], list[tuple[int, PathSteps]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    ids: dict[str, None] = field(default_factory=dict)
    faults: list[Finding] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    dirt: Dirt = field(default_factory=Dirt)

    def start(self, record: Record, **fields: Any) -> int:
        """Begin a message of this record."""
        index = self.build.start(record=record.index, line=record.line, **fields)
        self.rows[record.index].append(index)
        return index

    def fault(self, record: Record, code: str, level: Level, message: str, fact: str = "") -> None:
        """Note what is wrong with a record."""
        self.faults.append(Finding(code, level, message, fact, Place("", record.line)))

    def active(self) -> set[int]:
        """The records on the way from the newest one to a root; those without an id are on every way.

        Of several records with one id the tool knows the newest: the others are on no way.
        """
        at = {n.id: n for n in self.nodes}
        way: set[str] = set()
        node = self.nodes[-1] if self.nodes else None
        while node is not None and node.id not in way:
            way.add(node.id)
            node = at.get(node.parent) if node.parent is not None else None
        off = {n.record for n in self.nodes if n.id not in way or at[n.id] is not n}
        return {r.index for r in self.records if r.index not in off}


def load(source: Source, shape: Shape, kind_of: Callable[[Any], str]) -> Reading:
    """The records of a file, the tree they make, and the sessions they name."""
    reading = Reading()
    for raw in split(source.raw, reading.dirt):
        kind = raw.kind or kind_of(raw.value)
        record = Record(len(reading.records), raw.line, raw.start, raw.end, kind)
        reading.records.append(record)
        reading.values.append(raw.value)
        if not isinstance(raw.value, dict):
            continue
        name, parent = raw.value.get(shape.id), raw.value.get(shape.parent)
        if isinstance(name, str) and name and shape.parent in raw.value:
            reading.nodes.append(Node(record.index, name, parent if isinstance(parent, str) else None))
        if shape.carries(kind) and isinstance(found := _at(raw.value, shape.name), str):
            reading.ids.setdefault(found)
    return reading


def value_of(transcript: Transcript, record: Record) -> dict[str, Any]:
    """A record's value, parsed anew."""
    value = loads(bytes(transcript.raw[record.start : record.end]).strip())
    assert isinstance(value, dict)
    return value


def _at(value: Any, path: PathSteps) -> Any:
    try:
        return get_at(value, path)
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def meta(reading: Reading) -> dict[str, Any]:
    """What `write`, `check` and `join` need of a session."""
    return {
        "rows": {r: tuple(m) for r, m in reading.rows.items()},
        "nodes": tuple(reading.nodes),
        "copies": {k: tuple(v) for k, v in reading.copies.items()},
        "ids": tuple(reading.ids),
        "faults": tuple(reading.faults),
        **reading.notes,
    }


# -- writing -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Way:
    """The output while it is written: one straight way of lines."""

    transcript: Transcript
    change: Compaction
    shape: Shape
    last: str | None = None
    out: list[bytes] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)

    def body(self, record: int) -> bytes:
        """A record's bytes without its line end."""
        r = self.transcript.records[record]
        return bytes(self.transcript.raw[r.start : r.end]).strip()

    def value(self, record: int) -> dict[str, Any]:
        """A record's value, parsed anew."""
        return value_of(self.transcript, self.transcript.records[record])

    def as_it_is(self, record: int) -> None:
        """A line that cannot be read, a blank one, a byte-order mark."""
        r = self.transcript.records[record]
        body = bytes(self.transcript.raw[r.start : r.end])
        self.out.append(body if body == BOM or body.endswith(b"\n") else body + b"\n")

    def new(self, value: Mapping[str, Any]) -> None:
        """A new record behind the last one."""
        fields = dict(value)
        if self.shape.id in fields:
            fields[self.shape.parent] = self.last
            self.last = fields[self.shape.id]
        self.out.append(dumps(fields) + b"\n")

    def record(self, index: int, node: Node | None, edit: Callable[[Editor], None] | None = None) -> None:
        """A record of the input behind the last one; untouched but for its parent, byte for byte the same."""
        self.used.add(index)
        body = self.body(index)
        kind = self.transcript.records[index].kind
        renamed = bool(self.change.new_id) and self.shape.carries(kind)
        if edit is not None or renamed or (node is not None and node.parent != self.last):
            editor = Editor(body.decode("utf-8", "surrogateescape"))
            if node is not None and node.parent != self.last:
                editor.set((self.shape.parent,), self.last)
            if renamed and _at(loads(body), self.shape.name) is not None:
                editor.set(self.shape.name, self.change.new_id)
            if edit is not None:
                edit(editor)
            body = editor.text().encode("utf-8", "surrogateescape")
        if node is not None:
            self.last = node.id
            self.ids.add(node.id)
        self.out.append(body + b"\n")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a format decides of its output.

    Attributes:
        stays: whether a record without a message stays.
        brief: writes the records of the brief.
        first: the brief stands before all messages; else at its own place among them.
        replacement: what stands for a part whose text was set, if not the text.
        more: further edits of a record in which texts were set, if there are any.
        retell: writes a message that cannot stay in its own record; False: it can.
    """

    stays: Callable[[Record], bool]
    brief: Callable[[Way], None]
    first: bool
    replacement: Callable[[Part, str], Any] | None = None
    more: Callable[[Editor, int, Sequence[Part]], None] | None = None
    retell: Callable[[Way, int, Mapping[int, str]], bool] | None = None


def write(transcript: Transcript, change: Compaction, shape: Shape, plan: Plan, position: int) -> Written:
    """The file with one change.

    Args:
        position: the message before which the brief stands, unless it stands first.
    """
    session = transcript.sessions[0]
    way = Way(transcript, change, shape)
    rows: Mapping[int, Sequence[int]] = session.meta["rows"]
    nodes = {n.record: n for n in session.meta["nodes"]}
    edits = _edits(session, change)
    behind = -1 if plan.first or not position else session.messages[position - 1].record
    begun = False
    for record in transcript.records:
        if record.kind in (BLANK, UNREADABLE):
            way.as_it_is(record.index)
            continue
        messages = rows.get(record.index, ())
        if not begun and (record.index > behind >= 0 or (messages and behind < 0)):
            begun = True
            plan.brief(way)
        kept = [i for i in messages if i not in change.dropped and not session.messages[i].abandoned]
        node = nodes.get(record.index)
        # a second record of one id would hang on itself
        if (kept if messages else plan.stays(record)) and (node is None or node.id not in way.ids):
            _keep(way, record, node, edits.get(record.index, ()), plan)
    if not begun:
        plan.brief(way)
    named = {r for r, messages in rows.items() if any(i in change.dropped for i in messages)}
    left = (r.kind for r in transcript.records if r.index not in way.used | named and r.kind not in (BLANK, UNREADABLE))
    return Written(b"".join(way.out), dict(Counter(left)))


_Edits = Sequence[tuple[PathSteps, Part | None, str]]


def _edits(session: Session, change: Compaction) -> Mapping[int, _Edits]:
    """The new texts by record: at the part's own place, and at those of its copies (without the part)."""
    found: defaultdict[int, list[tuple[PathSteps, Part | None, str]]] = defaultdict(list)
    for ordinal, text in sorted(change.texts.items()):
        part = session.parts[ordinal]
        record = session.messages[part.message].record
        found[record].append((part.path, part, text))
        for home, path in session.meta["copies"].get((record, part.path), ()):
            found[home].append((path, None, text))
    return found


def _keep(way: Way, record: Record, node: Node | None, edits: _Edits, plan: Plan) -> None:
    texts = {part.ordinal: text for _, part, text in edits if part is not None}
    if plan.retell is not None and plan.retell(way, record.index, texts):
        way.used.add(record.index)
        return

    def edit(editor: Editor) -> None:
        for path, part, text in edits:
            editor.set(path, text if part is None or plan.replacement is None else plan.replacement(part, text))
        if plan.more is not None:
            plan.more(editor, record.index, [part for _, part, _ in edits if part is not None])

    way.record(record.index, node, edit if edits else None)


def new_id(change: Compaction, what: str) -> str:
    """An id for a new record, made from the change."""
    seed = "\0".join([change.new_id or change.session.id, change.brief, *map(str, asdict(change.mark).values())])
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()
    return str(uuid.uuid5(_NAMESPACE, f"{what} {digest}"))


def time_of_brief(change: Compaction) -> str:
    """The time of the last message that leaves or is edited, else of the last one."""
    session = change.session
    gone = [m.time for m in session.messages if m.index in change.dropped and not m.abandoned and m.time]
    touched = [
        m.time for i in sorted({session.parts[o].message for o in change.texts}) if (m := session.messages[i]).time
    ]
    rest = [m.time for m in session.messages if m.time]
    return next((times[-1] for times in (gone, touched, rest) if times), "")


# -- growing and checking ----------------------------------------------------------------------------------------


def join(original: bytes, old: Session, grown: Transcript, first_new: int, shape: Shape) -> bytes:
    """The original with the grown file's records from message `first_new` on, hung below its own newest record."""
    session = grown.sessions[0]
    if first_new >= len(session.messages):
        return original
    known = {n.id for n in old.meta["nodes"]}
    leaf = old.meta["nodes"][-1].id if old.meta["nodes"] else None
    nodes = {n.record: n for n in session.meta["nodes"]}
    pieces = [original if original.endswith(b"\n") or not original else original + b"\n"]
    for record in grown.records[session.messages[first_new].record :]:
        body = bytes(grown.raw[record.start : record.end])
        node = nodes.get(record.index)
        if node is not None:
            stray = node.parent not in known
            known.add(node.id)
            renamed = shape.carries(record.kind) and old.id not in ("", session.id)
            if stray or renamed:
                body = _moved(body, leaf if stray else node.parent, old.id if renamed else "", shape)
        pieces.append(body if body.endswith(b"\n") else body + b"\n")
    return b"".join(pieces)


def _moved(body: bytes, parent: str | None, name: str, shape: Shape) -> bytes:
    editor = Editor(body.decode("utf-8", "surrogateescape"))
    editor.set((shape.parent,), parent)
    if name and _at(loads(body), shape.name) is not None:
        editor.set(shape.name, name)
    return editor.text().encode("utf-8", "surrogateescape")


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, W02, E05, E12, and what the reader saw."""
    session = transcript.sessions[0]
    for record in transcript.records:
        if record.kind == UNREADABLE:
            at = Place(transcript.path, record.line)
            yield Finding("W02", Level.WARNING, "line cannot be read, it is passed through", at=at)
    if transcript.dirt.get("no-final-newline"):
        # the tool's next append would be glued to the last record, and both be lost
        yield Finding("E01", Level.WARNING, "no newline after the last record", at=Place(transcript.path))
    nodes: Sequence[Node] = session.meta["nodes"]
    everywhere = {n.id for n in nodes}
    seen: set[str] = set()
    for node in nodes:
        at = Place(transcript.path, transcript.records[node.record].line, node.id)
        if node.parent is not None and node.parent not in everywhere:
            yield Finding("E05", Level.ERROR, "parent is not in the file", node.id, at)
        elif node.parent is not None and node.parent not in seen:
            yield Finding("E05", Level.ERROR, "parent stands behind its child", node.id, at)
        if node.id in seen:
            yield Finding("E05", Level.ERROR, "two records have one id", node.id, at)
        seen.add(node.id)
    for fault in session.meta["faults"]:
        yield replace(fault, at=replace(fault.at, file=transcript.path))
    ids = session.meta["ids"]
    if len(ids) > 1:
        fact = ", ".join(sorted(ids))
        yield Finding("E12", Level.WARNING, "records of several sessions", fact, Place(transcript.path))
