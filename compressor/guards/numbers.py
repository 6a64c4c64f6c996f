"""Find the numbers of a text, with value, unit, sign and what they are of, and tell equal ones from others.

Equal values in another notation are equal (1,024 = 1024, 8.53e-1 = 0.853, 2026-11-29 = 29 November 2026,
八成 = 80 %); rounded, mistyped, shifted or differently measured ones are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Final

from compressor.guards import _numerals, _special
from compressor.guards._cues import cues
from compressor.guards._data import CJK
from compressor.guards._equal import compare, same
from compressor.guards._fate import CHANGED, KEPT, MISSING, fate, likeness
from compressor.guards._number import Number
from compressor.guards._phrases import lines
from compressor.guards._spoken import han_numbers, word_numbers
from compressor.guards._units import counted_at, kind_of, unit_at, units

_NUMBER: Final = re.compile(
    rf"(?<![\w.,])(?:(?<![\w)\]}}])(?P<sign>[-+\u00b1]))?(?P<money>(?:US|HK|A|C)?\$|[\u20ac\u00a3\u00a5\uffe5\u20b9\u20a9]|(?:USD|EUR|GBP|CNY|RMB|JPY|CHF)\s?)?"
    rf"\s?(?:(?<=[^\w)])(?P<minus>[-+]))?(?P<numeral>{_numerals.NUMERAL})",
    re.ASCII,
)
#: The `30` of `1h30m`: tried only where a number has just ended.
_GLUED: Final = re.compile(r"(?P<sign>(?!))?(?P<money>(?!))?(?P<minus>(?!))?(?P<numeral>\d{1,4})(?=\s?[a-z])", re.ASCII)
_DIGIT: Final = re.compile("\\d+")
#: Longer runs without a blank are data.
_DATA: Final = re.compile(r"[!-~]{600,}")
_ANY_DIGITS: Final = re.compile(f"[\\d{_numerals.HAN_DIGITS}]+")
_HAN_DIGIT: Final = re.compile(f"[{_numerals.HAN_DIGITS}半]")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th|º|ª|er|ème|e)(?!\w)")
_OF: Final = re.compile(rf"[^\W\d_][\w/.-]*[^\W_]|[{CJK}]+")
_LINK: Final = re.compile(
    r"\s?(?:-|\u2013|\u2014|~|\u301c|to|bis|\u00e0|a|until|till|\u5230|\u81f3|\u301c)\s?$", re.IGNORECASE
)
_DASH: Final = re.compile(r"\s?[-\u2013\u2014~\u301c]")
#: Behind these "10 to 20" tells of a change, not of a range.
_CHANGE: Final = re.compile("(?:from|von|de|desde|从|由|から)\\s?[^\\s]?\\s?$", re.IGNORECASE)
_RATIO: Final = re.compile(r"\s?(?:/|of|of the|out of|out of the|von|von den|sur|de|de las|de los)\s?$")
_NEAR: Final = 40


def numbers(text: str) -> list[Number]:
    """All numbers of the text, in order."""
    plain = _DATA.sub(lambda m: " " * len(m.group()), _numerals.plain(text))
    cjk = not plain.isascii() and bool(_HAN_DIGIT.search(plain))
    found = [n for start, end in _windows(plain, cjk=cjk) for n in _digit_numbers(plain, start, end)]
    found += han_numbers(plain, found) if cjk else []
    found += word_numbers(plain, found)
    found.sort(key=lambda n: n.start)
    merged = _merged(plain, found)
    return [replace(n, text=text[n.start : n.end], of=n.of or _of(plain, n)) for n in merged]


def may_hold(text: str) -> list[bool]:
    """For each line whether it can hold a number: a cheap look."""
    words = _spoken()
    out = []
    for line in lines(text):
        held = bool(_DIGIT.search(line)) or not words.isdisjoint(line.split())
        out.append(held or (not line.isascii() and bool(_HAN_DIGIT.search(line))))
    return out


@cache
def _spoken() -> frozenset[str]:
    return frozenset(units().number_words.keys() | units().ordinal_words.keys())


def _windows(plain: str, *, cjk: bool) -> Iterator[tuple[int, int]]:
    """Stretches around the digits of a text, from blank to blank: nothing else can be a number or hide one."""
    low = high = -1
    for digit in (_ANY_DIGITS if cjk else _DIGIT).finditer(plain):
        if digit.start() < high:
            continue
        start = _blank(plain, max(0, digit.start() - _AHEAD))
        end = plain.find(" ", min(len(plain), digit.end() + _BEHIND))
        end = len(plain) if end < 0 else end
        if high >= 0 and start >= high:
            yield low, high
            low = start
        elif high < 0:
            low = start
        high = end
    if high >= 0:
        yield low, high


def _blank(plain: str, low: int) -> int:
    """Where to begin so that no name is cut: the last blank before `low`, if one is near."""
    space = plain.rfind(" ", max(0, low - _CHUNK), low)
    return space + 1 if space >= 0 else max(0, low - _CHUNK) if low else 0


#: A month or a word of the kind may stand so far before its digits, a unit so far behind.
_AHEAD: Final = 12
_BEHIND: Final = 24
#: How far back a blank is looked for.
_CHUNK: Final = 200


def _digit_numbers(plain: str, start: int, end: int) -> Iterator[Number]:
    at = start
    for special in _special.specials(plain, start, end):
        yield from _quantities(plain, at, special.start)
        if special.kind:
            yield Number(special.start, special.end, "", special.value, "", "", special.kind, "")
        at = special.end
    yield from _quantities(plain, at, end)


def _quantities(plain: str, start: int, end: int) -> Iterator[Number]:
    at = start
    while match := (_GLUED.match(plain, at, end) if at > start else None) or _NUMBER.search(plain, at, end):
        number = _quantity(plain, match)
        if number:
            yield number
        at = max(number.end if number else 0, match.end())


def _quantity(plain: str, match: re.Match[str]) -> Number | None:
    numeral, first, end = match.group("numeral"), match.start("numeral"), match.end()
    if " " in numeral and numeral.count(" ") == 1 and unit_at(plain, end)[0] is None and not counted_at(plain, end):
        numeral = numeral.split(" ")[0]
        end = first + len(numeral)
    value = _numerals.decimal(numeral)
    if value is None or _glued(plain, end):
        return None
    power, end = _numerals.exponent(plain, end)
    value = value.scaleb(power) if power else value
    value, end = _magnitude(plain, end, value)
    sign = match.group("sign") or match.group("minus") or _spoken_sign(plain, match.start())
    start = (
        match.start("sign")
        if match.group("sign")
        else match.start("money")
        if match.group("money")
        else match.start("minus")
        if match.group("minus")
        else first
    )
    money = units().spellings.get((match.group("money") or "").strip())
    if money:
        return Number(start, end, "", value, money.name, sign.replace("+", ""), "money", "")
    return _measured(plain, start, first, end, value, sign)


def _measured(plain: str, start: int, first: int, end: int, value: Decimal, sign: str) -> Number:
    """The quantity with what stands behind it (unit, thing counted) and before it (line, port, id, version)."""
    sign = "-" if sign == "-" else ""
    before = plain[max(0, start - _NEAR) : start]
    numeral = plain[first:end]
    table = units()
    ordinal = _ORDINAL.match(plain, end)
    if ordinal and value == value.to_integral_value():
        return Number(start, ordinal.end(), "", value, "", "", "ordinal", "")
    if before.rstrip().endswith("第"):
        line = plain[end : end + 2].strip().startswith("行")
        return Number(start, end, "", value, "", "", "line" if line else "ordinal", "")
    for kind in table.before.kinds(before):
        if _fits(kind, numeral, plain, end):
            return Number(start, end, "", _named(kind, value, numeral), "", "", kind, "")
    unit, stop = unit_at(plain, end)
    if unit:
        return Number(start, stop, "", value, unit.name, sign, kind_of(unit), "")
    thing = counted_at(plain, end)
    if thing:
        return Number(start, end, "", value, thing, sign, "count", "")
    if len(numeral) >= 9 and numeral.isdigit():
        return Number(start, end, "", numeral, "", "", "id", "")
    return Number(start, end, "", value, "", sign, "number", "")


def _fits(kind: str, numeral: str, plain: str, end: int) -> bool:
    if kind == "version":
        return "," not in numeral and unit_at(plain, end)[0] is None and not counted_at(plain, end)
    if not numeral.isdigit():
        return False
    after = plain[end : end + 1]
    if kind == "line" and after and after in "\u884c\u9875\u7ae0\u8282\u6b65\u6b21\u4e2a\u6761\u7248":
        return after == "\u884c"
    if kind == "id":
        return unit_at(plain, end)[0] is None
    return True


def _named(kind: str, value: Decimal, numeral: str) -> Decimal | str:
    return value if kind in ("line", "port") else numeral


def _glued(plain: str, end: int) -> bool:
    """A digit run that goes on as a name (`3d_model`, `2fa-token`) is no number; a unit may follow."""
    rest = plain[end : end + 1]
    if not (rest.isascii() and (rest.isalpha() or rest == "_")):
        return False
    if rest == "_":
        return True
    return (
        unit_at(plain, end)[0] is None
        and not _MAGNITUDE.match(plain, end)
        and not _ORDINAL.match(plain, end)
        and not re.match(r"[eE][-+]?\d", plain[end : end + 3])
    )


_MAGNITUDE: Final = re.compile(
    r"(?:\s?(?:thousand|tausend|mille|millions?|mil|Mio\.?|Millionen|millones|billions?|Mrd\.?|Milliarden|milliards|trillion)(?!\w)|(?:k|K|M|mm|mn|bn)(?!\w)|\s?(?:\u4e07\u4ebf|\u5341\u4e07|\u767e\u4e07|\u5343\u4e07|[\u767e\u5343\u4e07\u842c\u4ebf\u5104])(?!\u5206\u4e4b|\u522b))"
)


def _magnitude(plain: str, end: int, value: Decimal) -> tuple[Decimal, int]:
    match = _MAGNITUDE.match(plain, end)
    if not match:
        return value, end
    table = units().magnitudes
    word = match.group().strip().rstrip(".")
    return value * table.get(word, table.get(word.lower(), 1)), match.end()


_SPOKEN: Final = re.compile("(?:minus|negative|moins|menos|负|零下|減|マイナス)\\s?$", re.IGNORECASE)


def _spoken_sign(plain: str, start: int) -> str:
    return "-" if _SPOKEN.search(plain[max(0, start - 10) : start]) else ""


def _merged(plain: str, found: list[Number]) -> list[Number]:
    """Join what is one quantity: `1 h 30 min`, `10-20 ms`, `3 of 4`."""
    out: list[Number] = []
    for number in found:
        last = out[-1] if out else None
        if last and number.start < last.end:
            continue
        joined = _join(plain, last, number) if last else None
        if joined:
            out[-1] = joined
        else:
            out.append(number)
    return out


_QUANTITIES: Final = frozenset({"percent", "money", "size", "duration", "measure", "count", "number"})


def _join(plain: str, a: Number, b: Number) -> Number | None:
    if a.kind not in _QUANTITIES or b.kind not in _QUANTITIES or b.start - a.end > 12:
        return None
    between = plain[a.end : b.start]
    if not isinstance(a.value, Decimal) or not isinstance(b.value, Decimal):
        return None
    if a.kind == b.kind == "duration" and between.strip() in ("", "and", "und", "et", "y", "又", ",", "零"):
        return _compound(a, b)
    change = _CHANGE.search(plain[max(0, a.start - 12) : a.start]) and not _DASH.match(between)
    if _LINK.match(between) and (a.unit == b.unit or not a.unit) and not change:
        return Number(
            a.start, b.end, "", f"{a.value.normalize():f}..{b.value.normalize():f}", b.unit, a.sign, "range", ""
        )
    if _RATIO.match(between) and not a.unit and b.kind in ("number", "count") and a.value <= b.value and b.value > 0:
        return Number(a.start, b.end, "", f"{a.value.normalize():f}/{b.value.normalize():f}", b.unit, "", "ratio", "")
    return None


def _compound(a: Number, b: Number) -> Number | None:
    table = units().by_name
    big, small = table[a.unit], table[b.unit]
    assert isinstance(a.value, Decimal)
    assert isinstance(b.value, Decimal)
    if big.of != small.of or small.factor >= big.factor:
        return None
    return replace(a, end=b.end, value=a.value + b.value * small.factor / big.factor)


def _of(plain: str, number: Number) -> str:
    """The words next to the number, in its clause: at most three before and two behind it, and from or to."""
    before = _CLAUSE.split(plain[max(0, number.start - _NEAR) : number.start])[-1]
    after = _CLAUSE.split(plain[number.end : number.end + 24])[0]
    small = cues("en").function
    words = [w for w in _OF.findall(before.lower()) if w not in small][-3:]
    words += [w for w in _OF.findall(after.lower()) if w not in small][:2]
    if _FROM.search(before):
        words.append("from:")
    elif _TO.search(before):
        words.append("to:")
    return " ".join(words)


_CLAUSE: Final = re.compile(r"[.;!?]\s|[\u3002\uff1b\uff0c\u3001\n(]|,\s|\s(?:and|und|et|y|but|while)\s|[\u548c\u4e14]")
_FROM: Final = re.compile("(?:from|von|de|从|由)\\W{0,2}$", re.IGNORECASE)
_TO: Final = re.compile("(?:to|auf|à|a|到|至|为)\\W{0,2}$", re.IGNORECASE)


__all__ = ["CHANGED", "KEPT", "MISSING", "Number", "compare", "fate", "likeness", "may_hold", "numbers", "same"]
