"""Words with their places: what statements are compared by, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from compressor.guards._cues import cues
from compressor.guards._data import CJK, languages, load

#: (start, end, normal form)
Term = tuple[int, int, str]

_TOKEN: Final = re.compile(rf"[{CJK}]+|[^\W_]+(?:['’][^\W_]+)?", re.UNICODE)
_HAN: Final = re.compile(f"[{CJK}]")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: Characters that join words and mean nothing by themselves, beside those of the cue files.
_JOINTS: Final = frozenset("由让使而其之已经约该此并且及或不没未无别勿可以必须务应仍尚正")
#: Words of time and degree that say nothing of what is spoken of.
_ADVERBS: Final = frozenset(["now", "already", "yet", "still", "too", "again", "currently", "really", "very", "quite"])
_NOW: Final = frozenset(["目前", "现在", "当前", "如今", "现今"])
_SHORT, _ROOT = 4, 3
_ENDINGS: Final = ("ing", "ies", "ied", "ed", "es", "s", "e")
#: Longer runs without a break are data.
_LONGEST: Final = 60


@cache
def _function() -> frozenset[str]:
    words: set[str] = set()
    for lang in languages():
        if not cues(lang).cjk:
            words |= cues(lang).function
    words |= _ADVERBS
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


@cache
def _irregular() -> dict[str, str]:
    forms: dict[str, str] = load("forms")["irregular"]
    return forms


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    """The word without its endings, so that its forms are one term."""
    word = word.split("'", 1)[0].split("’", 1)[0]
    word = _irregular().get(word, word)
    if len(word) < _SHORT or not word.isalpha() or not word.isascii():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _ROOT:
            word = word[: -len(ending)]
            break
    if word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > _ROOT else word


def _pairs(run: str, start: int) -> Iterable[Term]:
    """Pairs of characters between those that only join words; what stands alone between two is a term itself."""
    drop, same = _function_han(), _irregular()
    at, size = 0, len(run)
    while at < size:
        if run[at] in drop:
            at += 1
            continue
        end = at
        while end < size and run[end] not in drop:
            end += 1
        if end - at == 1:
            yield start + at, start + end, run[at]
        for i in range(at, end - 1):
            pair = run[i : i + 2]
            if pair not in _NOW:
                yield start + i, start + i + 2, same.get(pair, pair)
        at = end


@lru_cache(maxsize=8192)
def bag(text: str) -> frozenset[str]:
    """The set of a text's terms."""
    return frozenset(t[2] for t in terms(text))


def squeeze(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


_MARKUP: Final = re.compile(r"[*_`>#|\"'“”‘’「」『』《》]+")
_PUNCTUATION: Final = tuple(zip("，。；：！？（）、", ",.;:!?(),", strict=True))


def bare(text: str) -> str:
    """The text without markup, quotes, letter case and the difference between punctuation of two scripts."""
    return _bare(text) if len(text) < _REMEMBERED else _bare.__wrapped__(text)


#: Shorter texts are statements and their clauses, which several checks ask for.
_REMEMBERED: Final = 1_000


@lru_cache(maxsize=8192)
def _bare(text: str) -> str:
    for wide, plain in () if text.isascii() else _PUNCTUATION:  # a table would look at every character by itself
        text = text.replace(wide, plain)
    return squeeze(_MARKUP.sub("", text).replace("- ", " ").casefold()).strip(" .,;:!?-")
