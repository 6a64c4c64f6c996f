"""Decide which parts of a session may be cut at all: cheapest loss first, oldest first, and no more than is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from compressor.layers import Layers
from compressor.model import VISIBLE, Edit, Fact, Layer, Loss, Message, Origin, Part, PartType, Role, Session
from compressor.placeholder import Span
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
_CUTTABLE: Final = VISIBLE | {PartType.IMAGE}
#: Where a sentence ends inside a line.
_STOPS: Final = (". ", "! ", "? ", "。", "！", "？", "；")


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
    hard: bool = False
    replace_summaries: bool = True


@dataclass(slots=True)
class Opened:
    """A part that may be cut: by which edit, what is left of its tokens, and which stretches must stay (facts)."""

    edit: Edit
    competes: bool
    rest: float = 0.0
    forced: list[Span] = field(default_factory=list)


class Opening:
    """What may be cut, and what must stay.

    Attributes:
        opened: the parts that may be cut, by ordinal.
        gone: reason by index of each message that nobody reads any more.
        released: units that may leave as a whole.
        of_message: tokens by message index.
        fixed: tokens of what must stay whole, as estimated.
    """

    def __init__(self, question: Question) -> None:
        self._q = question
        self.opened: dict[int, Opened] = {}
        self.gone: dict[int, str] = {}
        self.released: set[int] = set()
        self._facts_of: dict[int, list[Fact]] = {}
        for fact in question.facts:
            if fact.part >= 0:
                self._facts_of.setdefault(fact.part, []).append(fact)
        self._drop_what_nobody_reads()
        counts = question.counts
        self.of_message = [
            sum((counts[p.ordinal] for p in m.parts if p.type in VISIBLE), question.frames[m.index])
            for m in question.session.messages
        ]
        self.fixed = float(sum(n for i, n in enumerate(self.of_message) if i not in self.gone))
        self._open_up()

    def _drop_what_nobody_reads(self) -> None:
        """Abandoned messages, inner steps of a sub-agent, and summaries whose originals stand here."""
        q = self._q
        messages = q.session.messages
        self.gone.update((m.index, "abandoned branch") for m in messages if m.abandoned)
        for unit in q.layers.members:
            left = [messages[i] for i in unit if i not in self.gone]
            if all(m.sidechain for m in left):
                reason = "inner step of a sub-agent whose return stands"
            elif q.replace_summaries and all(m.generation > 0 and not m.opaque for m in left):
                reason = "summary replaced by a brief made from the originals"
            else:
                continue
            self.gone.update((m.index, reason) for m in left)

    def left(self, unit: int) -> Iterator[Message]:
        """The messages of a unit that are not gone anyway."""
        return (self._q.session.messages[i] for i in self._q.layers.members[unit] if i not in self.gone)

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
            if self.fixed <= enough and not image:
                continue
            if edit.part not in self.opened and self._editable(self._q.session.parts[edit.part], last=last):
                self._open(edit)

    def _editable(self, part: Part, *, last: bool) -> bool:
        """Whether an edit may touch a part; as the last resort also a conclusion, but not the newest."""
        q = self._q
        message = q.session.messages[part.message]
        if message.opaque or message.index in self.gone:
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
            self.opened[part.ordinal] = Opened(edit, competes=False)
            return
        if part.type is PartType.TOOL_RESULT and len(part.text) <= SHORT:
            return
        opened = Opened(edit, competes=not (edit.loss is Loss.NONE and not edit.spans))
        opened.forced = self._forced(part, edit, pasted)
        kept = sum(b - a for a, b in opened.forced) / max(1, len(part.text)) * tokens
        cost = kept + (0 if part.type is PartType.TEXT else HEADER)
        if cost >= tokens and edit.loss is not Loss.NOTES:
            return
        opened.rest = min(cost, tokens)
        self.opened[part.ordinal] = opened
        self.fixed -= tokens - opened.rest
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
        if unit in self.released:
            return
        for m in self.left(unit):
            if m.role is Role.SYSTEM or m.origin is Origin.PERSON or m.opaque or m.pinned:
                return
            if m.index in q.layers.head or m.index in q.layers.tail:
                return
            if any(not self._may_leave(p) for p in m.parts):
                return
        self.released.add(unit)
        self.fixed -= sum(q.frames[m.index] for m in self.left(unit))
        for p in self.parts(unit):
            opened = self.opened.get(p.ordinal)
            if opened is not None:
                self.fixed -= opened.rest
            elif p.type in VISIBLE:
                self.fixed -= q.counts[p.ordinal]

    def _may_leave(self, part: Part) -> bool:
        if part.ordinal in self._facts_of:
            return False
        if part.type not in VISIBLE or part.ordinal in self.opened:
            return True
        return part.type is PartType.TOOL_RESULT and len(part.text) <= SHORT or not part.text.strip()

    def parts(self, unit: int) -> Iterator[Part]:
        for m in self.left(unit):
            yield from m.parts


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
