"""Words that are each other's contrary (`rules/cues/opposites.yaml`), one in each of two like statements."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from compressor.checks._pairs import Pair
from compressor.checks._statements import Statement
from compressor.checks._terms import bag, terms
from compressor.guards._data import load

_NOT: Final = re.compile(r"\b(?:not|no|never|cannot|without)\b|n['’]t\b|[不没未无]", re.IGNORECASE)


@cache
def _table() -> dict[str, frozenset[str]]:
    """The contraries of each term."""
    out: dict[str, set[str]] = {}
    for line in load("opposites")["pairs"]:
        sides = [[w.strip() for w in side.split(",")] for side in line.split("|")]
        for one, other in (sides, sides[::-1]):
            for word in one:
                out.setdefault(_key(word), set()).update(_key(w) for w in other)
    return {k: frozenset(v) for k, v in out.items()}


def _key(word: str) -> str:
    found = terms(word)
    return found[0][2] if found else word


def contraries(term: str) -> frozenset[str]:
    """The terms that say the contrary of this one."""
    return _table().get(term, frozenset())


def opposed(pair: Pair) -> tuple[str, str] | None:
    """The two words that contradict each other, or None: each stands in one statement and not in the other."""
    table = _table()
    only_old = pair.old.bag - pair.new.bag
    only_new = pair.new.bag - pair.old.bag
    for word in sorted(only_new):
        for other in sorted(table.get(word, frozenset()) & only_old):
            if _negated(pair.old, other) == _negated(pair.new, word):
                return _written(pair.old.text, other), _written(pair.new.text, word)
    return None


def _negated(statement: Statement, term: str) -> bool:
    """Whether a word stands in a clause that denies it."""
    at = next((a for a, _, t in terms(statement.text) if t == term), 0)
    if any(c.polarity == "-" and c.start <= at < c.end and term not in bag(c.cue) for c in statement.clauses):
        return True
    return bool(_NOT.search(statement.text[max(0, at - 16) : at]))


def _written(text: str, term: str) -> str:
    return next((text[a:b] for a, b, t in terms(text) if t == term), term)
