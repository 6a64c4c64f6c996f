"""Names: technical ones, and people, organisations, products and places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.guards.entities import Entity, entities
from compressor.kinds._prose import spoken
from compressor.model import Match, Part, View

LABELS: Final = (
    "path", "file", "symbol", "command", "flag", "url", "host", "env", "error", "commit", "branch", "id", "model",
    "version", "email", "person", "org", "product", "place",
)  # fmt: skip
_NAMES: Final = frozenset({"person", "org", "product", "place"})

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "labels": {
            "type": "array",
            "minItems": 1,
            "items": {"enum": list(LABELS)},
            "description": f"Which names: {', '.join(LABELS)} (all).",
        },
        "times": {
            "type": "integer",
            "minimum": 1,
            "description": "Names that stand at least so often in the scope (1).",
        },
        "turns": {
            "type": "integer",
            "minimum": 1,
            "description": "Names that stand in the newest so many turns (any).",
        },
        "later": {
            "type": "boolean",
            "description": "Names that a later message uses again (false: that does not matter).",
        },
        "model": {
            "type": "string",
            "minLength": 1,
            "description": "A trained spaCy pipeline to ask as well, if installed; `jieba` for Chinese names.",
        },
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each name that is complete by the options: often enough, new enough, used again."""
    wanted = frozenset(options.get("labels", LABELS))
    found: list[tuple[Part, Entity]] = []
    for part in spoken(view):
        named = entities(part.text, names=bool(wanted & _NAMES), model=options.get("model", ""))
        found += ((part, entity) for entity in named if entity.label in wanted)
    times = Counter(entity.text for _, entity in found)
    newest = {entity.text: part.message for part, entity in found}
    since = _since(view, options.get("turns"))
    for part, entity in found:
        often = times[entity.text] >= options.get("times", 1)
        again = not options.get("later", False) or newest[entity.text] > part.message
        if often and again and newest[entity.text] >= since:
            yield Match(part.ordinal, entity.start, entity.end, entity.text, entity.label)


def _since(view: View, turns: int | None) -> int:
    """Index of the first message of the newest so many turns."""
    if turns is None or not view.turn:
        return 0
    first = max(view.turn) - turns + 1
    return next((i for i, turn in enumerate(view.turn) if turn >= first), 0)
