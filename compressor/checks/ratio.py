"""The share of tokens that is left lies within the preset's bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.model import Comparison, Finding, Level

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "min": {"type": "number", "minimum": 0, "maximum": 1},
        "max": {"type": "number", "minimum": 0, "maximum": 1},
    },
}
MECHANICAL = True


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding when less than `min` or more than `max` of the original's tokens is left."""
    if not comparison.tokens_original:
        return
    share = comparison.tokens_output / comparison.tokens_original
    low, high = options.get("min", 0.01), options.get("max", 0.8)
    if share < low:
        yield Finding("", Level.WARNING, f"only {share:.1%} of the tokens is left, below the bound of {low:.1%}")
    elif share > high:
        yield Finding("", Level.WARNING, f"{share:.1%} of the tokens is left, above the bound of {high:.1%}")
