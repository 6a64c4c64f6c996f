"""What became of a number in a compaction: kept, changed or missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from compressor.guards._equal import same
from compressor.guards._number import Number

KEPT: Final = "kept"
CHANGED: Final = "changed"
MISSING: Final = "missing"

#: Kinds that can stand for one another when a number is mistyped or told differently.
_FAMILIES: Final = (
    frozenset({"percent", "money", "size", "duration", "measure", "count", "number", "range", "ratio", "ordinal"}),
    frozenset({"date", "datetime"}),
    frozenset({"time", "datetime"}),
    frozenset({"id", "number", "hash", "version", "count", "port", "line", "hex", "address"}),
)


def fate(number: Number, original: Sequence[Number], compacted: Sequence[Number]) -> tuple[str, Number | None]:
    """What became of one number of the original, and the number of the compaction that shows it.

    It is kept when its value stands there, unless the words around say that two values changed places;
    changed when another value stands where it should; else missing.
    """
    equal = [c for c in compacted if same(number, c)]
    rivals = [c for c in compacted if not same(number, c) and related(number, c)]
    if equal:
        best = max(equal, key=lambda c: likeness(number, c))
        exchanged = _exchanged(number, best, original, rivals)
        return (CHANGED, exchanged) if exchanged else (KEPT, best)
    new = [c for c in rivals if not any(same(o, c) for o in original if o is not number)]
    if new:
        return CHANGED, max(new, key=lambda c: (likeness(number, c), c.kind == number.kind, c.unit == number.unit))
    taken = [c for c in rivals if c.kind == number.kind and _in_place(number, c, original)]
    return (CHANGED, taken[0]) if taken else (MISSING, None)


def related(a: Number, b: Number) -> bool:
    """Whether one number may stand for the other, mistyped."""
    return a.kind == b.kind or any(a.kind in family and b.kind in family for family in _FAMILIES)


def likeness(a: Number, b: Number) -> float:
    """How much the words around two numbers agree, from 0 to 1."""
    x, y = _words(a), _words(b)
    return len(x & y) / min(len(x), len(y)) if x and y else 0.0


def _words(number: Number) -> frozenset[str]:
    out: set[str] = set()
    for word in number.of.split():
        if word.isascii():
            out.add(word.rstrip("s"))
        else:
            out.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return frozenset(out)


def _exchanged(number: Number, best: Number, original: Sequence[Number], rivals: Sequence[Number]) -> Number | None:
    """The number of the compaction that stands where this one should, when this one stands where another should."""
    here = likeness(number, best)
    for other in original:
        if other is number or same(other, number) or likeness(other, best) <= here:
            continue
        for rival in rivals:
            if same(rival, other) and likeness(number, rival) > max(here, likeness(other, rival)):
                return rival
    return None


def _in_place(number: Number, c: Number, original: Sequence[Number]) -> bool:
    """Whether a value of another fact stands with the words of this one."""
    there = max((likeness(o, c) for o in original if o is not number and same(o, c)), default=0.0)
    return likeness(number, c) > max(0.5, there)
