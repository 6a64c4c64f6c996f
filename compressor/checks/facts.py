"""Every registered fact is in the output, in the form its rule asks for.

What this run wrote must hold a verbatim fact word for word (white space and markup apart). Somebody else's
compaction may tell it again: with the same polarity, value and names that is a note, not an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.checks import _compared
from compressor.checks._compared import Compared, shown
from compressor.checks._items import items
from compressor.checks._retold import retold
from compressor.checks._terms import bare, squeeze
from compressor.model import Comparison, Fact, Finding, Level, Mode, Place

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
MECHANICAL = True
FIXED_LEVELS = True


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding per fact that is not in the output, at the fact's own level; a note for one told in other words."""
    compared = _compared.of(comparison)
    for fact in comparison.facts:
        if _stands(fact, compared):
            continue
        again = None if comparison.ours and fact.mode is Mode.VERBATIM else retold(fact, compared)
        if again is None:
            yield _missing(fact, compared)
        elif fact.mode is Mode.VERBATIM and again.text:
            yield _told(fact, again.text, compared)
    if not comparison.ours:
        yield from _salient(compared)


def _stands(fact: Fact, compared: Compared) -> bool:
    if fact.text in compared.output_text or squeeze(fact.text) in compared.output_squeezed:
        return True
    if compared.comparison.ours and fact.mode is Mode.VERBATIM:
        return False
    words = bare(fact.text)
    return bool(words) and words in compared.output_bare


def _missing(fact: Fact, compared: Compared) -> Finding:
    level = fact.level if fact.level is not Level.NOTE else Level.WARNING
    return Finding(
        fact.rule,
        level,
        f"the {_NAMES.get(fact.kind, fact.kind)} is not in the output",
        _shown(fact.text),
        _at(fact, compared),
    )


_NAMES: Mapping[str, str] = {"whole": "text", "task": "request", "negation": "prohibition", "outcome": "open error"}


def _told(fact: Fact, again: str, compared: Compared) -> Finding:
    message = f"the {_NAMES.get(fact.kind, fact.kind)} is told in other words: {shown(again)}"
    return Finding(fact.rule, Level.NOTE, message, _shown(fact.text), _at(fact, compared))


def _at(fact: Fact, compared: Compared) -> Place:
    return Place(compared.comparison.files[0], fact.line, fact.message, fact.start)


def _shown(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"


def _salient(compared: Compared) -> Iterator[Finding]:
    """One line on the hard items that no rule registered: how many of them are gone."""
    every = {i.text for s in compared.index.statements if len(s.text) < 400 for i in items(s.text)}
    gone = sum(1 for item in every if item not in compared.output_text)
    if gone:
        yield Finding(
            "", Level.NOTE, f"{gone:,} of {len(every):,} paths, identifiers and the like are not in the output"
        )
