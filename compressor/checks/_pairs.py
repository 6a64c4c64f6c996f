"""Statements of the new text beside what the original says on the same subject."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from compressor.checks._compared import Compared
from compressor.checks._statements import Statement, pieces

_KEY: Final = "pairs"
#: Below this share of the words' weight two statements speak of different things.
_SUBJECT: Final = 0.4


@dataclass(frozen=True, eq=False)
class Pair:
    """A statement of the output and one of the original.

    Attributes:
        share: of the output's words that the original's statement has, by weight.
        tight: of the original's words that the output's statement has.
    """

    new: Statement
    old: Statement
    share: float
    tight: float

    @property
    def likeness(self) -> float:
        """1 for statements with the same words."""
        return math.sqrt(self.share * self.tight)


def pairs(compared: Compared) -> list[tuple[Statement, list[Pair]]]:
    """Each new statement (and each of its clauses) with its nearest ones of the original, likest first."""
    known = compared.comparison.shared.get(_KEY)
    if known is None:
        known = [(p, _near(p, compared)) for s in compared.claims for p in pieces(s)]
        compared.comparison.shared[_KEY] = known
    assert isinstance(known, list)
    return known


def _near(statement: Statement, compared: Compared) -> list[Pair]:
    found = [compare(statement, other, compared) for share, other in compared.evidence(statement) if share >= _SUBJECT]
    return sorted(found, key=lambda p: -p.likeness)


def compare(statement: Statement, other: Statement, compared: Compared) -> Pair:
    """A statement beside the likest clause of another one."""
    made = [
        Pair(statement, p, covered(statement.bag, p.bag, compared), covered(p.bag, statement.bag, compared))
        for p in pieces(other)
    ]
    return max(made, key=lambda p: p.likeness)


def covered(words: frozenset[str], by: frozenset[str], compared: Compared) -> float:
    """The share of the words' weight that another set of words has."""
    whole = compared.weigh(words)
    return compared.weigh(words & by) / whole if whole else 0.0
