"""Paths, identifiers and hashes are whole; a file of which only the name is left is a warning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, error, shown
from compressor.checks._cutshort import bare_file, cut_of, is_short_hash
from compressor.checks._items import items
from compressor.model import Comparison, Finding, Level

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
FIXED_LEVELS = True

#: Marks beside a stretch that stands for many names.
_TEMPLATE: Final = "<>{}*$…"


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each item of the new text that is a piece of an item of the original."""
    compared = _compared.of(comparison)
    yield from distinct(_all(compared))


def _all(compared: Compared) -> Iterator[Finding]:
    for statement in compared.new:
        for item in items(statement.text):
            around = statement.text[max(0, item.start - 1) : item.start] + statement.text[item.end : item.end + 2]
            if any(c in _TEMPLATE for c in around):
                continue
            if compared.cites(statement, item.text):
                continue
            whole = cut_of(item, compared)
            folder = bare_file(item, compared) if whole is None else None
            if folder is not None:
                message = f'the folder is lost: "{shown(folder)}" in the original reads "{shown(item.text)}" here'
                yield Finding("", Level.WARNING, message, shown(folder), compared.place(statement))
            if whole is not None and not is_short_hash(item, whole):
                message = f'cut short: "{shown(whole)}" in the original reads "{shown(item.text)}" here: {shown(statement.text)}'
                yield error(message, whole, compared.place(statement))
