"""Choose which lines of the opened parts are kept: most worth per token first, until the room is full.

An item is worth its full value the first time a kept line holds it and little after that. Lines of a unit
(a call with its results) that is not in the output yet also pay for bringing it back.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compressor.salience import Salience, Segment

#: What an item is still worth when another kept line holds it already.
AGAIN: Final = 0.02
#: Tokens of the gap line and newline that a kept line brings with it.
GAP_TOKENS: Final = 1.5
#: How much more a line is worth that matches the focus.
FOCUS: Final = 4.0


@dataclass(frozen=True, slots=True)
class Pick:
    """One kept line: a span of a part; `unit` is -1 if its unit is in the output anyway."""

    part: int
    start: int
    end: int
    unit: int
    cost: float


@dataclass(frozen=True, slots=True)
class Field:
    """The lines that compete, and what is known of them.

    Attributes:
        salience: segments and values.
        texts: text by part ordinal, for the focus.
        rate: tokens per character by part ordinal.
        unit: unit by part ordinal, -1 if that unit is in the output anyway.
        entry: tokens that bringing a unit back costs, by unit.
        held: items that the output holds anyway.
        allowed: spans of a part that may be picked from (absent: the whole part).
    """

    salience: Salience
    texts: Mapping[int, str]
    rate: Mapping[int, float]
    unit: Mapping[int, int]
    entry: Mapping[int, float]
    held: Collection[str]
    allowed: Mapping[int, Sequence[tuple[int, int]]]


def picks(field: Field, room: float, active: set[int]) -> Iterator[Pick]:
    """Yield lines in the order of their worth, until `room` tokens are spent.

    Args:
        active: units that forced lines have brought back already.
    """
    race = _Race(field, active)
    while room > 0 and (pick := race.next()) is not None:
        room -= pick.cost
        yield pick


class _Race:
    """A lazy-greedy race: worth only falls as items get held, and is worked out again when a line comes up."""

    def __init__(self, field: Field, active: set[int]) -> None:
        self._field = field
        self._active = active
        self._value = dict(field.salience.value)
        for item in field.held:
            self._value[item] *= AGAIN
        self._lines: list[tuple[int, Segment]] = []
        self._cost: list[float] = []
        self._bonus: set[int] = set()
        self._of_unit: dict[int, list[int]] = {}
        self._said: set[str] = set()
        self._queue: list[tuple[float, int]] = []
        for part in field.texts:
            self._enter(part)
        heapq.heapify(self._queue)

    def _enter(self, part: int) -> None:
        field = self._field
        unit, rate = field.unit[part], field.rate[part]
        allowed = field.allowed.get(part)
        focus, text = field.salience.focus, field.texts[part]
        entry = 0.0 if unit < 0 or unit in self._active else field.entry[unit]
        value = self._value.__getitem__
        number = first = len(self._lines)
        for segment in field.salience.segments.get(part, ()):
            start, end, items = segment
            if allowed is not None and not any(a <= start and end <= b for a, b in allowed):
                continue
            cost = (end - start) * rate + GAP_TOKENS
            worth = sum(map(value, items))
            if focus is not None and focus(text[start:end]):
                self._bonus.add(number)
                worth = (worth + 1.0) * FOCUS
            self._lines.append((part, segment))
            self._cost.append(cost)
            self._queue.append((-worth / (cost + entry), number))
            number += 1
        if unit >= 0:
            self._of_unit.setdefault(unit, []).extend(range(first, number))

    def _density(self, number: int) -> float:
        part, segment = self._lines[number]
        worth = sum(map(self._value.__getitem__, segment[2]))
        if number in self._bonus:
            worth = (worth + 1.0) * FOCUS
        return worth / (self._cost[number] + self._entry(self._field.unit[part]))

    def _entry(self, unit: int) -> float:
        return 0.0 if unit < 0 or unit in self._active else self._field.entry[unit]

    def next(self) -> Pick | None:
        queue = self._queue
        while queue:
            was, number = heapq.heappop(queue)
            if self._cost[number] < 0:  # taken
                continue
            density = self._density(number)
            if density < -was * 0.999 and queue and density < -queue[0][0] * 0.999:
                heapq.heappush(queue, (-density, number))
                continue
            part, (start, end, _) = self._lines[number]
            line = self._field.texts[part][start:end].strip()
            if line in self._said:  # the same words again are worth nothing
                self._cost[number] = -1.0
                continue
            self._said.add(line)
            return self._take(number)
        return None

    def _take(self, number: int) -> Pick:
        part, (start, end, items) = self._lines[number]
        unit = self._field.unit[part]
        pick = Pick(part, start, end, unit, self._cost[number] + self._entry(unit))
        self._cost[number] = -1.0
        for item in items:
            self._value[item] *= AGAIN
        if unit >= 0 and unit not in self._active:
            self._active.add(unit)
            for other in self._of_unit[unit]:  # their lines are cheaper now
                if self._cost[other] >= 0:
                    heapq.heappush(self._queue, (-self._density(other), other))
        return pick
