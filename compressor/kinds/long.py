"""The middle of a long text: its head and tail stay, cut at line ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.model import Match, View

#: How far a cut may move to fall on a line end, in characters.
_REACH: Final = 400

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "max": {
            "type": "integer",
            "minimum": 1,
            "description": "Texts of up to this many characters stay whole (8000).",
        },
        "head": {"type": "integer", "minimum": 0, "description": "Characters that stay at the beginning (2000)."},
        "tail": {"type": "integer", "minimum": 0, "description": "Characters that stay at the end (2000)."},
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each text that is longer than `max` (and than head and tail together)."""
    head, tail = options.get("head", 2000), options.get("tail", 2000)
    most = max(options.get("max", 8000), head + tail)
    for part in view.parts:
        text = part.text
        if len(text) <= most:
            continue
        start, end = head, len(text) - tail
        line = text.rfind("\n", max(0, start - _REACH), start)
        if line >= 0:
            start = line + 1
        line = text.find("\n", end - 1, end + _REACH) if tail else -1
        if line >= 0:
            end = line
        if start < end:
            yield Match(part.ordinal, start, end)
