"""Prohibitions, negated instructions and negated results: the clause with its scope and its exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.guards.negation import NEGATION, OBLIGATION, PROHIBITION, clauses
from compressor.kinds._prose import spoken
from compressor.model import Match, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "lang": {
            "type": "string",
            "minLength": 2,
            "description": "Only cues of this language (a file `rules/cues/negation-<lang>.yaml`); without it, all.",
        },
        "sorts": {
            "type": "array",
            "minItems": 1,
            "items": {"enum": [PROHIBITION, OBLIGATION, NEGATION]},
            "description": "What counts: prohibition, obligation, negation (all but obligation).",
        },
        "harness": {"type": "boolean", "description": "Also read what the harness says as the user (false)."},
    },
}

_DEFAULT: Final = (PROHIBITION, NEGATION)


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each clause; its value is its polarity with its content words, its label its sort."""
    lang, sorts = options.get("lang"), frozenset(options.get("sorts", _DEFAULT))
    for part in spoken(view, harness=options.get("harness", False)):
        for clause in clauses(part.text, lang):
            if clause.sort in sorts:
                yield Match(part.ordinal, clause.start, clause.end, clause.value, clause.sort)


def mistakes(options: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """A language without cues."""
    from compressor.guards._data import languages

    lang = options.get("lang")
    if lang is not None and lang not in languages():
        yield ("lang",), f'there are no cues for "{lang}"', f"known: {', '.join(languages())}"
