"""Choose which lines of the opened parts are kept: most worth per token first, until the room is full.

An item is worth its full value the first time a kept line holds it and little after that. Lines of a unit
(a call with its results) that is not in the output yet also pay for bringing it back.

Most lines say nothing that no other line says as well. So only the champions run at first: for each item the line
that gives most worth per token at the start. The others run when the champions leave room.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from compressor.salience import Salience, Segment

#: What an item is still worth when another kept line holds it already.
AGAIN: Final = 0.02
#: Tokens of the gap line and newline that a kept line brings with it.
GAP_TOKENS: Final = 1.5
#: How much more a line is worth that matches the focus.
FOCUS: Final = 4.0


class Pick(NamedTuple):
    """One kept line: a span of a part and its items; `unit` is -1 if its unit is in the output anyway."""

    part: int
    start: int
    end: int
    unit: int
    cost: float
    items: tuple[str, ...]


#: A line is taken when it is worth this share of what it was thought to be, or of what the next one may be.
CLOSE: Final = 0.95


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


def picks(field: Field) -> Iterator[Pick]:
    """Yield lines in the order of their worth; the order is worked out as far as it is asked for."""
    yield from _Race(field).run()


class _Race:
    """A lazy-greedy race: worth only falls as items get held, and is worked out again when a line comes up."""

    def __init__(self, field: Field) -> None:
        self._field = field
        #: units that picked lines have brought back
        self._active: set[int] = set()
        self._value = dict(field.salience.value)
        for item in field.held:
            self._value[item] *= AGAIN
        # by line: what it is, its part, and what it costs as things stand (below 0: it is out of the race)
        self._lines: list[Segment] = []
        self._part: list[int] = []
        self._price: list[float] = []
        self._bonus: set[int] = set()
        self._said: set[str] = set()
        self._of_unit: dict[int, list[int]] = {}
        # by item the best density of a line and that line; what is held anyway needs no champion
        self._best: dict[str, float] = dict.fromkeys(field.held, math.inf)
        self._champion: dict[str, int] = {}
        for part in field.texts:
            self._enter(part)
        # a line may be the champion of several of its items
        density = {number: self._best[item] for item, number in self._champion.items()}
        self._queue = [(-worth, number) for number, worth in density.items()]
        heapq.heapify(self._queue)
        self._running = set(density)
        self._gather(self._running)

    def _enter(self, part: int) -> None:
        """Note the lines of a part, and for which items they are the champions so far."""
        segments = self._segments(part)
        price = self._prices(part, segments)
        first = len(self._lines)
        self._lines += segments
        self._part += [part] * len(segments)
        self._price += price
        value, best, champion = self._value, self._best, self._champion
        for number, (_, _, items) in enumerate(segments, first):
            if len(items) == 1 and not self._bonus:  # most lines
                item = items[0]
                density = value[item] / self._price[number]
                if density > best.get(item, 0.0):
                    best[item], champion[item] = density, number
                continue
            density = self._density(number)
            for item in items:
                if density > best.get(item, 0.0):
                    best[item], champion[item] = density, number

    def _segments(self, part: int) -> Sequence[Segment]:
        """The lines of a part that may be picked; notes which of them match the focus."""
        segments = self._field.salience.segments.get(part, ())
        allowed, focus = self._field.allowed.get(part), self._field.salience.focus
        if allowed is not None:
            segments = [s for s in segments if any(a <= s[0] and s[1] <= b for a, b in allowed)]
        if focus is not None:
            text = self._field.texts[part]
            self._bonus.update(n for n, (a, b, _) in enumerate(segments, len(self._lines)) if focus(text[a:b]))
        return segments

    def _prices(self, part: int, segments: Sequence[Segment]) -> list[float]:
        rate, fee = self._field.rate[part], GAP_TOKENS + self._entry(self._field.unit[part])
        return [(end - start) * rate + fee for start, end, _ in segments]

    def _gather(self, numbers: Iterable[int]) -> None:
        """Know which lines get cheaper when a unit comes back."""
        units = self._field.unit
        for number in numbers:
            unit = units[self._part[number]]
            if unit >= 0 and unit not in self._active:
                self._of_unit.setdefault(unit, []).append(number)

    def _run_all(self) -> bool:
        """Let the lines run that are nobody's champions; False: they do already."""
        rest = [n for n in range(len(self._lines)) if n not in self._running]
        for number in rest:
            unit = self._field.unit[self._part[number]]
            if unit in self._active:
                self._price[number] -= self._field.entry[unit]
        self._gather(rest)
        self._running.update(rest)
        self._queue += [(-self._density(number), number) for number in rest]
        heapq.heapify(self._queue)
        return bool(rest)

    def _density(self, number: int) -> float:
        items = self._lines[number][2]
        worth = self._value[items[0]] if len(items) == 1 else sum(map(self._value.__getitem__, items))
        if number in self._bonus:
            worth = (worth + 1.0) * FOCUS
        return worth / self._price[number]

    def _entry(self, unit: int) -> float:
        return 0.0 if unit < 0 or unit in self._active else self._field.entry[unit]

    def run(self) -> Iterator[Pick]:
        """The winners, in their order."""
        queue, price, value, lines = self._queue, self._price, self._value, self._lines
        pop, push = heapq.heappop, heapq.heappush
        while queue or self._run_all():
            was, number = pop(queue)
            if price[number] < 0:
                continue
            items = lines[number][2]
            # what `_density` says, said again for most lines: this runs a hundred thousand times
            plain = len(items) == 1 and not self._bonus
            now = -value[items[0]] / price[number] if plain else -self._density(number)
            if now > was * CLOSE and queue and now > queue[0][0] * CLOSE:
                push(queue, (now, number))
            elif self._is_new(number):
                yield self._take(number)
            else:
                price[number] = -1.0

    def _is_new(self, number: int) -> bool:
        """Whether the words of a line have not been picked yet: the same again are worth nothing."""
        start, end, _ = self._lines[number]
        line = self._field.texts[self._part[number]][start:end].strip()
        known = line in self._said
        self._said.add(line)
        return not known

    def _take(self, number: int) -> Pick:
        part, (start, end, items) = self._part[number], self._lines[number]
        unit = self._field.unit[part]
        pick = Pick(part, start, end, unit, self._price[number], items)
        self._price[number] = -1.0
        for item in items:
            self._value[item] *= AGAIN
        if unit >= 0 and unit not in self._active:
            self._active.add(unit)
            entry = self._field.entry[unit]
            for other in self._of_unit.pop(unit):  # their lines are cheaper now
                if self._price[other] >= 0:
                    self._price[other] -= entry
                    heapq.heappush(self._queue, (-self._density(other), other))
        return pick
