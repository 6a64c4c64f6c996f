"""Find message lists wherever they lie in a file: one message a line, a list in each row, a list deep in a document."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compressor.formats._layout import Editor
from compressor.formats._records import BLANK, BOM, Dirt, Source, get_at, loads, split
from compressor.model import NESTED, PathSteps, Record

#: Anything but JSON white space.
_INK: Final = re.compile(rb"[^ \t\r\n]")
DOCUMENT: Final = "document"
LINE: Final = "line"


@dataclass(frozen=True, slots=True)
class File:
    """The records of a file and their values (None for what is no JSON)."""

    records: tuple[Record, ...]
    values: tuple[Any, ...]
    dirt: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Where:
    """Where a message list lies in a record's value.

    Attributes:
        path: to the list; None if the value is itself a message.
        id: the session's own id, or "".
        before: paths to single values that stand before the list as messages (a top-level system prompt).
    """

    path: PathSteps | None
    id: str = ""
    before: tuple[PathSteps, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One element of a message list; `line` counts from 1."""

    value: Any
    record: int
    path: PathSteps
    line: int


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation: its items in order, and the value that holds its list (of the lines: the first message)."""

    where: Where
    items: tuple[Item, ...]
    holder: Any


Find = Callable[[Any], Iterable[Where]]


def load(source: Source) -> File:
    """Split a file into records: one for a document, else one for each line."""
    raw = source.raw
    start = 3 if raw[:3] == BOM else 0
    dirt = Dirt()
    first = _INK.search(raw, start)
    whole = _whole(raw, first.start()) if first else None
    if whole is None or first is None:
        rows = list(split(raw, dirt))
        records = tuple(Record(i, r.line, r.start, r.end, r.kind or LINE) for i, r in enumerate(rows))
        return File(records, tuple(r.value for r in rows), dict(dirt.counts))
    line = 1 + bytes(raw[start : first.start()]).count(b"\n")
    if not start:
        return File((Record(0, line, 0, len(raw), DOCUMENT),), (whole,), {})
    records = (Record(0, 1, 0, start, BLANK), Record(1, line, start, len(raw), DOCUMENT))
    return File(records, (None, whole), {"bom": 1})


def _whole(raw: Any, start: int) -> Any:
    """The file's value if it is one JSON value, on one line or on many; None for lines."""
    cut = raw.find(b"\n", start)
    first = bytes(raw[start : len(raw) if cut < 0 else cut])
    if first[:1] not in (b"{", b"["):
        return None
    value = _parsed(first)
    more = cut >= 0 and _INK.search(raw, cut) is not None
    if value is not None or not more:
        return None if more else value
    return _parsed(bytes(raw[start:]))


def _parsed(text: bytes) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


def threads(file: File, raw: Any, find: Find, keys: Sequence[str] = ()) -> Iterator[Thread]:
    """The conversations of a file, in order of first appearance.

    Args:
        file: what `load` gave.
        raw: the file's bytes.
        find: says where the lists of a record's value are.
        keys: the keys that tell the conversations of message lines apart; the first one that a message has counts.
    """
    order: list[Thread | str] = []
    lines: defaultdict[str, list[Item]] = defaultdict(list)
    for record, value in zip(file.records, file.values, strict=True):
        numbers = Lines(raw, record)
        for where in find(value):
            if where.path is None:
                name = _conversation(value, keys)
                if name not in lines:
                    order.append(name)
                lines[name].append(Item(value, record.index, (), record.line))
            else:
                order.append(_listed(numbers, value, where))
    for entry in order:
        if isinstance(entry, Thread):
            yield entry
        else:
            yield Thread(Where(None, entry), tuple(lines[entry]), lines[entry][0].value)


def _conversation(value: Any, keys: Sequence[str]) -> str:
    return next((str(value[k]) for k in keys if isinstance(value.get(k), (str, int)) and value[k] != ""), "")


def _listed(numbers: Lines, value: Any, where: Where) -> Thread:
    assert where.path is not None
    paths = [*where.before, *((*where.path, i) for i in range(len(get_at(value, where.path))))]
    items = tuple(Item(get_at(value, p), numbers.record.index, p, numbers.of(p)) for p in paths)
    return Thread(where, items, get_at(value, where.path[:-1]))


class Lines:
    """The line on which a value of a record starts."""

    def __init__(self, raw: Any, record: Record) -> None:
        self.record = record
        self._raw = raw
        self._editor: Editor | None = None
        self._text = ""
        self._line, self._seen = 1, 0
        ink = _INK.search(raw, record.start) if record.kind == DOCUMENT else None
        cut = raw.find(b"\n", ink.start()) if ink else -1
        self._flat = cut < 0 or _INK.search(raw, cut) is None

    def of(self, path: PathSteps) -> int:
        """The line of the value at `path`."""
        if self._flat:
            return self.record.line
        if self._editor is None:
            self._text = bytes(self._raw[self.record.start : self.record.end]).decode("utf-8", "surrogateescape")
            self._editor = Editor(self._text)
        start = self._editor.span(path[: path.index(NESTED)] if NESTED in path else path).start
        if start < self._seen:  # places usually come in order; a step back counts from the start again
            self._line, self._seen = 1, 0
        self._line += self._text.count("\n", self._seen, start)
        self._seen = start
        return self._line
