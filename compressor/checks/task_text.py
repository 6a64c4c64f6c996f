"""What a person asked for stands as they wrote it, wherever the output shows it as theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.checks import _compared
from compressor.checks._compared import Compared, error, shown, where
from compressor.checks._difference import difference
from compressor.model import Comparison, Finding, Origin, Part, PartType

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each request with other words than the person's."""
    compared = _compared.of(comparison)
    for part, source in compared.alignment.altered:
        if part.type is PartType.TEXT and _is_request(compared, source):
            yield _finding(compared, part, source)


def _is_request(compared: Compared, source: Part) -> bool:
    message = compared.original.messages[source.message]
    return message.origin is Origin.PERSON and not message.pinned


def _finding(compared: Compared, part: Part, source: Part) -> Finding:
    before, after = difference(source.text, part.text)
    there = where(compared.original.messages[source.message])
    message = f'the request was edited: "{shown(before)}" in the original ({there}) reads "{shown(after)}" here'
    return error(message, before or after, compared.place_of(part))
