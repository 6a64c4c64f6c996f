"""The output is no less valid than the input: each integrity finding of it already stood in the original."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compressor.model import Comparison, Finding, Level

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
MECHANICAL = True


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """The new integrity findings, compared on content: code, message and detail, not place."""
    known = Counter((f.check, f.message, f.fact) for f in comparison.baseline)
    for finding in comparison.integrity:
        key = (finding.check, finding.message, finding.fact)
        if known[key] > 0:
            known[key] -= 1
        elif finding.level is Level.ERROR:
            yield replace(finding, message=f"new in the output: {finding.message}")
