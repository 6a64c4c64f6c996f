"""Cause and effect stand as in the original."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, error, shown, where
from compressor.checks._pairs import Pair, covered, pairs
from compressor.checks._terms import bag
from compressor.guards._data import compiled, phrases
from compressor.model import Comparison, Finding

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

_LIKE: Final = 0.5
_MARGIN: Final = 0.35
_LEAST: Final = 1


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each statement whose cause is the original's effect and whose effect is its cause."""
    compared = _compared.of(comparison)
    yield from distinct(_all(compared))


def _all(compared: Compared) -> Iterator[Finding]:
    for statement, near in pairs(compared):
        if not statement.prose:
            continue
        mine = split(statement.text)
        if mine is None:
            continue
        for pair in near:
            theirs = split(pair.old.text)
            if pair.likeness < _LIKE or theirs is None:
                continue
            straight, crossed = _match(mine, theirs, compared)
            if straight >= crossed:
                break
            if crossed - straight >= _MARGIN:
                yield _finding(pair, compared)
                break


Sides = tuple[frozenset[str], frozenset[str]]


def _match(mine: Sides, theirs: Sides, compared: Compared) -> tuple[float, float]:
    """How well causes meet causes and effects effects; how well they meet each other."""
    cause, effect = mine
    straight = min(covered(cause, theirs[0], compared), covered(effect, theirs[1], compared))
    crossed = min(covered(cause, theirs[1], compared), covered(effect, theirs[0], compared))
    return straight, crossed


@cache
def _cues() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    return tuple(compiled(phrases("causes", key)) for key in ("backward", "forward", "leading"))  # type: ignore[return-value]


def split(text: str) -> Sides | None:
    """The words of the cause and those of the effect, or None when none is told."""
    backward, forward, leading = _cues()
    first = leading.match(text.lstrip("*_- "))
    if first:
        rest = text[text.index(first.group()) + len(first.group()) :]
        cut = re.search(r"[,，]\s*(?:所以|因此|so)?", rest)
        return _sides(rest[: cut.start()], rest[cut.end() :]) if cut else None
    for pattern, is_forward in ((forward, True), (backward, False)):
        found = pattern.search(text)
        if found and text[: found.start()].strip():
            before, after = text[: found.start()], text[found.end() :]
            return _sides(before, after) if is_forward else _sides(after, before)
    return None


def _sides(cause: str, effect: str) -> Sides | None:
    a, b = bag(cause), bag(effect)
    shared = a & b
    a, b = a - shared, b - shared
    return (a, b) if len(a) >= _LEAST and len(b) >= _LEAST else None


def _finding(pair: Pair, compared: Compared) -> Finding:
    place = where(pair.old.message)
    message = f'cause and effect changed places: "{shown(pair.old.text)}" in the original ({place}) reads "{shown(pair.new.text)}" here'
    return error(message, pair.old.text, compared.place(pair.new))
