"""The units, things and context words of numbers, from `rules/cues/units.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Final

from compressor.guards._data import CJK, alternation, load

_CJK_CHAR: Final = re.compile(f"[{CJK}]")
_LATIN_UNIT: Final = re.compile(
    r"[ -]?(?:(?:US|HK|A|C)\$|[$\u20ac\u00a3\u00a5\uffe5\u20b9\u20a9\u00a2\u2030%\u00d7\u2103\u2109]|\u00b0[CF]?|[A-Za-z\u00b5\u03bc\u00c0-\u024f]+[\u00b22]?(?:/[A-Za-z]+)?)"
)
_LATIN_WORD: Final = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_PHRASE_UNITS: Final = ("percentage points", "percentage point", "basis points", "basis point", "per cent", "por ciento", "pour cent",
                        "requests per second", "frames per second", "degrees celsius", "degrees fahrenheit", "pounds sterling")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: what it measures and how many of that measure's base it is."""

    name: str
    of: str
    factor: Decimal


@dataclass(frozen=True, slots=True)
class Units:
    """Every unit by spelling, every counted thing by word, and the words that say what a number is."""

    by_name: Mapping[str, Unit]
    spellings: Mapping[str, Unit]
    han: tuple[str, ...]
    counted: Mapping[str, str]
    counted_han: tuple[str, ...]
    classifiers: frozenset[str]
    magnitudes: Mapping[str, int]
    months: Mapping[str, int]
    money: frozenset[str]
    ambiguous: Mapping[str, tuple[str, ...]]
    number_words: Mapping[str, int]
    ordinal_words: Mapping[str, int]
    before: Before
    not_numerals: re.Pattern[str]


def _words(value: str | list[str]) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value
    return [w for w in (str(i).strip() for i in items) if w]


@cache
def units() -> Units:
    """The table, read once."""
    data: Mapping[str, Any] = load("units")
    by_name: dict[str, Unit] = {}
    spellings: dict[str, Unit] = {}
    for name, entry in data["units"].items():
        unit = Unit(str(name), str(entry["of"]), Decimal(str(entry.get("factor", 1))))
        by_name[unit.name] = unit
        spellings.update((w, unit) for w in _words(entry["words"]))
    counted = {w: _words(line)[0] for line in data["counted"] for w in _words(line)}
    han = [w for w in spellings if _CJK_CHAR.search(w)]
    return Units(
        by_name=by_name,
        spellings=spellings,
        han=tuple(sorted(han, key=len, reverse=True)),
        counted=counted,
        counted_han=tuple(sorted((w for w in counted if _CJK_CHAR.search(w)), key=len, reverse=True)),
        classifiers=frozenset(_words(data["classifiers"])),
        magnitudes=data["magnitudes"],
        months={w: i for i, line in enumerate(data["months"], 1) for w in _words(line)},
        money=frozenset(_words(data["money"])),
        ambiguous={k: tuple(v) for k, v in data["ambiguous"].items()},
        number_words=data["number_words"],
        ordinal_words=data["ordinal_words"],
        before=Before({k: _words(v) for k, v in data["before"].items()}),
        not_numerals=re.compile(alternation(_words(data["not_numerals"]))),
    )


class Before:
    """Words at the end of what stands before a number, with a mark or a short link between, that say what it is."""

    __slots__ = ("_han", "_words")

    def __init__(self, kinds: Mapping[str, Iterable[str]]) -> None:
        self._words: dict[str, list[str]] = {}
        self._han: list[tuple[str, str]] = []
        for kind, words in kinds.items():
            for word in words:
                if _CJK_CHAR.search(word):
                    self._han.append((word, kind))
                else:
                    self._words.setdefault(word.lower(), []).append(kind)

    def kinds(self, before: str) -> list[str]:
        """The kinds that the end of the stretch speaks for, as listed."""
        text = before.lower().rstrip(_LINKS)
        out = self._ending(text)
        for link in _LINK_WORDS:
            if text.endswith(link):
                out += self._ending(text[: -len(link)].rstrip(_LINKS))
                break
        return out

    def _ending(self, text: str) -> list[str]:
        if not text:
            return []
        if not text[-1].isascii():
            return [kind for word, kind in self._han if text.endswith(word)]
        words = [w.strip(_QUOTES) for w in text.rsplit(None, 2)]
        if not words:
            return []
        last = words[-1]
        if not last.isascii():
            last = _TAIL.sub("", last)
        found = list(self._words.get(last, ()))
        if len(words) > 1:
            found += self._words.get(f"{words[-2]} {last}", ())
        return found


