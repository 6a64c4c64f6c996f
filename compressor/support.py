"""Whether texts speak of the same matter: the words of one that another holds too, in languages with and without spaces.

It proves nothing, and is cheap: a reason of which the sources hold hardly a word was not given there, and a name that
stands nowhere near what is told of it was put in another's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from compressor.language import lexicon

_WORD: Final = re.compile(r"[^\W\d_]{4,}|\d[\d.,]*\d|\d{2,}")
_HAN: Final = re.compile(r"[一-鿿]+")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
#: Words that say nothing of the matter.
_EMPTY: Final = frozenset(
    ["that", "this", "with", "from", "have", "been", "were", "they", "them", "then", "than", "when", "what", "which", "will", "would", "should", "could", "also", "into", "only", "does", "done", "more", "most", "some", "such", "very", "just", "because", "since", "after", "before", "user", "assistant", "agent", "over", "their", "there", "here", "still", "each", "other", "about", "like", "way", "better", "want", "wants", "wanted", "prefer", "preferred", "prefers"]
)
#: Words of different endings count as one.
_STEM: Final = 5
_ASCII: Final = re.compile(r"[A-Za-z']+\Z")


def matter(text: str) -> set[str]:
    """What a text speaks of: stems of its words, numbers, pairs of Chinese characters."""
    text = text.casefold()
    found = {
        w.replace(",", "")[:_STEM] if w[0].isalpha() else w.replace(",", "")
        for w in _WORD.findall(text)
        if w not in _EMPTY
    }
    for run in _HAN.findall(text):
        found.update(run[i : i + 2] for i in range(len(run) - 1))
    return found


def share(text: str, others: Iterable[str]) -> float:
    """How much of a text's matter the others speak of; 1 if it speaks of nothing."""
    wanted = matter(text)
    if not wanted:
        return 1.0
    held: set[str] = set()
    for other in others:
        held |= matter(other)
    return len(wanted & held) / len(wanted)


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a text."""
    return (s for s in _SENTENCE.split(text) if s.strip())


@lru_cache(maxsize=16)
def _because(language: str) -> re.Pattern[str]:
    cues = sorted(lexicon(language).cues.get("because", ()), key=len, reverse=True)
    words = [rf"\b{re.escape(c)}\b" if _ASCII.match(c.replace(" ", "")) else re.escape(c) for c in cues]
    return re.compile("|".join(words) or r"(?!)", re.IGNORECASE)


def reason(text: str, language: str) -> str:
    """The reason that a sentence gives, or ""."""
    found = _because(language).search(text)
    if found is None:
        return ""
    behind = text[found.end() :].strip(" ,:，：")
    stop = re.search(r"[.;。；]\s|[.;。；]\Z|，", behind)
    return behind[: stop.start()] if stop else behind
