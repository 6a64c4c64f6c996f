"""Names, files and numbers stand beside the facts that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, error, shown, where
from compressor.checks._contrast import exchanged
from compressor.checks._pairs import Pair
from compressor.checks._verdicts import replaced, report
from compressor.model import Comparison, Finding

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each name (or pair of numbers) that stands where the original has another."""
    compared = _compared.of(comparison)
    yield from distinct(report(r, compared) for r in replaced(compared) if r.mention.number is None or r.exchanged)
    yield from distinct(_chosen(pair, compared) for pair in exchanged(compared))


def _chosen(pair: Pair, compared: Compared) -> Finding:
    place = where(pair.old.message)
    message = f'exchanged: "{shown(pair.old.text)}" in the original ({place}) reads "{shown(pair.new.text)}" here'
    return error(message, pair.old.text, compared.place(pair.new))
