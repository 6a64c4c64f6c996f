"""Which numbers and names of the new text stand where the original has others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from compressor.checks._compared import Compared, error, shown, where
from compressor.checks._counts import is_count, is_listed
from compressor.checks._mentions import Mention, around, mentions, own
from compressor.checks._names import Names
from compressor.checks._names import names as known_names
from compressor.checks._statements import Statement
from compressor.model import Finding

#: A statement on the same subject shares at least this much of the words' weight.
_SUBJECT: Final = 0.45
#: For two mentions that changed places, both of them in one statement of the original, less is enough.
_RELATED: Final = 0.2
#: A mention is replaced when another one fits its place at least this well, and better than itself by so much.
_FITS: Final = 0.60
_BETTER: Final = 0.25
_SLIGHTLY: Final = 0.12
_EXCHANGE: Final = 0.5
#: Symbols stand beside each other in many orders: neither may fit where it is, and both must fit the other place.
_SLIGHT, _PLAIN = 0.2, 1.6
#: A word on the other side of a mention counts less.
_OTHER_SIDE: Final = 0.7
#: Alone, a replaced name is enough when it fits at least this well, in statements that are the same otherwise.
_SURE: Final = 0.80
_SURER: Final = 0.40
_TIGHT: Final = 0.70
_NAMED: Final = frozenset({"number", "name", "path", "id", "url"})
#: Names that code writes in any order: a brief of our own, cut from its sources, is not searched for exchanged ones.
_LOOSE: Final = frozenset({"symbol", "flag"})
_LEAST_WORDS: Final = 2


@dataclass(frozen=True, eq=False)
class Replaced:
    """A mention of the output, and the one that stands there in the original.

    Attributes:
        fit: how well the original's mention fits the place.
        support: how well the mention itself fits the best of its places in the original.
        tight: share of the original statement's words that the output's statement has.
    """

    mention: Mention
    original: Mention
    fit: float
    support: float
    tight: float
    exchanged: bool = False

    @property
    def is_clear(self) -> bool:
        """Whether it says enough alone; of two that changed places one may be less clear."""
        return self.exchanged or self.fit - self.support >= _BETTER


def replaced(compared: Compared) -> list[Replaced]:
    """All replaced mentions of the new text."""
    known = compared.comparison.shared.get("replaced")
    if known is None:
        found = [r for s in compared.claims for r in _of(s, compared)]
        clear = {(r.mention.key, r.original.key) for r in found if r.is_clear}
        pairs = {(r.mention.key, r.original.key) for r in found}
        known = [
            r
            for r in found
            if (r.original.key, r.mention.key) in (pairs if r.is_clear else clear)
            or (r.is_clear and _is_certain(r, compared))
        ]
        compared.comparison.shared["replaced"] = known
    assert isinstance(known, list)
    return known


def _is_certain(found: Replaced, compared: Compared) -> bool:
    """Whether one replaced mention alone is enough: a value that is new, or all but the mention is as it was."""
    if found.exchanged:
        return True
    mention = found.mention
    number = mention.number
    is_alike = found.fit >= _SURE and found.tight >= _TIGHT
    if number is not None and not compared.has_number(number, mention.statement):
        # all but the number is as it was: nobody has counted anew
        is_other = found.fit >= _SURE and number.kind == "count" and _is_other_count(found, compared)
        return is_alike or is_other or not is_count(number, mention.statement, compared)
    if number is not None and is_listed(number, mention.statement):
        return False
    if number is not None and number.kind == "count" and _is_other_count(found, compared):
        return True
    return (
        mention.family in _NAMED and is_alike and found.support <= found.fit - _SURER
    )  # fmt: skip


def _is_other_count(found: Replaced, compared: Compared) -> bool:
    """The original counts these things, and nowhere comes to this number."""
    mine, theirs = found.mention.number, found.original.number
    if mine is None or theirs is None or not mine.unit or mine.unit != theirs.unit:
        return False
    return not any(n.unit == mine.unit and n.value == mine.value for n, _ in compared.prose_numbers)


def _of(statement: Statement, compared: Compared) -> Iterator[Replaced]:
    names = known_names(compared)
    mine = mentions(statement, names)
    judged = [m for m in mine if m.family not in _LOOSE or not compared.comparison.ours]
    if not judged:
        return
    whole = _near(_words(statement, mine), statement, names, compared)
    for mention in judged:
        clause = frozenset(w for side in around(mention) for w in side) - {t[2] for t in own(mention)}
        theirs = {id(o): (n, o, others) for n, o, others in whole}
        for n, o, others in _near(clause, statement, names, compared):
            theirs[id(o)] = (max(n, theirs[id(o)][0]) if id(o) in theirs else n, o, others)
        found = _replaced(mention, mine, list(theirs.values()), compared)
        if found is not None:
            yield found


Near = list[tuple[float, Statement, list[Mention]]]


def _near(words: frozenset[str], statement: Statement, names: Names, compared: Compared) -> Near:
    """The statements of the original on these words, with what they mention."""
    if len(words) < _LEAST_WORDS:
        return []
    return [(n, o, mentions(o, names)) for n, o in compared.evidence(statement, words) if n >= _RELATED]


def _words(statement: Statement, mine: list[Mention]) -> frozenset[str]:
    """The words of a statement apart from what it mentions; where these are too few, apart from its numbers."""
    words = statement.bag - {t[2] for m in mine for t in own(m)}
    if len(words) >= _LEAST_WORDS:
        return words
    return statement.bag - {t[2] for m in mine if m.number is not None for t in own(m)}


def _replaced(
    mention: Mention, mine: list[Mention], theirs: list[tuple[float, Statement, list[Mention]]], compared: Compared
) -> Replaced | None:
    support = 0.0
    rivals: list[tuple[float, int, Mention]] = []
    for i, (score, _, others) in enumerate(theirs):
        for other in others:
            if mention.is_same(other):
                support = max(support, _fit(mention, other, score, compared))
            elif mention.may_replace(other):
                rivals.append((_fit(mention, other, score, compared), i, other))
    rivals.sort(key=lambda r: -r[0])
    for fit, i, rival in rivals:
        twin = next((m for m in mine if m is not mention and m.is_same(rival)), None)
        if twin is not None and _changed_places(mention, twin, rival, theirs[i][2], compared):
            return Replaced(mention, rival, fit, support, 1.0, exchanged=True)
    told = [
        any(o.is_same(mention) for o in others) and any(m.is_same(o) for m in mine for o in others if m is not mention)
        for _, _, others in theirs
    ]
    rest = [r for r in rivals if theirs[r[1]][0] >= _SUBJECT and not told[r[1]]]
    if not rest or rest[0][0] < _FITS or rest[0][0] - support < _SLIGHTLY:
        return None
    fit, i, rival = rest[0]
    return Replaced(mention, rival, fit, support, _tight(mention.statement, mine, theirs[i][1], theirs[i][2], compared))


def _tight(
    statement: Statement, mine: list[Mention], other: Statement, others: list[Mention], compared: Compared
) -> float:
    theirs = _words(other, others)
    whole = compared.weigh(theirs)
    return compared.weigh(theirs & _words(statement, mine)) / whole if whole else 0.0


def _changed_places(mention: Mention, twin: Mention, rival: Mention, there: list[Mention], compared: Compared) -> bool:
    """Whether two mentions stand, each, where the original has the other."""
    others = [o for o in there if o.is_same(mention)]
    if not others:
        return False
    both = _words_around(mention) & _words_around(twin)
    crossed = _local(mention, rival, compared, both) + max(_local(twin, o, compared, both) for o in others)
    straight = max(_local(mention, o, compared, both) for o in others) + _local(twin, rival, compared, both)
    if mention.family == "symbol":
        told = min(len(_words_around(m) - both) for m in (mention, twin))
        return told >= _LEAST_WORDS and straight <= _SLIGHT and crossed >= _PLAIN
    return crossed - straight >= _EXCHANGE


def _words_around(mention: Mention) -> frozenset[str]:
    return frozenset(w for side in around(mention) for w in side)


def _fit(mention: Mention, other: Mention, score: float, compared: Compared) -> float:
    """How well a mention of the original fits the place of one of the output."""
    return 0.5 * score + 0.5 * _local(mention, other, compared)


def _local(mention: Mention, other: Mention, compared: Compared, without: frozenset[str] = frozenset()) -> float:
    """The share of the words around one mention that stand around the other, on the same side above all."""
    here, there = around(mention), around(other)
    whole = got = 0.0
    for side in (0, 1):
        for distance, word in enumerate(w for w in here[side] if w not in without):
            weight = compared.weigh((word,)) / (1 + 0.5 * distance)
            whole += weight
            if word in there[side]:
                got += weight
            elif word in there[1 - side]:
                got += _OTHER_SIDE * weight
    return got / whole if whole else 0.0


def report(found: Replaced, compared: Compared) -> Finding:
    """The finding: both words, both places, both statements."""
    there, here = found.original, found.mention
    what = "exchanged" if found.exchanged else "replaced" if here.number is None else "changed"
    place = where(there.statement.message)
    message = (
        f'{what}: "{shown(there.text)}" in the original ({place}: {shown(there.statement.text)}) '
        f'reads "{shown(here.text)}" here: {shown(here.statement.text)}'
    )
    return error(message, there.text, compared.place(here.statement))
