"""Numbers in words: Chinese numerals, and number words of the European languages."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import Final

from compressor.guards import _numerals
from compressor.guards._number import Number
from compressor.guards._units import counted_at, kind_of, unit_at, units

_HAN: Final = re.compile(
    rf"(?P<cent>百分之)(?P<a>[{_numerals.HAN_DIGITS}点\d.]+)|(?P<down>[{_numerals.HAN_DIGITS}]+)分之(?P<up>[{_numerals.HAN_DIGITS}]+)"
    rf"|(?P<half>半)个?(?=小时|钟头|天|年|月|秒|分钟)"
    rf"|(?P<minus>[负零下]*)(?P<n>[{_numerals.HAN_DIGITS}]+(?:点[零〇一二三四五六七八九]+)?)"
)
_LETTERS: Final = re.compile(r"[^\W\d_]+")


def han_numbers(plain: str, taken: list[Number]) -> list[Number]:
    """Quantities in Chinese numerals outside those that are found already."""
    out: list[Number] = []
    skip = [(m.start(), m.end()) for m in units().not_numerals.finditer(plain)] + [(n.start, n.end) for n in taken]
    skip.sort()
    for match in _HAN.finditer(plain):
        if not any(s < match.end() and match.start() < e for s, e in skip):
            number = _han_number(plain, match)
            if number:
                out.append(number)
    return out


def _han_number(plain: str, match: re.Match[str]) -> Number | None:
    start, end = match.span()
    if match.group("cent"):
        part = match.group("a")
        value = _numerals.decimal(part) if part[0].isdigit() else _numerals.han(part)
        return None if value is None else Number(start, end, "", value, "percent", "", "percent", "")
    if match.group("down"):
        up, down = _numerals.han(match.group("up")), _numerals.han(match.group("down"))
        return Number(start, end, "", f"{up}/{down}", "", "", "ratio", "") if up and down else None
    if match.group("half"):
        unit, stop = unit_at(plain, end)
        return Number(start, stop, "", Decimal("0.5"), unit.name, "", kind_of(unit), "") if unit else None
    value = _numerals.han(match.group("n"))
    if value is None:
        return None
    return _han_measured(plain, match, value)


def _han_measured(plain: str, match: re.Match[str], value: Decimal) -> Number | None:
    start, end = match.start("n"), match.end()
    sign = "-" if match.group("minus") in ("负", "零下") else ""
    start = match.start() if sign else start
    if plain[start - 1 : start] == "第":
        return Number(start - 1, end, "", value, "", "", "ordinal", "")
    half = plain.startswith("个半", end)
    unit, stop = unit_at(plain, end + 2 if half else end)
    if unit and not (unit.of in ("bits",) or (unit.name == "成" and value > 10)):
        return Number(start, stop, "", value + (Decimal("0.5") if half else 0), unit.name, sign, kind_of(unit), "")
    thing = counted_at(plain, end)
    classified = plain[end : end + 1] in units().classifiers
    if thing or classified:
        return Number(start, end, "", value, thing, sign, "count", "")
    return Number(start, end, "", value, "", sign, "number", "") if len(match.group("n")) > 1 else None


def word_numbers(plain: str, taken: list[Number]) -> list[Number]:
    """`two files`, `twenty-five percent`, `the third attempt`: number words before a unit or a thing."""
    out: list[Number] = []
    table = units()
    if not (table.number_words.keys() | table.ordinal_words.keys()) & set(_LETTERS.findall(plain.lower())):
        return out
    spans = [(n.start, n.end) for n in taken]
    for match in _words().finditer(plain):
        word = match.group(1).lower()
        if any(s < match.end(1) and match.start() < e for s, e in spans):
            continue
        number = _word_number(plain, match, word)
        if number:
            out.append(number)
    return out


@cache
def _words() -> re.Pattern[str]:
    table = units()
    words = "|".join(sorted((*table.number_words, *table.ordinal_words), key=len, reverse=True))
    return re.compile(rf"(?<![\w-])({words})(?:[- ]({words}))?(?!\w)", re.IGNORECASE)


def _word_number(plain: str, match: re.Match[str], word: str) -> Number | None:
    table = units()
    if word in table.ordinal_words:
        return (
            None
            if word == "second"
            else Number(match.start(), match.end(1), "", Decimal(table.ordinal_words[word]), "", "", "ordinal", "")
        )
    value, end = Decimal(table.number_words[word]), match.end(1)
    small = table.number_words.get((match.group(2) or "").lower(), 0)
    if value >= 20 and 0 < small < 10:
        value, end = value + small, match.end(2)
    power = re.compile(r" (hundred|thousand|million|billion)\b", re.IGNORECASE).match(plain, end)
    if power:
        value, end = value * {"hundred": 100, **table.magnitudes}[power.group(1).lower()], power.end()
    unit, stop = unit_at(plain, end)
    if unit and plain[end : end + 1] in " -" and stop - end > 2:
        return Number(match.start(), stop, "", value, unit.name, "", kind_of(unit), "")
    thing = counted_at(plain, end)
    if thing or (value > 1 and power):
        return Number(match.start(), end, "", value, thing, "", "count" if thing else "number", "")
    return Number(match.start(), end, "", value, "", "", "number", "") if value > 1 else None
