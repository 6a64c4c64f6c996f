"""What a statement is worth to the next worker, and whether it has been told already."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from compressor.summarizers._prose import Statement

_TOKEN: Final = re.compile(r"[^\s\"'<>()\[\]{},;|`=*，。；：、（）「」]{3,200}")
_HARD: Final = re.compile(r"\d|[_/\\]|[a-z]\.[a-z]|[a-z][A-Z]")
_CJK: Final = re.compile(r"[\u3400-\u9fff]+")
#: Share of a statement's words that another one must have told for it to be a repetition.
_REPEATED: Final = 0.75


class Worth:
    """Worth of texts by the hard items in them; without given values, an item is worth how often it is said."""

    def __init__(self, value: Mapping[str, float], said: Sequence[Statement], focus: str) -> None:
        self._value = value or _frequencies(said)
        self._focus = [w for w in re.split(r"[\s,]+", focus.lower()) if w]

    def items(self, text: str) -> dict[str, float]:
        """The valued items of a text."""
        value = self._value
        out: dict[str, float] = {}
        for token in _TOKEN.findall(text):
            bare = token.strip(".:!?-")
            worth = value.get(bare, 0.0)
            if not worth and ":" in bare:
                bare = bare.split(":", 1)[0]
                worth = value.get(bare, 0.0)
            if worth > 0:
                out[bare] = worth
        return out

    def of(self, text: str) -> float:
        """1 for a text without items, more with each item, a text that the user's focus names much more."""
        found = sum(math.log1p(w) for w in self.items(text).values())
        dense = (1.0 + found) / (0.6 + len(text) / 250)
        if self._focus and any(w in text.lower() for w in self._focus):
            dense *= 4
        return dense


def _frequencies(said: Sequence[Statement]) -> Mapping[str, float]:
    tokens = (t.strip(".:!?-") for s in said for t in _TOKEN.findall(s.text))
    counts = Counter(t for t in tokens if _HARD.search(t))
    return {t: float(n) for t, n in counts.items()}


class Told:
    """Remembers what has been told, so that nothing is told twice in other words."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._where: dict[str, list[int]] = {}

    def fresh(self, text: str) -> bool:
        """Take a text up unless most of its words stand in one that was told before."""
        words = _words(text)
        shared: Counter[int] = Counter()
        for word in words:
            shared.update(self._where.get(word, ()))
        least = max(1, len(words))
        if any(n >= _REPEATED * min(least, self._sizes[i]) and n >= 2 for i, n in shared.items()):
            return False
        self.add(words)
        return bool(words)

    def add(self, words: Iterable[str]) -> None:
        """Take up the words of a text that stands elsewhere anyway."""
        number = len(self._sizes)
        distinct = set(words)
        self._sizes.append(max(len(distinct), 3))
        for word in distinct:
            self._where.setdefault(word, []).append(number)

    def add_text(self, text: str) -> None:
        """The same, for a text."""
        self.add(_words(text))


def _words(text: str) -> set[str]:
    low = text.lower()
    words = set(re.findall(r"[a-z0-9_]{3,}", low))
    for run in _CJK.findall(low):
        words.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    return words
