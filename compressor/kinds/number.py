"""Numbers that people act on: a whitelist says which, by unit, kind, pattern and the words next to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from compressor.guards._data import alternation
from compressor.guards.numbers import Number, may_hold, numbers
from compressor.guards.sentences import paragraphs
from compressor.kinds._prose import spoken
from compressor.model import Match, Part, PartType, View

_WORDS: Final[Mapping[str, Any]] = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "whitelist": {
            "type": "array",
            "minItems": 1,
            "description": "A number matches when one entry takes it; an entry takes what fits all it says. Without it, all.",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "minProperties": 1,
                "properties": {
                    "kinds": {**_WORDS, "description": "percent, money, size, duration, count, version, date, id, …"},
                    "units": {
                        **_WORDS,
                        "description": "Names of units or of things counted, as in `rules/cues/units.yaml`.",
                    },
                    "near": {
                        **_WORDS,
                        "description": "One of these words stands on its line, at most `within` characters away.",
                    },
                    "within": {"type": "integer", "minimum": 1, "description": "How near (40 characters)."},
                    "pattern": {
                        "type": "string",
                        "minLength": 1,
                        "description": "RE2 pattern that the number itself matches.",
                    },
                    "least": {"type": "number", "description": "Smaller values do not count."},
                },
            },
        },
        "results": {
            "type": "boolean",
            "description": "Also read tool results: only lines with a word of `near` (false).",
        },
    },
}


@dataclass(frozen=True, slots=True)
class _Entry:
    kinds: frozenset[str]
    units: frozenset[str]
    near: re.Pattern[str] | None
    within: int
    pattern: Any
    least: Decimal | None


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each number that the whitelist takes; its value is its normal form with its unit."""
    entries = tuple(_entry(e) for e in options.get("whitelist", ()))
    for part in spoken(view):
        for start, end in paragraphs(part.text, may_hold(part.text)):
            yield from _in_stretch(part, start, part.text[start:end], entries)
    if options.get("results", False):
        for part in view.parts:
            if part.type is PartType.TOOL_RESULT:
                yield from _in_result(part, entries)


def mistakes(options: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Patterns that do not compile; results without a word to look for."""
    import re2

    for index, entry in enumerate(options.get("whitelist", ())):
        try:
            re2.compile(entry.get("pattern", "x"))
        except re2.error:
            yield ("whitelist", index, "pattern"), "is not a pattern that we take", "RE2 syntax: no look-around"
    if options.get("results") and not all("near" in e for e in options.get("whitelist", [{}])):
        yield ("results",), "would register every number of every log", 'give each entry of "whitelist" words in "near"'


def _entry(data: Mapping[str, Any]) -> _Entry:
    return _compiled(
        tuple(data.get("kinds", ())), tuple(data.get("units", ())), tuple(data.get("near", ())),
        data.get("within", 40), data.get("pattern", ""), data.get("least"),
    )  # fmt: skip


@lru_cache(maxsize=256)
def _compiled(
    kinds: tuple[str, ...],
    units: tuple[str, ...],
    near: tuple[str, ...],
    within: int,
    pattern: str,
    least: float | None,
) -> _Entry:
    import re2

    words = re.compile(alternation(near), re.IGNORECASE) if near else None
    return _Entry(
        frozenset(kinds), frozenset(units), words, within,
        re2.compile(pattern) if pattern else None, None if least is None else Decimal(str(least)),
    )  # fmt: skip


def _in_stretch(part: Part, offset: int, text: str, entries: tuple[_Entry, ...]) -> Iterator[Match]:
    if entries and not any(e.near is None or e.near.search(text) for e in entries):
        return
    for number in numbers(text):
        if not entries or any(_takes(entry, number, text) for entry in entries):
            value = f"{number.sign}{_plain(number.value)} {number.unit}".strip()
            yield Match(part.ordinal, offset + number.start, offset + number.end, value, number.kind)


def _in_result(part: Part, entries: tuple[_Entry, ...]) -> Iterator[Match]:
    """Lines of a tool's output that hold a word of the whitelist: found first, read then."""
    lines: dict[int, int] = {}
    for entry in entries:
        for match in entry.near.finditer(part.text) if entry.near else ():
            start = part.text.rfind("\n", 0, match.start()) + 1
            end = part.text.find("\n", match.end())
            lines[start] = len(part.text) if end < 0 else end
    for start, end in sorted(lines.items()):
        if end - start <= _LINE:
            yield from _in_stretch(part, start, part.text[start:end], entries)


#: Longer lines of output are data.
_LINE: Final = 400


def _takes(entry: _Entry, number: Number, text: str) -> bool:
    if entry.kinds and number.kind not in entry.kinds:
        return False
    if entry.units and number.unit not in entry.units:
        return False
    if entry.pattern is not None and entry.pattern.fullmatch(number.text) is None:
        return False
    if entry.least is not None and not (isinstance(number.value, Decimal) and number.value >= entry.least):
        return False
    return entry.near is None or _is_near(entry, number, text)


def _is_near(entry: _Entry, number: Number, text: str) -> bool:
    assert entry.near is not None
    low = max(text.rfind("\n", 0, number.start) + 1, number.start - entry.within)
    line_end = text.find("\n", number.end)
    high = min(len(text) if line_end < 0 else line_end, number.end + entry.within)
    return entry.near.search(text, low, high) is not None


def _plain(value: Decimal | str) -> str:
    return value if isinstance(value, str) else f"{value.normalize():f}"
