"""No text is a summary of a summary of a summary: generations stay at or below the preset's maximum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.model import Comparison, Finding, Level, Place

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"max": {"type": "integer", "minimum": 1}},
}
MECHANICAL = True


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding per live message above the maximum (opaque ones, which must be carried, apart)."""
    most = options.get("max", 2)
    for m in comparison.output.messages:
        if m.live and not m.opaque and m.generation > most:
            yield Finding(
                "",
                Level.ERROR,
                f"a summary of generation {m.generation}; the maximum is {most}",
                at=Place(line=m.line, message=m.id),
            )
