"""Texts that stand again later, word for word or but for white space: the earlier ones match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from compressor.model import Match, Part, View

#: How much of both ends is compared (and two letters are counted) before two whole texts are.
_END: Final = 400

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "min": {"type": "integer", "minimum": 1, "description": "Shorter texts do not match, in characters (200)."},
        "exact": {"type": "boolean", "description": "White space counts (false)."},
        "keep": {"enum": ["newest", "first"], "description": "Which of equal texts is left (newest)."},
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """All but one of each set of equal texts, whole."""
    least = options.get("min", 200)
    parts = [part for part in view.parts if len(part.text) >= least]
    if not options.get("exact", False):
        texts = _normal(parts)
    else:
        texts = {part.ordinal: part.text for part in parts}
    kept: dict[str, int] = {}
    for part in parts if options.get("keep", "newest") == "first" else reversed(parts):
        kept.setdefault(texts[part.ordinal], part.ordinal)
    for part in parts:
        if kept[texts[part.ordinal]] != part.ordinal:
            yield Match(part.ordinal, 0, len(part.text))


def _normal(parts: Iterable[Part]) -> dict[int, str]:
    """Each text with single blanks between words; only worked out where the ends of two texts agree."""
    alike: dict[tuple[str | int, ...], list[Part]] = {}
    for part in parts:
        text = part.text
        ends: tuple[str | int, ...] = (
            *text[:_END].split()[:4],
            "",
            *text[-_END:].split()[-4:],
            text.count("e"),
            text.count("t"),
        )
        alike.setdefault(ends, []).append(part)
    texts: dict[int, str] = {}
    for group in alike.values():
        for part in group:
            texts[part.ordinal] = part.text if len(group) == 1 else " ".join(part.text.split())
    return texts
