"""The numbers and names that a statement mentions, with the words around each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from compressor.checks._items import items
from compressor.checks._names import Names
from compressor.checks._statements import Statement
from compressor.checks._terms import Term
from compressor.guards.numbers import Number, same

#: So many words on each side of a mention say what is said of it.
_WINDOW: Final = 4
_BORDER: Final = re.compile(
    r"[,;:]\s|\.\s(?=[A-Z])|[，；：、。]|\s(?:and|but|while|whereas|und|et|y)\s|而|但|以及", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class Mention:
    """A number or name in a statement: `statement.text[start:end]`."""

    statement: Statement
    start: int
    end: int
    family: str
    text: str
    number: Number | None = None

    @property
    def key(self) -> str:
        return self.text.strip("`*_\"'()./").casefold()

    def is_same(self, other: Mention) -> bool:
        """Whether both mention the same: an equal value in any notation, an equal name, the same file."""
        if self.number is not None or other.number is not None:
            return self.number is not None and other.number is not None and _equal(self.number, other.number)
        a, b = self.key, other.key
        if self.family == other.family == "name":
            return bool(set(a.split()) & set(b.split()))
        return a == b or (self.family == "path" and (a.endswith(f"/{b}") or b.endswith(f"/{a}")))

    def may_replace(self, other: Mention) -> bool:
        """Whether one can have been written in place of the other."""
        if self.number is not None and other.number is not None:
            return _comparable(self.number, other.number)
        return self.family == other.family


def _equal(a: Number, b: Number) -> bool:
    """The same value; one of them may leave its unit to the words around."""
    return same(a, b) or (a.value == b.value and a.sign == b.sign and not (a.unit and b.unit))


_QUANTITIES: Final = frozenset({"percent", "money", "size", "duration", "measure", "count", "number"})


def _comparable(a: Number, b: Number) -> bool:
    if a.sign != b.sign:
        return False
    if a.kind == b.kind:
        return a.kind != "count" or a.unit == b.unit or not a.unit or not b.unit
    return (
        a.kind in _QUANTITIES and b.kind in _QUANTITIES and ("number" in (a.kind, b.kind) or a.text[-1:] == b.text[-1:])
    )


def mentions(statement: Statement, names: Names) -> list[Mention]:
    """All mentions of a statement, in order; `names` are the proper names of the original."""
    text = statement.text
    found = [Mention(statement, i.start, i.end, _FAMILY.get(i.kind, i.kind), i.text) for i in items(text)]
    taken = [(m.start, m.end) for m in found]
    for number in statement.numbers:
        if not _overlaps(number.start, number.end, taken):
            found.append(Mention(statement, number.start, number.end, "number", number.text, number))
            taken.append((number.start, number.end))
    found.extend(
        Mention(statement, start, end, "name", text[start:end])
        for start, end in names.find(text)
        if not _overlaps(start, end, taken)
    )
    return sorted(found, key=lambda m: m.start)


_FAMILY: Final = {
    "file": "path",
    "code": "id",
    "ticket": "id",
    "uuid": "id",
    "hash": "id",
    "colour": "id",
    "mail": "name",
    "variable": "symbol",
}


def _overlaps(start: int, end: int, taken: Iterable[tuple[int, int]]) -> bool:
    return any(a < end and start < b for a, b in taken)


def around(mention: Mention) -> tuple[list[str], list[str]]:
    """The words before and behind a mention in its clause, nearest first."""
    text = mention.statement.text
    low = max((m.end() for m in _BORDER.finditer(text, 0, mention.start)), default=0)
    border = _BORDER.search(text, mention.end)
    high = border.start() if border else len(text)
    terms = mention.statement.terms
    # pairs of characters overlap: so many of them say half as much as words
    size = _WINDOW if text.isascii() else 2 * _WINDOW
    before = [t[2] for t in terms if low <= t[0] and t[1] <= mention.start][-size:]
    after = [t[2] for t in terms if t[0] >= mention.end and t[1] <= high][:size]
    if not before and not after:
        before = [t[2] for t in terms if t[1] <= mention.start][-size:]
        after = [t[2] for t in terms if t[0] >= mention.end][:size]
    return before[::-1], after


def own(mention: Mention) -> Iterable[Term]:
    """The terms that are the mention itself."""
    return (t for t in mention.statement.terms if t[0] < mention.end and mention.start < t[1])
