"""Words with their places: what statements are compared by, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from compressor.guards._cues import cues
from compressor.guards._data import CJK, languages
from compressor.guards.negation import stem

#: (start, end, normal form)
Term = tuple[int, int, str]

_TOKEN: Final = re.compile(rf"[{CJK}]+|[^\W_]+(?:['’][^\W_]+)?", re.UNICODE)
_HAN: Final = re.compile(f"[{CJK}]")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: Characters that join words and mean nothing by themselves, beside those of the cue files.
_JOINTS: Final = frozenset("由让使而其之已约该此并且及或")
_SPACES: Final = re.compile(r"\s+")
#: Longer runs without a break are data.
_LONGEST: Final = 60


@cache
def _function() -> frozenset[str]:
    words: set[str] = set()
    for lang in languages():
        if not cues(lang).cjk:
            words |= cues(lang).function
    return frozenset(words)


@cache
def _function_han() -> frozenset[str]:
    listed = (c for lang in ("zh", "ja") if lang in languages() for c in cues(lang).function if len(c) == 1)
    return frozenset(listed) | _JOINTS


@lru_cache(maxsize=2048)
def terms(text: str) -> tuple[Term, ...]:
    """The words of a text that carry meaning, in order, cut to their stems; pairs of characters where no spaces are.

    A name in several humps or joined by `_`, `-`, `/` or dots is each of its words.
    """
    out: list[Term] = []
    for match in _TOKEN.finditer(text):
        start, word = match.start(), match.group()
        if _HAN.match(word):
            out.extend(_pairs(word, start))
        elif len(word) <= _LONGEST:
            for part in _HUMPS.split(word) if not (word.islower() or word.isupper()) else (word,):
                lower = part.lower()
                if lower not in _function() and (len(lower) > 1 or not lower.isalpha()):
                    out.append((start, start + len(part), _stem(lower)))
                start += len(part)
    return tuple(out)


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return stem(word.split("'", maxsplit=1)[0].split("’", maxsplit=1)[0])


def _pairs(run: str, start: int) -> Iterable[Term]:
    drop = _function_han()
    if len(run) == 1:
        if run not in drop:
            yield start, start + 1, run
        return
    for i in range(len(run) - 1):
        if run[i] not in drop and run[i + 1] not in drop:
            yield start + i, start + i + 2, run[i : i + 2]


def bag(text: str) -> frozenset[str]:
    """The set of a text's terms."""
    return frozenset(t[2] for t in terms(text))


def squeeze(text: str) -> str:
    """The text with every run of white space as one space."""
    return _SPACES.sub(" ", text).strip()


_MARKUP: Final = re.compile(r"[*_`>#|\"'“”‘’「」『』《》]+")
_PUNCTUATION: Final = str.maketrans("，。；：！？（）、", ",.;:!?(),")


def bare(text: str) -> str:
    """The text without markup, quotes, letter case and the difference between punctuation of two scripts."""
    return squeeze(_MARKUP.sub("", text.translate(_PUNCTUATION)).replace("- ", " ").casefold()).strip(" .,;:!?-")
