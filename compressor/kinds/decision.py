"""Decisions told with their reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.guards.decisions import decisions
from compressor.kinds._prose import spoken
from compressor.model import Match, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "max": {"type": "integer", "minimum": 20, "description": "Longer ones do not match (characters, 400)."},
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each sentence (or two) with a decision and its reason; the value is the reason."""
    most = options.get("max", 400)
    for part in spoken(view):
        for d in decisions(part.text):
            if d.end - d.start <= most:
                yield Match(part.ordinal, d.start, d.end, part.text[d.reason : d.reason_end], "decision")
