"""Find cue words in a sentence: all lists of English, Chinese and the session's language in one pass.

A phrase is looked up by its first word, so the cost is one dictionary access per word, however long the
lists in `rules/cues/` grow. Chinese cues go through one alternation, and only where Chinese characters stand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from compressor.language import lexicon

_WORD: Final = re.compile(r"[a-zà-ÿ]+(?:['’-][a-zà-ÿ]+)*")
_HAN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")

#: First hit of each list in a sentence: (start, end).
Hits = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Cues:
    """The compiled lists."""

    spaced: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    unspaced: re.Pattern[str]
    unspaced_names: Mapping[str, tuple[str, ...]]

    def find(self, text: str) -> dict[str, tuple[int, int]]:
        """The first hit of each cue list, by the list's name."""
        low = text.lower()
        hits: dict[str, tuple[int, int]] = {}
        spaced = self.spaced
        for found in _WORD.finditer(low):
            phrases = spaced.get(found.group())
            if phrases:
                _match(low, found.start(), phrases, hits)
        if _HAN.search(low):
            for found in self.unspaced.finditer(low):
                for name in self.unspaced_names[found.group()]:
                    hits.setdefault(name, found.span())
        return hits


def _match(
    low: str, start: int, phrases: tuple[tuple[str, tuple[str, ...]], ...], hits: dict[str, tuple[int, int]]
) -> None:
    for phrase, names in phrases:
        end = start + len(phrase)
        if low.startswith(phrase, start) and not low[end : end + 1].isalpha():
            for name in names:
                hits.setdefault(name, (start, end))


@cache
def cues(language: str) -> Cues:
    """The cues of English and Chinese, and of the session's language where there are any."""
    by_phrase: dict[str, list[str]] = {}
    for tag in dict.fromkeys(("en", "zh", language)):
        for name, phrases in lexicon(tag).cues.items():
            if name == "frequent":
                continue
            for phrase in phrases:
                names = by_phrase.setdefault(phrase.lower(), [])
                if name not in names:
                    names.append(name)
    spaced: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    unspaced: dict[str, tuple[str, ...]] = {}
    for phrase, names in by_phrase.items():
        first = _WORD.match(phrase)
        if first is None:
            unspaced[phrase] = tuple(names)
        else:
            spaced.setdefault(first.group(), []).append((phrase, tuple(names)))
    longest = sorted(unspaced, key=lambda p: (-len(p), p))
    pattern = re.compile("|".join(map(re.escape, longest)) or r"(?!)")
    return Cues({word: tuple(phrases) for word, phrases in spaced.items()}, pattern, unspaced)
