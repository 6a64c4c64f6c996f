"""Numbers that are no quantities: dates, times, versions, hashes, ids, addresses, places in files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final

from compressor.guards._units import units


@dataclass(frozen=True, slots=True)
class Special:
    """A stretch with its normal form; kind "" for what holds digits and is no number (a URL, a path)."""

    start: int
    end: int
    kind: str
    value: str


_ZONE: Final = r"(?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)(?!\w))?"
_CLOCK: Final = r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?"


@cache
def _pattern() -> re.Pattern[str]:
    months = "|".join(sorted((re.escape(m) for m in units().months), key=len, reverse=True))
    day = r"(?:0?[1-9]|[12]\d|3[01])"
    parts = (
        r"(?P<url>\b[a-z][a-z0-9+.-]{1,15}://(?:[^\s<>\"'`\u3000-\u9fff\uff00-\uffef]{0,400}))",
        r"(?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)",
        r"(?P<phone>(?<![\w-])(?:\+\d{1,3}[- ]?)?\(?\d{2,4}\)?[- ]\d{3,4}[- ]\d{3,5}(?![\w-])|(?<!\w)\+\d[\d -]{6,16}\d(?!\w))",
        r"(?P<dated>(?<![\w-])\d{4}-\d\d-\d\d-\w+(?:-\w+)*)",
        r"(?P<network>(?<!\w)[2-6]G(?!\w))",
        rf"(?P<datetime>(?<![\d/.-])\d{{4}}[-/]\d\d[-/]\d\d[T ]\s?{_CLOCK}{_ZONE})",
        r"(?P<isodate>(?<![\d/.-])(?:19|20)\d\d(?P<sep>[-/.])(?:0?[1-9]|1[0-2])(?P=sep)(?:0?[1-9]|[12]\d|3[01])(?![\d-]))",
        r"(?P<handate>(?:(?P<hy>\d{4}|[零〇一二三四五六七八九]{4})\s?年\s?)?(?P<hm>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月(?:\s?(?P<hd>[12]\d|3[01]|0?[1-9]|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s?[日号])(?![\d线码]))",
        rf"(?P<dmy>(?<![\w.]){day}(?:st|nd|rd|th|\.|er)?(?:\s|-)(?:of |de |del )?(?i:{months})(?![a-zà-ÿ])\.?(?:(?:,?\s|-)(?:de |del )?(?:19|20)\d\d(?!\d))?)",
        rf"(?P<mdy>(?<![\w])(?i:{months})\.?\s{day}(?:st|nd|rd|th)?(?![\d:%])(?:,?\s(?:19|20)\d\d(?!\d))?)",
        r"(?P<dots>(?<![\d.])(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:19|20)\d\d(?![\d.]))",
        r"(?P<slashes>(?<![\d/])(?:\d{1,2})/(?:\d{1,2})/(?:19|20)?\d\d(?![\d/]))",
        r"(?P<ip>(?<![\w.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\w.]*\d)(?::\d{1,5}|/\d{1,2})?)",
        r"(?P<hex>(?<!\w)0[xX][0-9a-fA-F_]+(?!\w))",
        r"(?P<version>(?<![\w.])(?:[vV]\d+(?:\.\d+)*|\d+\.\d+\.\d+(?:\.\d+)*|(?<=[=<>~^@]) ?\d+(?:\.\d+)+)(?:[-+.]?(?:alpha|beta|rc|dev|post|a|b|pre|snapshot)[-.]?\d*)?(?:\+[\w.]+)?(?![\w]|\.\d))",
        rf"(?P<time>(?<![\w:./-]){_CLOCK}(?:\s?[aApP]\.?[mM]\.?(?![a-z]))?{_ZONE}(?![\d:]))",
        r"(?P<ampm>(?<![\w:.])(?:1[0-2]|0?[1-9])\s?[aApP]\.?[mM]\.?(?!\w))",
        r"(?P<hantime>(?:(?P<half>凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|午後|午前)\s?)?(?P<th>2[0-4]|1?\d|[零〇一二两三四五六七八九十]{1,3})\s?(?:点钟|点|點|时|時)(?!候|间|間|半天|\d*[%倍]|[零〇一二三四五六七八九]+(?:[^分刻零〇一二三四五六七八九十]|$))(?:(?P<quarter>半|一刻|三刻)|(?P<tm>[0-5]?\d|[零〇一二三四五六七八九十]{1,3})\s?分?)?)",
        r"(?P<place>(?<![\w])[\w./\\-]*[\w]\.[A-Za-z]\w{0,9}:(?P<pl>\d{1,7})(?::\d{1,6})?(?![\d:.]*\d))",
        r"(?P<host>(?<![\w.])(?:[a-z][\w-]*(?:\.[\w-]+)*):(?P<hp>\d{2,5})(?![\w.:]*\d))",
        r"(?P<ticket>(?<![\w-])(?:[A-Z][A-Z0-9]{1,11}-\d{1,10}(?:-[A-Z0-9]+)*|#[A-Z]{0,4}\d{1,16})(?![\w]))",
        r"(?P<code>(?<![\w-])(?=[A-Z0-9-]{0,40}[A-Z][A-Z0-9-]{0,40}\d)(?=.{5})[A-Z0-9]{2,}(?:-[A-Z0-9]{2,})*(?![\w-]))",
        r"(?P<hash>(?<![\w/-])(?=[0-9a-f]{0,64}[a-f])(?=[0-9a-f]{0,64}\d)[0-9a-f]{7,64}(?![\w-]))",
        r"(?P<path>(?<![\w])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]*[A-Za-z][\w.@-]*)",
        r"(?P<name>(?<![\w-])[A-Za-z_]+[-_]?\d[\w-]*(?:\.\w+)*)",
    )
    return re.compile("|".join(parts))


def specials(plain: str, start: int, end: int) -> list[Special]:
    """All of them in the stretch, in order; the text has plain digits already."""
    out: list[Special] = []
    for match in _pattern().finditer(plain, start, end):
        kind = match.lastgroup or ""
        for name in _MAKERS:
            if match.group(name) is not None:
                made = _MAKERS[name](match)
                if made:
                    out.append(Special(made[2], made[3], made[0], made[1]))
                break
        else:
            out.append(Special(match.start(), match.end(), "", kind))
    return out


_Made = tuple[str, str, int, int] | None


def _whole(kind: str, value: Callable[[str], str]) -> Callable[[re.Match[str]], _Made]:
    return lambda m: (kind, value(m.group()), m.start(), m.end())


def _day(year: str, month: int, day: int) -> str:
    if year:
        if len(year) == 2:
            year = f"20{year}"
        try:
            return date(int(year), month, day).isoformat()
        except ValueError:
            return f"{year}-{month:02d}-{day:02d}"
    return f"{month:02d}-{day:02d}"


def _iso(m: re.Match[str]) -> _Made:
    year, month, day = re.split(r"[-/.]", m.group())
    return "date", _day(year, int(month), int(day)), m.start(), m.end()


def _datetime(m: re.Match[str]) -> _Made:
    day, clock = re.split(r"[T ]\s?", m.group(), maxsplit=1)
    year, month, number = re.split(r"[-/]", day)
    return "datetime", f"{_day(year, int(month), int(number))}T{_clock(clock)}", m.start(), m.end()


def _named_month(m: re.Match[str]) -> _Made:
    text = m.group().lower()
    year = re.search(r"(?:19|20)\d\d$", text)
    rest = text[: year.start()] if year else text
    number = re.search(r"\d{1,2}", rest)
    word = re.search(
        r"(?!st\b|nd\b|rd\b|th\b|of\b|de\b|del\b|er\b)[a-zà-ÿ]{3,}", re.sub(r"\d+(?:st|nd|rd|th|er)?", " ", rest)
    )
    if not number or not word or word.group() not in units().months:
        return None
    if word.group() == "may" and m.group()[0] == "m" and not year:
        return None
    return (
        "date",
        _day(year.group() if year else "", units().months[word.group()], int(number.group())),
        m.start(),
        m.end(),
    )


def _dots(m: re.Match[str]) -> _Made:
    day, month, year = m.group().split(".")
    return "date", _day(year, int(month), int(day)), m.start(), m.end()


def _slashes(m: re.Match[str]) -> _Made:
    first, second, year = (int(p) if i < 2 else p for i, p in enumerate(m.group().split("/")))
    assert isinstance(first, int)
    assert isinstance(second, int)
    if first > 12 >= second > 0:
        first, second = second, first
    elif not (0 < first <= 12 and 0 < second <= 31):
        return None
    elif second <= 12 and first != second:
        # month and day cannot be told apart: the text itself is the value
        return "date", f"{first}/{second}/{str(year)[-2:]}", m.start(), m.end()
    return "date", _day(str(year), first, second), m.start(), m.end()


_HAN_ONES: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


def _han_small(text: str) -> int:
    if text.isdigit() and text.isascii():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_HAN_ONES.get(tens, 1)) * 10 + _HAN_ONES.get(ones, 0)
    return int("".join(str(_HAN_ONES[c]) for c in text))


def _han_date(m: re.Match[str]) -> _Made:
    year = str(_han_small(m.group("hy"))) if m.group("hy") else ""
    return "date", _day(year, _han_small(m.group("hm")), _han_small(m.group("hd"))), m.start(), m.end()


def _clock(text: str) -> str:
    text = text.strip()
    zone = re.search(r"\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)$", text)
    body = text[: zone.start()] if zone else text
    offset = (
        ""
        if not zone
        else "Z"
        if re.sub(r"[\d:+-]", "", zone.group(1)) or not re.search(r"[1-9]", zone.group(1))
        else zone.group(1).replace(":", "")
    )
    half = re.search(r"\s?([aApP])\.?[mM]\.?$", body)
    hours, *rest = (body[: half.start()] if half else body).split(":")
    hour = int(hours)
    if half:
        hour = hour % 12 + (12 if half.group(1).lower() == "p" else 0)
    fields = [f"{hour:02d}", *(rest or ["00"])]
    if len(fields) == 3 and fields[2].replace(",", ".").split(".")[0] == "00" and not re.search(r"[1-9]", fields[2]):
        fields.pop()
    return ":".join(fields) + offset


def _han_time(m: re.Match[str]) -> _Made:
    if not (
        m.group("half")
        or m.group("quarter")
        or m.group("tm")
        or re.match(r"\d|.{1,3}(?:点钟|時)", m.group("th") + m.group()[len(m.group("th")) :])
    ):
        return None
    hour = _han_small(m.group("th"))
    half = m.group("half") or ""
    if half in ("下午", "傍晚", "晚上", "夜里", "午後") and hour < 12:
        hour += 12
    if half == "中午" and hour < 4:
        hour += 12
    quarter = {"半": 30, "一刻": 15, "三刻": 45}.get(m.group("quarter") or "", 0)
    minute = _han_small(m.group("tm")) if m.group("tm") else quarter
    if hour > 24 or minute > 59:
        return None
    return "time", f"{hour:02d}:{minute:02d}", m.start(), m.end()


def _hex(text: str) -> str:
    return f"0x{int(text.replace('_', ''), 16):x}"


def _version(m: re.Match[str]) -> _Made:
    text = m.group()
    start = m.start() + (len(text) - len(text.lstrip()))
    value = text.strip().lstrip("vV")
    return "version", value, start, m.end()


_MAKERS: Final[dict[str, Callable[[re.Match[str]], _Made]]] = {
    "uuid": _whole("id", str.lower),
    "phone": _whole("id", lambda t: "".join(c for c in t if c.isdigit())),
    "dated": _whole("id", str),
    "datetime": _datetime,
    "isodate": _iso,
    "handate": _han_date,
    "dmy": _named_month,
    "mdy": _named_month,
    "dots": _dots,
    "slashes": _slashes,
    "ip": _whole("address", str),
    "hex": _whole("hex", _hex),
    "version": _version,
    "time": _whole("time", _clock),
    "ampm": _whole("time", _clock),
    "hantime": _han_time,
    "place": lambda m: ("line", m.group("pl"), m.start("pl"), m.end("pl")),
    "host": lambda m: ("port", m.group("hp"), m.start("hp"), m.end("hp")),
    "ticket": _whole("id", lambda t: t.lstrip("#")),
    "code": _whole("id", str),
    "hash": _whole("hash", str),
}
