"""Find any of many phrases: a look at each word, and only behind the right first word a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from compressor.guards._data import CJK, alternation, compiled

_TOKEN: Final = re.compile(rf"[^\W\d_{CJK}]+(?:['\u2019\u02bc][^\W\d_{CJK}]+)*|[{CJK}]")
_FIRST: Final = re.compile(rf"[^\W\d_{CJK}]+(?:'[^\W\d_{CJK}]+)*|[{CJK}]")
#: Marks that become blanks: those of ASCII by a table of bytes, which costs nothing, the others one by one.
_MARKS: Final = b'!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\r'
_BLANKS: Final = bytes.maketrans(_MARKS, b" " * len(_MARKS))
_WIDE_MARKS: Final = (*((mark, " ") for mark in "–—“”…«»¡¿"), ("\u2019", "'"))


class Phrases:
    """A set of phrases as one pattern.

    Attributes:
        keys: for each Latin phrase one word that a text must hold to hold the phrase.
        chars: the first characters of the CJK phrases.
    """

    __slots__ = ("_by_first", "_compiled", "_others", "chars", "keys")

    def __init__(self, items: Iterable[str]) -> None:
        firsts: dict[str, list[str]] = {}
        others: list[str] = []
        keys: set[str] = set()
        for phrase in items:
            found = list(_firsts(phrase))
            for first in found:
                firsts.setdefault(first, []).append(phrase)
            if not found:
                others.append(phrase)
            if not _FIRST.match(phrase) or not _is_cjk(phrase[0]):
                keys.update(_keys(phrase))
        self._by_first = firsts
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._others = compiled(others) if others else None
        self.keys = frozenset(keys)
        self.chars = frozenset(k for k in firsts if _is_cjk(k))

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        """The matches in the stretch; one may lie in another that begins before it."""
        end = len(text) if end is None else end
        return self.among(tokens(text, start, end), text, start, end)

    def among(self, words: Iterable[tuple[int, str]], text: str, start: int, end: int) -> Iterator[re.Match[str]]:
        """As `finditer`, for a stretch whose `tokens` are known."""
        known = self._by_first
        for at, word in words:
            if word in known and (match := self._pattern(word).match(text, at, end)):
                yield match
        if self._others:
            yield from self._others.finditer(text, start, end)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """The first match in the stretch."""
        return next(self.finditer(text, start, end), None)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The match that begins right here."""
        token = _TOKEN.match(text, start)
        word = token.group().lower().replace("\u2019", "'") if token else ""
        match = self._pattern(word).match(text, start) if word in self._by_first else None
        return match or (self._others.match(text, start) if self._others else None)

    def _pattern(self, first: str) -> re.Pattern[str]:
        """The phrases with this first word; compiled when it is met, which for most never happens."""
        pattern = self._compiled.get(first)
        if pattern is None:
            pattern = self._compiled[first] = re.compile(alternation(self._by_first[first]), re.IGNORECASE)
        return pattern

    def in_line(self, words: Iterable[str], line: str) -> bool:
        """Whether a line (see `lines`) with these words can hold a phrase at all."""
        return not self.keys.isdisjoint(words) or (
            bool(self.chars) and not line.isascii() and not self.chars.isdisjoint(line)
        )


def any_in_line(sets: Sequence[Phrases]) -> Callable[[Iterable[str], str], bool]:
    """`Phrases.in_line` of any of these sets, with one look for all of them."""
    keys: frozenset[str] = frozenset().union(*(p.keys for p in sets))
    chars: frozenset[str] = frozenset().union(*(p.chars for p in sets))

    def held(words: Iterable[str], line: str) -> bool:
        return not keys.isdisjoint(words) or (not line.isascii() and not chars.isdisjoint(line))

    return held


def tokens(text: str, start: int, end: int) -> list[tuple[int, str]]:
    """The words of a stretch, each CJK character by itself, in lower case and with their places."""
    small = text.lower().replace("\u2019", "'") if end - start == len(text) else ""
    if len(small) != len(text):
        return [(m.start(), m.group().lower().replace("\u2019", "'")) for m in _TOKEN.finditer(text, start, end)]
    return [(m.start(), m.group()) for m in _TOKEN.finditer(small, start, end)]


def lines(text: str) -> list[str]:
    """The lines of a text in lower case, with blanks for marks: for a cheap look at their words."""
    small = text.lower().encode("utf-8", "surrogatepass").translate(_BLANKS).decode("utf-8", "surrogatepass")
    for mark, plain in () if small.isascii() else _WIDE_MARKS:
        small = small.replace(mark, plain)
    return small.split("\n")


def _is_cjk(char: str) -> bool:
    return bool(_CJK_CHAR.match(char))


_CJK_CHAR: Final = re.compile(f"[{CJK}]")


def _firsts(phrase: str) -> Iterator[str]:
    """The first word of a phrase in all its spellings; none when it begins with an open one."""
    word = phrase.split(" ", 1)[0]
    if word.startswith("*") or word.endswith("~"):
        return
    for part in word.split("|"):
        match = _FIRST.match(part.lower())
        if match is None:
            return
        yield match.group()


def _keys(phrase: str) -> Iterator[str]:
    """The longest word of a phrase in all its spellings."""
    words = [w for w in phrase.lower().split(" ") if not w.startswith("*") and not w.endswith("~")]
    best = max(words, key=lambda w: min(len(part) for part in w.split("|")), default="")
    for part in best.split("|") if best else [phrase.split("~", maxsplit=1)[0].strip("' ").lower()]:
        match = _FIRST.search(part)
        if match:
            yield match.group()
