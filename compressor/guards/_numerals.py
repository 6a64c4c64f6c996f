"""Read numerals: separators of every country, Chinese numerals, number words."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

#: Full-width digits and signs stand for the plain ones, letter for letter.
WIDE: Final = {
    **{0xFF10 + i: ord("0") + i for i in range(10)},
    0xFF05: ord("%"), 0xFF0B: ord("+"), 0xFF0D: ord("-"), 0x2212: ord("-"), 0xFF0E: ord("."), 0xFF0F: ord("/"),
    0xFF03: ord("#"), 0xFF04: ord("$"), 0xFF5E: ord("~"), 0x2010: ord("-"), 0x2011: ord("-"),
    0x00A0: ord(" "), 0x202F: ord(" "), 0x2009: ord(" "), 0x3000: ord(" "),
}  # fmt: skip
HAN_DIGITS: Final = "零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟萬億兩"
_DIGIT: Final = {
    c: i
    for i, cs in enumerate(("零〇", "一壹", "二两贰兩", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖"))
    for c in cs
}
_SMALL: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE: Final = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_WIDE_CHAR: Final = re.compile(f"[{''.join(map(chr, WIDE))}]")
_WIDE_DIGIT: Final = re.compile("[\uff10-\uff19]")
_WIDE_MARK: Final = re.compile("(?<=[0-9])([\uff0c\uff1a])(?=[0-9])")
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

#: A number as people write it: grouped by commas, points, apostrophes, underscores or spaces, or plain.
NUMERAL: Final = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]*\d)|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?(?!\d)"
    r"|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?(?![\d.]*\d)|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)"
    r"|\d{1,3}(?:['\u2019]\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?![\d.]*\d)"
    r"|\d+(?:_\d+)+|0,\d+(?![\d,]*\d)|\d+,\d{1,2}(?![\d,]*\d)|\d+\.\d+|\d+|(?<![\d\w.])\.\d+"
)
_POWER: Final = re.compile(
    r"\s?[x\u00d7*]\s?10(?:\^|\*\*)?([-+]?\d{1,3}|[\u207b\u207a]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,3})"
)
_EXPONENT: Final = re.compile(r"[eE]([-+]?\d{1,3})(?![\w])")


def plain(text: str) -> str:
    """The text with full-width digits and signs as plain ones, letter for letter."""
    if text.isascii() or not _WIDE_CHAR.search(text):
        return text
    wide = _WIDE_DIGIT.search(text)
    text = text.translate(WIDE)
    return _WIDE_MARK.sub(lambda m: "," if m.group() == "\uff0c" else ":", text) if wide else text


def decimal(text: str) -> Decimal | None:
    """The value of a numeral in any country's notation, or None."""
    plain = re.sub(r"[_'\u2019 ]", "", text)
    comma, point = plain.rfind(","), plain.rfind(".")
    if comma >= 0 and point >= 0:
        plain = plain.replace(",", "") if point > comma else plain.replace(".", "").replace(",", ".")
    elif comma >= 0:
        grouped = re.fullmatch(r"[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}", plain)
        plain = plain.replace(",", "") if grouped else plain.replace(",", ".")
    elif plain.count(".") > 1:
        plain = plain.replace(".", "")
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def exponent(text: str, at: int) -> tuple[int, int]:
    """The power of ten written at this place (`e-3`, `x 10^5`, `×10⁻³`) and where it ends; 0 and `at` for none."""
    match = _EXPONENT.match(text, at) or _POWER.match(text, at)
    if not match:
        return 0, at
    return int(match.group(1).translate(_SUPERSCRIPTS)), match.end()


def han(text: str) -> Decimal | None:
    """The value of a Chinese numeral (`八十五点三`, `一千零二十四`, `二〇二六`), or None."""
    whole, _, part = text.partition("点")
    value = _han_whole(whole)
    if value is None:
        return None
    if not part:
        return Decimal(value)
    if any(c not in _DIGIT for c in part):
        return None
    return Decimal(f"{value}.{''.join(str(_DIGIT[c]) for c in part)}")


def _han_whole(text: str) -> int | None:
    if text and all(c in _DIGIT for c in text):
        return int("".join(str(_DIGIT[c]) for c in text))
    total = section = digit = 0
    for c in text:
        if c in _DIGIT:
            digit = _DIGIT[c]
        elif c in _SMALL:
            section += (digit or 1) * _SMALL[c]
            digit = 0
        elif c in _LARGE:
            total = (total + section + digit or 1) * _LARGE[c]
            section = digit = 0
        else:
            return None
    last = text[-2:-1]
    # "一万二" is 12,000, not 10,002
    if digit and last in _LARGE and not section:
        return total + digit * _LARGE[last] // 10
    return total + section + digit if text else None
