"""Statements: sentences of prose and single lines, with their terms, and the index of all that the original says."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from compressor.checks._terms import Term, bag, terms
from compressor.guards.negation import Clause, clauses
from compressor.guards.numbers import Number, numbers
from compressor.guards.sentences import sentences
from compressor.model import VISIBLE, Message, Origin, Part, PartType, Role, Session

#: Longer lines are data and no statement.
_LINE: Final = 600
_CLAUSE: Final = re.compile(
    r"[;；，]\s*|[,:]\s+|：\s*|\s(?:and|but|while|und|et|y)\s|但是?|\.\s+(?=[a-z\u4e00-\u9fff])|\s[—–]\s"
)
_STOP: Final = re.compile(
    r"(?<=[\w)\]\"'`%])(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bno)(?<![.\s][A-Za-z])\.\s+(?=[A-Za-z`\"(])"
)
_LEAST: Final = 2
#: So many lines of one tool result are looked at, from each end.
_LINES: Final = 4_000


@dataclass(eq=False)
class Statement:
    """One thing said: `part.text[start:end]`.

    Attributes:
        prose: it is a sentence, not a line of code, output or a list of names.
        parent: the statement of which it is a clause.
    """

    message: Message
    part: Part
    start: int
    end: int
    prose: bool = True
    parent: Statement | None = None

    @cached_property
    def text(self) -> str:
        return self.part.text[self.start : self.end]

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        return terms(self.text)

    @cached_property
    def bag(self) -> frozenset[str]:
        return bag(self.text)

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers(self.text)

    @cached_property
    def clauses(self) -> list[Clause]:
        return clauses(self.text)

    @property
    def speaker(self) -> Origin:
        return self.message.origin


def pieces(statement: Statement) -> list[Statement]:
    """The statement, and its clauses where it has several."""
    text = statement.text
    borders = [m.span() for m in _CLAUSE.finditer(text)]
    if not borders:
        return [statement]
    out = [statement]
    start = 0
    for a, b in (*borders, (len(text), len(text))):
        part = Statement(
            statement.message, statement.part, statement.start + start, statement.start + a, statement.prose, statement
        )
        if a > start and len(part.bag) >= _LEAST:
            out.append(part)
        start = b
    return out


def cut(message: Message, part: Part, *, lines: int = _LINES) -> list[Statement]:
    """The statements of a part: its sentences, and what of its lines no sentence covers (the first and last of many)."""
    text = part.text
    out: list[Statement] = []
    if part.type is PartType.TEXT:
        out = [
            Statement(message, part, start, end) for s in sentences(text) for start, end in _below(text, s.start, s.end)
        ]
    covered = at = 0
    rest: list[Statement] = []
    for line in text.split("\n"):
        stop = at + len(line)
        while covered < len(out) and out[covered].end <= at:
            covered += 1
        if not (covered < len(out) and out[covered].start < stop) and 1 < len(line) <= _LINE and not line.isspace():
            rest.append(Statement(message, part, at, stop, prose=False))
        at = stop + 1
    if len(rest) > 2 * lines:
        rest = rest[:lines] + rest[-lines:]
    return sorted(out + rest, key=lambda s: s.start) if rest else out


def _below(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, cut behind a heading that runs into it, and where the next one begins with a small letter or a name."""
    line = text.rfind("\n", 0, start) + 1
    cut_at = text.find("\n", start, end)
    if cut_at >= 0 and text[line : line + 1] == "#":
        yield start, cut_at
        start = cut_at + 1
    for stop in _STOP.finditer(text, start, end):
        yield start, stop.start() + 1
        start = stop.end()
    yield start, end


@dataclass
class Index:
    """Finds the statements that speak of the same as another one."""

    statements: list[Statement]
    weight: dict[str, float] = field(default_factory=dict)
    _postings: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for i, statement in enumerate(self.statements):
            for term in statement.bag:
                self._postings.setdefault(term, []).append(i)
        total = len(self.statements) + 1
        self.weight = {t: math.log1p(total / len(p)) for t, p in self._postings.items()}
        self.rarest = math.log1p(total)

    def weigh(self, words: Iterable[str]) -> float:
        """How much these words say, by how rare they are; a word that the original never uses says most."""
        get, rare = self.weight.get, self.rarest
        return sum(get(w, rare) for w in words)

    def near(self, words: frozenset[str], most: int = 12) -> list[tuple[float, Statement]]:
        """The statements with the most of these words, best first, with the share of the words' weight."""
        whole = self.weigh(words)
        if not whole:
            return []
        scores: Counter[int] = Counter()
        for word in words:
            found = self._postings.get(word)
            if found and (len(found) < 2_000 or len(words) < 4):
                weight = self.weight[word]
                for i in found:
                    scores[i] += weight  # type: ignore[assignment]
        best = scores.most_common(most * 4)
        ranked = sorted(
            ((score / whole, i) for i, score in best),
            key=lambda x: (-round(x[0] * (0.6 + 0.4 * self._tightness(x[0] * whole, x[1])), 6), x[1]),
        )
        return [(score, self.statements[i]) for score, i in ranked[:most]]

    def _tightness(self, shared: float, i: int) -> float:
        """What share of a statement's own words is shared: a short one on the subject is better than a long one."""
        return shared / (self.weigh(self.statements[i].bag) or 1.0)


def of_session(session: Session, *, spoken: bool = False) -> Iterator[Statement]:
    """Every statement of a session, abandoned branches apart; equal lines of tool output once.

    Args:
        session: the session.
        spoken: only what is said, not calls and their results.
    """
    seen: set[str] = set()
    for message in session.messages:
        if message.abandoned:
            continue
        for part in message.parts:
            if part.type not in VISIBLE or not part.text or (spoken and part.type is not PartType.TEXT):
                continue
            for statement in cut(message, part):
                if not statement.prose:
                    if statement.text in seen:
                        continue
                    seen.add(statement.text)
                yield statement


def is_speech(message: Message) -> bool:
    """Whether a message is what somebody says, not what a tool gives back."""
    return message.role is not Role.TOOL