_LINKS: Final = " \t:#=(\uff1a@'\"\u2116<>~^."
_QUOTES: Final = "(\"'*_`\u201c\u201d"
_LINK_WORDS: Final = (" number", " no", " nr", " is", " was", " to", " at", " on", "\u662f", "\u4e3a")
_TAIL: Final = re.compile(r".*[^\x00-\x7f]")


def unit_at(text: str, at: int) -> tuple[Unit | None, int]:
    """The unit written at this place, and where it ends; money signs and words, too."""
    table = units()
    if at < len(text) and (_CJK_CHAR.match(text, at) or (text[at] == " " and _CJK_CHAR.match(text, at + 1))):
        start = at + (text[at] == " ")
        for word in table.han:
            if text.startswith(word, start):
                return table.spellings[word], start + len(word)
        return None, at
    lower = text[at : at + 24].lstrip(" -").lower()
    for phrase in _PHRASE_UNITS:
        if lower.startswith(phrase):
            return table.spellings[phrase], text.lower().index(phrase, at) + len(phrase)
    match = _LATIN_UNIT.match(text, at)
    if not match:
        return None, at
    word = match.group().lstrip(" -")
    unit = _spelled(word, table)
    if unit is None and "/" in word:
        unit = _rate(word, table)
    if unit is None and word[-1:] == "2" or (unit is None and "/" in word):
        short = word.rstrip("2").split("/")[0]
        unit, end = _spelled(short, table), match.end() - len(word) + len(short)
        return (unit, end) if unit else (None, at)
    return (None, at) if unit is None or _glued(text, match.end(), word, unit) else (unit, match.end())


def _glued(text: str, end: int, word: str, unit: Unit) -> bool:
    """Whether a name goes on behind the unit; `1h30m` is no name."""
    rest = text[end : end + 1]
    if not word[-1:].isalpha() or not (rest.isalnum() or rest == "_") or _CJK_CHAR.match(rest):
        return False
    return not (rest.isdigit() and unit.of == "duration")


def _spelled(word: str, table: Units) -> Unit | None:
    return table.spellings.get(word) or table.spellings.get(word.lower())


def _rate(word: str, table: Units) -> Unit | None:
    """`MB/s`, `$/month`: the upper unit, measured per the lower one."""
    upper, _, lower = word.partition("/")
    a, b = _spelled(upper, table), _spelled(lower, table)
    if a is None or b is None:
        return None
    return Unit(f"{a.name}/{b.name}", f"{a.of}/{b.of}", a.factor / b.factor)


def counted_at(text: str, at: int) -> str:
    """What the number that ends here counts: the next word that names a countable thing, at most two words on."""
    table = units()
    for skip in ("", " "):
        start = at + len(skip)
        if text.startswith(skip, at) and _CJK_CHAR.match(text, start):
            return _counted_han(text, start, table)
    for i, match in enumerate(_LATIN_WORD.finditer(text, at, at + 48)):
        between = text[at : match.start()]
        if i > 2 or between.strip(" -*_`"):
            return ""
        word = match.group().lower()
        pair = text[match.start() : match.end() + 8].lower()
        for two in ("test case", "test cases"):
            if pair.startswith(two):
                return table.counted[two]
        if word in table.counted:
            return table.counted[word]
        if word in (
            "of",
            "out",
            "and",
            "or",
            "to",
            "in",
            "on",
            "at",
            "is",
            "are",
            "was",
            "were",
            "for",
            "with",
            "by",
            "from",
            "than",
        ):
            return ""
        at = match.end()
    return ""


def _counted_han(text: str, at: int, table: Units) -> str:
    for word in table.counted_han:
        if text.startswith(word, at) and len(word) > 1:
            return table.counted[word]
    if text[at] in table.classifiers:
        rest = at + 1 + (text[at + 1 : at + 2] == " ")
        for word in table.counted_han:
            if text.startswith(word, rest) and len(word) > 1:
                return table.counted[word]
        latin = _LATIN_WORD.match(text, rest)
        if latin and latin.group().lower() in table.counted:
            return table.counted[latin.group().lower()]
        return table.counted.get(text[at], "")
    return table.counted.get(text[at], "")


def kind_of(unit: Unit) -> str:
    """The kind of number that has this unit."""
    if unit.name in units().money or unit.of in units().money:
        return "money"
    return unit.of if unit.of in ("percent", "size", "duration") else "duration" if unit.of == "months" else "measure"
