"""Settle what is edited to meet the budget: cheapest loss first, oldest first, and no more than is needed.

Three steps. *Open* (`compressor.opening`) decides which parts may be cut at all, until what stays whole leaves room
for the lines worth keeping. *Fill* (`compressor.fill`) chooses those lines. *Materialise* turns a number of chosen
lines into new texts and dropped messages; it can be asked again with another room once the brief's true size is known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compressor.brief import Entry
from compressor.fill import Field, Pick, picks
from compressor.model import Action, Dropped, Edit, Layer, Message, Part, PartType
from compressor.opening import HEADER, SHORT_ARGUMENT, Opened, Opening, Question
from compressor.placeholder import GAP, Span, cleared, merge, shortened

__all__ = ["Outcome", "Plan", "Question"]

#: Tokens of an excerpt's label in the brief.
LABEL: Final = 14.0
#: A call comes back to its place when its kept lines have this many times the tokens of the call itself; fewer lines
#: stand as an excerpt in the brief.
IN_PLACE: Final = 2.0
#: A settled plan is close enough to its room from this share of it on; so many tries it has to get there.
_CLOSE: Final = 0.985
_TRIES: Final = 6


@dataclass(frozen=True, slots=True)
class Outcome:
    """A settled plan, for one room.

    Attributes:
        texts: new text by part ordinal.
        dropped: indexes of the messages that go.
        tokens: of the output's parts, brief apart.
        excerpts: lines kept of units that left, for the brief to show; their tokens are in `tokens`.
        lines: how many of the lines worth keeping it keeps.
    """

    texts: Mapping[int, str]
    dropped: frozenset[int]
    tokens: int
    excerpts: tuple[Entry, ...] = ()
    lines: int = 0


class Plan:
    """The plan of one session; `settle` may be called with several rooms."""

    def __init__(self, question: Question) -> None:
        self._q = question
        self._open = Opening(question)
        self._lines = self._race()
        self._picked: list[Pick] = []
        self._spent = [0.0]

    # -- fill ---------------------------------------------------------------------------------------------

    def _pick(self, room: float) -> None:
        """Pick the lines worth keeping in order of worth: somewhat more of them than there is room for."""
        enough = max(0.0, room - self._open.fixed) * 1.2 + 200
        while self._spent[-1] < enough and (pick := next(self._lines, None)) is not None:
            self._picked.append(pick)
            self._spent.append(self._spent[-1] + pick.cost)

    def _race(self) -> Iterator[Pick]:
        """The lines worth keeping, in order of worth."""
        q = self._q
        compete = [o for o, x in self._open.opened.items() if x.competes]
        if not compete:
            return iter(())
        parts = q.session.parts
        units = {o: q.layers.units[parts[o].message] for o in compete}
        field = Field(
            salience=q.salience,
            texts={o: parts[o].text for o in compete},
            rate={o: q.counts[o] / max(1, len(parts[o].text)) for o in compete},
            unit={o: u if u in self._open.released else -1 for o, u in units.items()},
            entry={u: min(self._entry(u), LABEL) for u in set(units.values())},
            held=self._held(),
            allowed={
                o: q.layers.pasted.get(o) or self._open.opened[o].edit.spans
                for o in compete
                if o in q.layers.pasted or self._open.opened[o].edit.spans
            },
        )
        return picks(field)

    def _entry(self, unit: int) -> float:
        """Tokens that bringing a unit back costs, before any of its lines."""
        cost = float(sum(self._q.frames[m.index] for m in self._open.left(unit)))
        for p in self._open.parts(unit):
            tokens = self._q.counts[p.ordinal]
            if p.type is PartType.TOOL_CALL:
                cost += tokens if len(p.text) <= SHORT_ARGUMENT else HEADER
            elif p.type is PartType.TOOL_RESULT:
                cost += min(HEADER, tokens)
            elif p.type is PartType.TEXT:
                cost += 1
        return cost

    def _held(self) -> set[str]:
        """Items that stand in what stays whole."""
        q = self._q
        held: set[str] = set()
        for m in q.session.messages:
            if m.index in self._open.gone or q.layers.units[m.index] in self._open.released:
                continue
            for p in m.parts:
                if p.ordinal not in self._open.opened:
                    for _, _, items in q.salience.segments.get(p.ordinal, ()):
                        held.update(items)
        return held

    # -- materialise --------------------------------------------------------------------------------------

    def settle(self, room: int) -> Outcome:
        """The outcome that fits into `room` tokens (brief apart) with as many of the chosen lines as possible.

        Estimated costs say how many lines that is; exact counts correct the estimate, a few times at most.
        """
        self._pick(room)
        low, high = 0, len(self._picked)
        scale, best = 1.0, None
        for _ in range(_TRIES):
            lines = min(max(self._affordable(room, scale), low), high)
            outcome = self._outcome(lines)
            if outcome.tokens <= room:
                best, low = outcome, lines
                if lines == high or outcome.tokens >= room * _CLOSE:
                    break
                low += 1
            else:
                high = lines - 1
            if low > high:
                break
            spent = self._spent[lines]
            scale *= max(0.5, min(2.0, (outcome.tokens - self._open.fixed) / spent)) / scale if spent > 0 else 1.0
        return best or self._outcome(0)

    def leaving(self, room: int) -> frozenset[int]:
        """About which messages a settled plan will drop or shorten: what a brief must tell of."""
        self._pick(room)
        lines = self._affordable(room, 1.0)
        back = self._back(self._picked[:lines])
        dropped = {i for u in self._open.released - back for i in self._q.layers.members[u]} | set(self._open.gone)
        return frozenset(dropped | {self._q.session.parts[o].message for o in self._open.opened})

    def _affordable(self, room: float, scale: float) -> int:
        """How many of the chosen lines fit, if they cost `scale` times their estimate."""
        return max(0, bisect_right(self._spent, (room - self._open.fixed) / scale) - 1)

    def _back(self, chosen: Sequence[Pick]) -> set[int]:
        """Units whose kept lines bring them back to their place."""
        worth: dict[int, float] = {}
        for pick in chosen:
            if pick.unit >= 0:
                worth[pick.unit] = worth.get(pick.unit, 0.0) + pick.cost
        return {u for u, tokens in worth.items() if self._comes_back(u, tokens)}

    def _outcome(self, lines: int) -> Outcome:
        q = self._q
        chosen = self._picked[:lines]
        spans: dict[int, list[Span]] = {}
        for pick in chosen:
            spans.setdefault(pick.part, []).append((pick.start, pick.end))
        leaving = self._open.released - self._back(chosen)
        dropped = {i for u in leaving for i in q.layers.members[u]} | set(self._open.gone)
        texts, saved = self._texts(spans, dropped)
        excerpts = tuple(self._excerpts(sorted({p.unit for p in chosen} & leaving), spans))
        tokens = sum(n for i, n in enumerate(self._open.of_message) if i not in dropped)
        tokens += sum(self._q.count(f"- {e.text} [{', '.join(e.sources)}]\n") for e in excerpts) - saved
        return Outcome(texts, frozenset(dropped), tokens, excerpts, lines)

    def _comes_back(self, unit: int, tokens: float) -> bool:
        """Whether the kept lines of a unit are worth the call around them; else they stand in the brief."""
        entry = self._entry(unit)
        return entry <= LABEL or tokens >= IN_PLACE * entry

    def _texts(self, spans: Mapping[int, list[Span]], dropped: set[int]) -> tuple[dict[int, str], int]:
        """New texts of the opened parts that stay, and the tokens that they save."""
        q = self._q
        texts: dict[int, str] = {}
        saved = 0
        for ordinal, opened in self._open.opened.items():
            part = q.session.parts[ordinal]
            if part.message in dropped:
                continue
            text = self._text(part, opened, spans.get(ordinal, []))
            if text is None:
                continue
            gain = q.counts[ordinal] - self._q.count(text)
            if gain > 0 or part.type is PartType.IMAGE:
                texts[ordinal] = text
                saved += gain
        return texts, saved

    def _excerpts(self, units: Sequence[int], spans: Mapping[int, list[Span]]) -> Iterator[Entry]:
        """The kept lines of units that leave: one entry a unit, labelled with the call."""
        for unit in units:
            parts = list(self._open.parts(unit))
            said = [
                f" {GAP} ".join(p.text[a:b].strip() for a, b in merge(spans[p.ordinal]))
                for p in parts
                if p.ordinal in spans
            ]
            label = self._label(parts, {p.ordinal for p in parts if p.ordinal in spans})
            source = self._q.session.messages[self._q.layers.members[unit][0]].index
            yield Entry(f"{label}{f' {GAP} '.join(said)}", (f"#{source}",))

    @staticmethod
    def _label(parts: Sequence[Part], told: set[int]) -> str:
        """The tool and its first short argument, unless the lines tell that themselves."""
        call = next((p for p in parts if p.type is PartType.TOOL_CALL), None)
        if call is None:
            return ""
        short = next((p.text for p in parts if p.type is PartType.TOOL_CALL and 0 < len(p.text) <= 80), "")
        argument = "" if call.ordinal in told or "\n" in short else f" {short}"
        return f"{call.name}{argument}: "

    def _text(self, part: Part, opened: Opened, spans: list[Span]) -> str | None:
        """The new text of an opened part; None: it stays as it is."""
        why = opened.edit.placeholder if opened.edit.action is Action.CLEAR else ""
        if part.type is PartType.IMAGE:
            return f"[image: {part.text}]"
        keep = opened.forced + spans
        if part.type is PartType.TEXT:
            return shortened(part.text, keep)
        if part.type is PartType.TOOL_CALL and len(part.text) <= SHORT_ARGUMENT:
            return None
        name = part.name or "tool"
        return cleared(part.text, keep, name if part.type is PartType.TOOL_RESULT else part.key or name, why)

    def taken(self, outcome: Outcome) -> dict[int, Edit]:
        """The edits that an outcome takes, by part ordinal."""
        parts, dropped = self._q.session.parts, outcome.dropped
        return {o: x.edit for o, x in self._open.opened.items() if o in outcome.texts or parts[o].message in dropped}

    def gone(self, outcome: Outcome) -> Iterator[Dropped]:
        """What is not in the output, with the reason."""
        q, texts, dropped = self._q, outcome.texts, outcome.dropped
        for m in q.session.messages:
            if m.index in dropped:
                yield self._gone_message(m)
                continue
            for p in m.parts:
                if p.ordinal in texts:
                    edit = self._open.opened[p.ordinal].edit
                    left = q.counts[p.ordinal] - self._q.count(texts[p.ordinal])
                    told = edit.action is Action.CLEAR and edit.placeholder
                    reason = told or "shortened to the lines worth keeping"
                    yield Dropped(m.id, m.line, q.layers.layer[p.ordinal].value, reason, left, edit.rule)

    def kept(self, outcome: Outcome) -> set[str]:
        """The hard items that stand in the output, brief apart: of whole parts, of facts' lines, of picked lines."""
        q = self._q
        held = {item for pick in self._picked[: outcome.lines] for item in pick.items}
        for m in q.session.messages:
            if m.index in outcome.dropped:
                continue
            for p in m.parts:
                segments = q.salience.segments.get(p.ordinal, ())
                if p.ordinal in outcome.texts:
                    forced = self._open.opened[p.ordinal].forced
                    segments = [s for s in segments if any(a <= s[0] and s[1] <= b for a, b in forced)]
                for _, _, items in segments:
                    held.update(items)
        return held

    def _gone_message(self, m: Message) -> Dropped:
        q = self._q
        tokens = self._open.of_message[m.index]
        reason = self._open.gone.get(m.index, "told by the brief")
        rule = next((self._open.opened[p.ordinal].edit.rule for p in m.parts if p.ordinal in self._open.opened), "")
        layer = q.layers.layer[m.parts[0].ordinal].value if m.parts else Layer.NOTE.value
        return Dropped(m.id, m.line, layer, reason, tokens, rule)
