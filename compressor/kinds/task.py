"""The prose of what a person asked for: not its pastes, code and logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.guards.sentences import paragraphs
from compressor.model import Match, Origin, PartType, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "longer": {
            "type": "integer",
            "minimum": 0,
            "description": "Only requests that are longer than this many characters (0: all).",
        },
        "pinned": {"type": "boolean", "description": "Pinned messages as a whole, too, whoever speaks (true)."},
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each stretch of prose in a request; the whole text of what is pinned."""
    longer, pinned = options.get("longer", 0), options.get("pinned", True)
    for part in view.parts:
        message = view.session.messages[part.message]
        if message.pinned and pinned and part.text:
            yield Match(part.ordinal, 0, len(part.text), "", "pinned")
        elif message.origin is Origin.PERSON and part.type is PartType.TEXT and len(part.text) > longer:
            for start, end in paragraphs(part.text):
                yield Match(part.ordinal, start, end, "", "task")
