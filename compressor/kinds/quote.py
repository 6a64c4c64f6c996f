"""What a text tells as the user's own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.guards.quotes import quotes
from compressor.kinds._prose import spoken
from compressor.model import Match, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "exact": {
            "type": "boolean",
            "description": "Only words in quotation marks, not lines labelled `User:` (true).",
        },
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each quotation, without its marks."""
    exact = options.get("exact", True)
    for part in spoken(view):
        for quote in quotes(part.text):
            if quote.exact or not exact:
                yield Match(part.ordinal, quote.start, quote.end, "", "quote")
