"""A number as the guards see it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text: `text` is what is written.

    Attributes:
        value: a `Decimal`, or the normal form of what is no quantity (a version, date, hash, id, range).
        unit: name of the unit, or of the thing counted, or "".
        sign: "-", "+" or "".
        kind: percent, money, size, duration, measure, count, number, ordinal, line, port, ratio, range, version,
            date, time, datetime, hex, hash, id, address.
        of: the words around it that say what it is the number of.
    """

    start: int
    end: int
    text: str
    value: Decimal | str
    unit: str
    sign: str
    kind: str
    of: str
