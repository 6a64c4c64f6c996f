"""Names, files and numbers stand beside the facts that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.checks import _compared
from compressor.checks._compared import distinct
from compressor.checks._verdicts import replaced, report
from compressor.model import Comparison, Finding

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each name (or pair of numbers) that stands where the original has another."""
    compared = _compared.of(comparison)
    yield from distinct(report(r, compared) for r in replaced(compared) if r.mention.number is None or r.exchanged)
