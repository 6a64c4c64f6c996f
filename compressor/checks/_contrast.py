"""What is chosen and what it is chosen over: "A instead of B", with the sides exchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from compressor.checks._compared import Compared
from compressor.checks._pairs import Pair, pairs
from compressor.checks._terms import bag, terms
from compressor.guards._data import compiled, phrases

#: So many words on each side of the cue are the things compared.
_SIDE: Final = 4
_LIKE: Final = 0.3
_CLAUSE: Final = re.compile(r"[;；。.!?！？，,]\s?|\s(?:because|since|so that|to avoid)\s|因为|以便|以免")

Sides = tuple[frozenset[str], frozenset[str]]


@cache
def _cue() -> re.Pattern[str]:
    return compiled(phrases("causes", "contrast"))


def exchanged(compared: Compared) -> Iterator[Pair]:
    """New statements that choose what the original chose against."""
    for statement, near in pairs(compared):
        mine = sides(statement.text)
        if mine is None:
            continue
        for pair in near:
            theirs = sides(pair.old.text) if pair.likeness >= _LIKE else None
            if theirs is None:
                continue
            if (
                (mine[0] & theirs[1]) - theirs[0]
                and (mine[1] & theirs[0]) - theirs[1]
                or _words(statement.text) == _words(pair.old.text)[::-1] != _words(pair.old.text)
            ):
                yield pair
            break


def _words(text: str) -> tuple[str, ...]:
    """What stands right before and right behind the cue, as it is written."""
    found = _cue().search(text)
    if not found:
        return ()
    before, after = text[: found.start()].split()[-1:], text[found.end() :].split()[:1]
    return tuple(w.strip(".,;:`'\"") for w in (*before, *after))


def sides(text: str) -> Sides | None:
    """The words right before and right behind the cue, without those of both sides; None for no contrast."""
    found = _cue().search(text)
    if not found:
        return None
    before = _CLAUSE.split(text[: found.start()])[-1]
    after = _CLAUSE.split(text[found.end() :])[0]
    left = frozenset(t[2] for t in terms(before)[-_SIDE:])
    right = frozenset(t[2] for t in terms(after)[:_SIDE])
    both = left & right
    if left - both and right - both:
        return left - both, right - both
    return (bag(before), right) if left else None
