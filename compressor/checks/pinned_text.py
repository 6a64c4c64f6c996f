"""System text and pinned text that the output keeps is the original's, word for word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.checks import _compared
from compressor.checks._compared import error, shown, where
from compressor.checks._difference import difference
from compressor.model import Comparison, Finding, PartType, Role

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pinned text with other words than the original's."""
    compared = _compared.of(comparison)
    for part, source in compared.alignment.altered:
        message = compared.original.messages[source.message]
        if part.type is PartType.TEXT and (message.pinned or message.role is Role.SYSTEM):
            before, after = difference(source.text, part.text)
            text = f'pinned text was edited: "{shown(before)}" in the original ({where(message)}) reads "{shown(after)}" here'
            yield error(text, before or after, compared.place_of(part))
