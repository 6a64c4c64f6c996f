"""A number keeps its value, unit and sign where the output says the same of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.checks import _compared
from compressor.checks._compared import distinct
from compressor.checks._verdicts import replaced, report
from compressor.model import Comparison, Finding

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each number of the new text that the original has otherwise."""
    compared = _compared.of(comparison)
    yield from distinct(
        report(r, compared) for r in replaced(compared) if r.mention.number is not None and not r.exchanged
    )
