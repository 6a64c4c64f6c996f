"""A tool call or result that the output keeps is the original's: word for word, or openly cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.checks import _compared
from compressor.checks._compared import Compared, error, shown, where
from compressor.checks._difference import difference
from compressor.model import Comparison, Finding, Part, PartType

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each argument or result with other words than the original's."""
    compared = _compared.of(comparison)
    for part, source in compared.alignment.altered:
        if part.type is not PartType.TEXT:
            yield _finding(compared, part, source)


def _finding(compared: Compared, part: Part, source: Part) -> Finding:
    what = "the result" if part.type is PartType.TOOL_RESULT else "an argument"
    before, after = difference(source.text, part.text)
    there = where(compared.original.messages[source.message])
    name = f" of {part.name}" if part.name else ""
    message = f'{what}{name} was altered: "{shown(before)}" in the original ({there}) reads "{shown(after)}" here'
    return error(message, before or after, compared.place_of(part))
