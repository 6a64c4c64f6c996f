"""The whole part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.model import Match, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "min": {
            "type": "integer",
            "minimum": 1,
            "description": "Parts shorter than this many characters do not match.",
        },
        "max": {"type": "integer", "minimum": 1, "description": "Longer ones do not match."},
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each part that is not empty and within the bounds."""
    least, most = options.get("min", 1), options.get("max")
    for part in view.parts:
        size = len(part.text)
        if size >= least and (most is None or size <= most):
            yield Match(part.ordinal, 0, size)
