"""Which numbers and names of the new text stand where the original has others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from compressor.checks._compared import Compared, error, shown, where
from compressor.checks._mentions import Mention, around, mentions, own, proper_names
from compressor.checks._statements import Statement
from compressor.model import Finding

#: A statement on the same subject shares at least this much of the words' weight.
_SUBJECT: Final = 0.45
#: A mention is replaced when another one fits its place at least this well, and better than itself by so much.
_FITS: Final = 0.60
_BETTER: Final = 0.25
_EXCHANGE: Final = 0.35
#: Alone, a replaced name is enough when it fits at least this well, in statements that are the same otherwise.
_SURE: Final = 0.80
_SURER: Final = 0.40
_TIGHT: Final = 0.70
_NAMED: Final = frozenset({"number", "name", "path", "id", "url"})
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


def replaced(compared: Compared) -> list[Replaced]:
    """All replaced mentions of the new text."""
    known = compared.comparison.shared.get("replaced")
    if known is None:
        found = [r for s in compared.new for r in _of(s, compared)]
        pairs = {(r.mention.key, r.original.key) for r in found}
        known = [r for r in found if (r.original.key, r.mention.key) in pairs or _is_certain(r, compared)]
        compared.comparison.shared["replaced"] = known
    assert isinstance(known, list)
    return known


def _is_certain(found: Replaced, compared: Compared) -> bool:
    """Whether one replaced mention alone is enough: a value that is new, or all but the mention is as it was."""
    if found.exchanged:
        return True
    mention = found.mention
    if mention.number is not None and not compared.has_number(mention.number):
        return True
    return (
        mention.family in _NAMED and found.fit >= _SURE and found.tight >= _TIGHT and found.support <= found.fit - _SURER
    )  # fmt: skip


def _of(statement: Statement, compared: Compared) -> Iterator[Replaced]:
    names = proper_names(compared)
    mine = mentions(statement, names)
    if not mine:
        return
    words = _words(statement, mine)
    if len(words) < _LEAST_WORDS:
        return
    near = [(n, o) for n, o in compared.evidence(statement, words) if n >= _SUBJECT]
    theirs = [(n, o, mentions(o, names)) for n, o in near]
    for mention in mine:
        found = _replaced(mention, mine, theirs, compared)
        if found is not None:
            yield found


def _words(statement: Statement, mine: list[Mention]) -> frozenset[str]:
    return statement.bag - {t[2] for m in mine for t in own(m)}


def _replaced(
    mention: Mention, mine: list[Mention], theirs: list[tuple[float, Statement, list[Mention]]], compared: Compared
) -> Replaced | None:
    support, best, rival, tight = 0.0, 0.0, None, 0.0
    for score, statement, others in theirs:
        for other in others:
            if mention.is_same(other):
                support = max(support, _fit(mention, other, score, compared))
            elif mention.may_replace(other):
                fit = _fit(mention, other, score, compared)
                if fit > best:
                    best, rival = fit, other
                    tight = _tight(mention.statement, mine, statement, others, compared)
    if rival is None or best < _FITS:
        return None
    twin = next((m for m in mine if m is not mention and m.is_same(rival)), None)
    found = Replaced(mention, rival, best, support, tight, exchanged=twin is not None)
    if twin is None:
        return found if best - support >= _BETTER else None
    return found if best - support >= _EXCHANGE and _stands_for(mention, twin, rival, compared) else None


def _tight(
    statement: Statement, mine: list[Mention], other: Statement, others: list[Mention], compared: Compared
) -> float:
    theirs = _words(other, others)
    whole = compared.index.weigh(theirs)
    return compared.index.weigh(theirs & _words(statement, mine)) / whole if whole else 0.0


def _stands_for(mention: Mention, twin: Mention, rival: Mention, compared: Compared) -> bool:
    """Whether the twin stands, in turn, where the original has the mention."""
    others = [o for o in mentions(rival.statement, proper_names(compared)) if o.is_same(mention)]
    return any(_local(twin, o, compared) > _local(twin, rival, compared) + _EXCHANGE for o in others)


def _fit(mention: Mention, other: Mention, score: float, compared: Compared) -> float:
    """How well a mention of the original fits the place of one of the output."""
    return 0.5 * score + 0.5 * _local(mention, other, compared)


def _local(mention: Mention, other: Mention, compared: Compared) -> float:
    """The share of the words around one mention that stand around the other, on the same side above all."""
    here, there = around(mention), around(other)
    whole = got = 0.0
    for side in (0, 1):
        for distance, word in enumerate(here[side]):
            weight = compared.index.weigh((word,)) / (1 + 0.5 * distance)
            whole += weight
            if word in there[side]:
                got += weight
            elif word in there[1 - side]:
                got += 0.5 * weight
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
