"""Settle what is edited to meet the budget: cheapest loss first, oldest first, and no more than is needed.

Three steps. *Open* decides which parts may be cut at all (what costs nothing first, then old tool results, then old
notes and call arguments, then the hard cuts), until what stays whole leaves room for the lines worth keeping. *Fill*
(`compressor.fill`) chooses those lines. *Materialise* turns a number of chosen lines into new texts and dropped
messages; it can be asked again with another room once the brief's true size is known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from compressor.brief import Entry
from compressor.fill import Field, Pick, picks
from compressor.layers import Layers
from compressor.model import (
    VISIBLE,
    Action,
    Dropped,
    Edit,
    Fact,
    Layer,
    Loss,
    Message,
    Origin,
    Part,
    PartType,
    Role,
    Session,
)
from compressor.placeholder import GAP, Span, cleared, merge, shortened
from compressor.salience import SEGMENT, Salience

#: Results of at most this many characters stay as they are.
SHORT: Final = 100
#: Arguments of at most this many characters stay whole when their call stays.
SHORT_ARGUMENT: Final = 240
#: Share of the target that what stays whole leaves free for single lines.
LINES: Final = 0.65
#: When what must stay takes more than this share of the room, older conclusions are shortened too.
FULL: Final = 0.8
#: Tokens of a placeholder's first line.
HEADER: Final = 12.0
#: Tokens of an excerpt's label in the brief.
LABEL: Final = 14.0
#: A call comes back to its place when its kept lines have this many times the tokens of the call itself; fewer lines
#: stand as an excerpt in the brief.
IN_PLACE: Final = 2.0
#: A settled plan is close enough to its room from this share of it on; so many tries it has to get there.
_CLOSE: Final = 0.985
_TRIES: Final = 6


@dataclass(frozen=True, slots=True)
class Question:
    """What the plan is asked.

    Attributes:
        counts: tokens by part ordinal.
        frames: tokens of the frames of its calls, by message index.
        facts: the ledger; facts without a part stand nowhere and are carried by the brief.
        edits: proposals of the edit rules.
        target: tokens of the output's live context, brief included.
        brief: tokens set aside for the brief.
        frozen: ordinals that must stay as they are (edits taken back).
        hard: the live context is above the hard mark: hard cuts come first.
        replace_summaries: the tool's own summaries are replaced by our brief.
    """

    session: Session
    layers: Layers
    counts: Sequence[int]
    frames: Sequence[int]
    facts: Sequence[Fact]
    edits: Sequence[Edit]
    salience: Salience
    target: int
    brief: int
    count: Callable[[str], int]
    frozen: frozenset[int] = frozenset()
    hard: bool = False
    replace_summaries: bool = True


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


@dataclass(slots=True)
class _Open:
    """A part that may be cut: by which edit, what is left of its tokens, and which stretches must stay (facts)."""

    edit: Edit
    competes: bool
    rest: float = 0.0
    forced: list[Span] = field(default_factory=list)


class Plan:
    """The plan of one session; `settle` may be called with several rooms."""

    def __init__(self, question: Question) -> None:
        self._q = question
        self._opened: dict[int, _Open] = {}
        self._gone_messages: dict[int, str] = {}
        self._released: set[int] = set()
        self._losers: dict[int, Edit] = {}
        self._facts_of: dict[int, list[Fact]] = {}
        for fact in question.facts:
            if fact.part >= 0:
                self._facts_of.setdefault(fact.part, []).append(fact)
        self._drop_what_nobody_reads()
        counts = question.counts
        self._of_message = [
            sum((counts[p.ordinal] for p in m.parts if p.type in VISIBLE), question.frames[m.index])
            for m in question.session.messages
        ]
        self._fixed = float(sum(n for i, n in enumerate(self._of_message) if i not in self._gone_messages))
        self._open_up()
        self._lines = self._race()
        self._picked: list[Pick] = []
        self._spent = [0.0]

    # -- open ---------------------------------------------------------------------------------------------

    def _drop_what_nobody_reads(self) -> None:
        """Abandoned messages, inner steps of a sub-agent, and summaries whose originals stand here."""
        q = self._q
        messages = q.session.messages
        self._gone_messages.update((m.index, "abandoned branch") for m in messages if m.abandoned)
        for unit in q.layers.members:
            left = [messages[i] for i in unit if i not in self._gone_messages]
            if any(p.ordinal in q.frozen for m in left for p in m.parts):
                continue
            if all(m.sidechain for m in left):
                reason = "inner step of a sub-agent whose return stands"
            elif q.replace_summaries and all(m.generation > 0 and not m.opaque for m in left):
                reason = "summary replaced by a brief made from the originals"
            else:
                continue
            self._gone_messages.update((m.index, reason) for m in left)

    def _left(self, unit: int) -> Iterator[Message]:
        """The messages of a unit that are not gone anyway."""
        return (self._q.session.messages[i] for i in self._q.layers.members[unit] if i not in self._gone_messages)

    def _open_up(self) -> None:
        """Open parts, cheapest loss first, until enough is free."""
        q = self._q
        by_loss: dict[Loss, list[Edit]] = {loss: [] for loss in Loss}
        for edit in sorted(q.edits, key=lambda e: e.part):
            by_loss[edit.loss].append(edit)
        room = q.target - q.brief
        if q.hard:
            self._open_all(by_loss[Loss.HARD], room, last=False)
        self._open_all(by_loss[Loss.NONE], room, last=False)
        self._open_all(by_loss[Loss.RESULTS], room * (1 - LINES), last=False)
        self._open_all(by_loss[Loss.NOTES], room * (1 - LINES), last=False)
        # context that the harness keeps elsewhere goes before anything that stands nowhere else
        context = [e for e in by_loss[Loss.HARD] if self._is_regainable(e.part)]
        self._open_all(context, room * (1 - LINES), last=True)
        self._open_all(by_loss[Loss.HARD], room * FULL, last=True)

    def _open_all(self, edits: Sequence[Edit], enough: float, *, last: bool) -> None:
        for edit in edits:
            image = self._q.session.parts[edit.part].type is PartType.IMAGE  # costs no tokens, only bytes
            if self._fixed <= enough and not image:
                self._losers.setdefault(edit.part, edit)
            elif edit.part not in self._opened and self._editable(self._q.session.parts[edit.part], last=last):
                self._open(edit)

    def _editable(self, part: Part, *, last: bool) -> bool:
        """Whether an edit may touch a part; as the last resort also a conclusion, but not the newest."""
        q = self._q
        message = q.session.messages[part.message]
        if part.ordinal in q.frozen or message.opaque or message.index in self._gone_messages:
            return False
        if part.ordinal in q.layers.pasted or (last and self._is_regainable(part.ordinal)):
            return True
        if message.index in q.layers.head or message.index in q.layers.tail or part.type not in _CUTTABLE:
            return False
        layer = q.layers.layer[part.ordinal]
        if layer is Layer.CONCLUSION:
            return last and part.ordinal != self._newest_conclusion
        return layer in (Layer.TOOL_RESULT, Layer.NOTE)

    def _is_regainable(self, ordinal: int) -> bool:
        q = self._q
        return q.session.messages[q.session.parts[ordinal].message].regainable

    @cached_property
    def _newest_conclusion(self) -> int:
        layer = self._q.layers.layer
        return max((o for o in range(len(layer)) if layer[o] is Layer.CONCLUSION), default=-1)

    def _open(self, edit: Edit) -> None:
        q = self._q
        part = q.session.parts[edit.part]
        tokens = q.counts[part.ordinal]
        pasted = q.layers.pasted.get(part.ordinal)
        if part.type is PartType.IMAGE:
            self._opened[part.ordinal] = _Open(edit, competes=False)
            return
        if part.type is PartType.TOOL_RESULT and len(part.text) <= SHORT:
            return
        opened = _Open(edit, competes=not (edit.loss is Loss.NONE and not edit.spans))
        opened.forced = self._forced(part, edit, pasted)
        kept = sum(b - a for a, b in opened.forced) / max(1, len(part.text)) * tokens
        cost = kept + (0 if part.type is PartType.TEXT else HEADER)
        if cost >= tokens and edit.loss is not Loss.NOTES:
            return
        opened.rest = min(cost, tokens)
        self._opened[part.ordinal] = opened
        self._fixed -= tokens - opened.rest
        self._release(q.layers.units[part.message])

    def _forced(self, part: Part, edit: Edit, pasted: tuple[Span, ...] | None) -> list[Span]:
        """What of the part must stay: the lines of its facts, and all that the edit does not cover."""
        spans = [_lines(part.text, f.start, f.end) for f in self._facts_of.get(part.ordinal, ())]
        cut = edit.spans or ((0, len(part.text)),)
        if pasted is not None:
            cut = pasted
        position = 0
        for a, b in cut:
            if part.text[position:a].strip():
                spans.append((position, a))
            position = b
        if part.text[position:].strip():
            spans.append((position, len(part.text)))
        return spans

    def _release(self, unit: int) -> None:
        """A unit all of whose parts are open (or short) may leave as a whole, if it holds no fact."""
        q = self._q
        if unit in self._released:
            return
        for m in self._left(unit):
            if m.role is Role.SYSTEM or m.origin is Origin.PERSON or m.opaque or m.pinned:
                return
            if m.index in q.layers.head or m.index in q.layers.tail:
                return
            if any(not self._may_leave(p) for p in m.parts):
                return
        self._released.add(unit)
        self._fixed -= sum(q.frames[m.index] for m in self._left(unit))
        for p in self._parts(unit):
            opened = self._opened.get(p.ordinal)
            if opened is not None:
                self._fixed -= opened.rest
            elif p.type in VISIBLE:
                self._fixed -= q.counts[p.ordinal]

    def _may_leave(self, part: Part) -> bool:
        if part.ordinal in self._q.frozen or part.ordinal in self._facts_of:
            return False
        if part.type not in VISIBLE or part.ordinal in self._opened:
            return True
        return part.type is PartType.TOOL_RESULT and len(part.text) <= SHORT or not part.text.strip()

    def _parts(self, unit: int) -> Iterator[Part]:
        for m in self._left(unit):
            yield from m.parts

    # -- fill ---------------------------------------------------------------------------------------------

    def _pick(self, room: float) -> None:
        """Pick the lines worth keeping in order of worth: somewhat more of them than there is room for."""
        enough = max(0.0, room - self._fixed) * 1.2 + 200
        while self._spent[-1] < enough and (pick := next(self._lines, None)) is not None:
            self._picked.append(pick)
            self._spent.append(self._spent[-1] + pick.cost)

    def _race(self) -> Iterator[Pick]:
        """The lines worth keeping, in order of worth."""
        q = self._q
        compete = [o for o, x in self._opened.items() if x.competes]
        if not compete:
            return iter(())
        parts = q.session.parts
        units = {o: q.layers.units[parts[o].message] for o in compete}
        field = Field(
            salience=q.salience,
            texts={o: parts[o].text for o in compete},
            rate={o: q.counts[o] / max(1, len(parts[o].text)) for o in compete},
            unit={o: u if u in self._released else -1 for o, u in units.items()},
            entry={u: min(self._entry(u), LABEL) for u in set(units.values())},
            held=self._held(),
            allowed={
                o: q.layers.pasted.get(o) or self._opened[o].edit.spans
                for o in compete
                if o in q.layers.pasted or self._opened[o].edit.spans
            },
        )
        return picks(field)

    def _entry(self, unit: int) -> float:
        """Tokens that bringing a unit back costs, before any of its lines."""
        cost = float(sum(self._q.frames[m.index] for m in self._left(unit)))
        for p in self._parts(unit):
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
            if m.index in self._gone_messages or q.layers.units[m.index] in self._released:
                continue
            for p in m.parts:
                if p.ordinal not in self._opened:
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
            scale *= max(0.5, min(2.0, (outcome.tokens - self._fixed) / spent)) / scale if spent > 0 else 1.0
        return best or self._outcome(0)

    def leaving(self, room: int) -> frozenset[int]:
        """About which messages a settled plan will drop or shorten: what a brief must tell of."""
        self._pick(room)
        lines = self._affordable(room, 1.0)
        back = self._back(self._picked[:lines])
        dropped = {i for u in self._released - back for i in self._q.layers.members[u]} | set(self._gone_messages)
        return frozenset(dropped | {self._q.session.parts[o].message for o in self._opened})

    def _affordable(self, room: float, scale: float) -> int:
        """How many of the chosen lines fit, if they cost `scale` times their estimate."""
        return max(0, bisect_right(self._spent, (room - self._fixed) / scale) - 1)

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
        leaving = self._released - self._back(chosen)
        dropped = {i for u in leaving for i in q.layers.members[u]} | set(self._gone_messages)
        texts, saved = self._texts(spans, dropped)
        excerpts = tuple(self._excerpts(sorted({p.unit for p in chosen} & leaving), spans))
        tokens = sum(n for i, n in enumerate(self._of_message) if i not in dropped)
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
        for ordinal, opened in self._opened.items():
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
            parts = list(self._parts(unit))
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

    def _text(self, part: Part, opened: _Open, spans: list[Span]) -> str | None:
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
        return {o: x.edit for o, x in self._opened.items() if o in outcome.texts or parts[o].message in dropped}

    def gone(self, outcome: Outcome) -> Iterator[Dropped]:
        """What is not in the output, with the reason."""
        q, texts, dropped = self._q, outcome.texts, outcome.dropped
        for m in q.session.messages:
            if m.index in dropped:
                yield self._gone_message(m)
                continue
            for p in m.parts:
                if p.ordinal in texts:
                    edit = self._opened[p.ordinal].edit
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
                    forced = self._opened[p.ordinal].forced
                    segments = [s for s in segments if any(a <= s[0] and s[1] <= b for a, b in forced)]
                for _, _, items in segments:
                    held.update(items)
        return held

    def _gone_message(self, m: Message) -> Dropped:
        q = self._q
        tokens = self._of_message[m.index]
        reason = self._gone_messages.get(m.index, "told by the brief")
        rule = next((self._opened[p.ordinal].edit.rule for p in m.parts if p.ordinal in self._opened), "")
        layer = q.layers.layer[m.parts[0].ordinal].value if m.parts else Layer.NOTE.value
        return Dropped(m.id, m.line, layer, reason, tokens, rule)

    @property
    def losers(self) -> Iterable[Edit]:
        """Edits that were proposed and not needed."""
        return [e for o, e in self._losers.items() if o not in self._opened]

    @property
    def fixed(self) -> float:
        """Tokens of what must stay whole, as estimated."""
        return self._fixed


_CUTTABLE: Final = VISIBLE | {PartType.IMAGE}
#: Where a sentence ends inside a line.
_STOPS: Final = (". ", "! ", "? ", "。", "！", "？", "；")


def _lines(text: str, start: int, end: int) -> Span:
    """The whole lines around a stretch; of a very long line the sentence, or as much of it as is readable."""
    a = text.rfind("\n", 0, start) + 1
    b = text.find("\n", end)
    b = len(text) if b < 0 else b
    if b - a <= end - start + SEGMENT:
        return a, b
    before = [text.rfind(stop, a, start) + len(stop) for stop in _STOPS if stop in text[a:start]]
    after = [i + len(stop.rstrip()) for stop in _STOPS if (i := text.find(stop, max(start, end - 1), b)) >= 0]
    first, last = max(before, default=a), min(after, default=b)
    if start - first > SEGMENT // 2:
        first = text.find(" ", start - SEGMENT // 2, start) + 1 or start
    if last - end > SEGMENT // 2:
        last = max(text.rfind(" ", end, end + SEGMENT // 2), end)
    return first, last
