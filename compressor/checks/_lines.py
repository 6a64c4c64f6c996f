"""Finds what was said on a subject without an index: for the few statements of a brief that cite nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Final

from compressor.checks._statements import Statement
from compressor.model import Message, PartType, Session

#: Longer lines are data, shorter ones say nothing.
_SHORTEST, _LONGEST = 4, 1_200
#: A word in more lines tells nothing about any of them.
_MOST: Final = 300
_LEAST: Final = 2
#: A line with so few of the words is about something else.
_SHARE: Final = 0.4


class Lines:
    """The lines of what was said in a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._places: list[tuple[Message, int, int, int]] = []
        self._starts: list[int] = []
        self._known: dict[str, set[int]] = {}
        texts: list[str] = []
        size = 0
        for message in session.messages:
            for part in message.parts if not message.abandoned else ():
                if part.type is not PartType.TEXT:
                    continue
                at = 0
                for line in part.text.split("\n"):
                    if _SHORTEST < len(line) <= _LONGEST:
                        self._places.append((message, part.ordinal, at, at + len(line)))
                        self._starts.append(size)
                        texts.append(line)
                        size += len(line) + 1
                    at += len(line) + 1
        lower = "\n".join(texts).lower()
        # a letter whose small form is longer would shift the lines
        self._text = lower if len(lower) == max(0, size - 1) else "\n".join(texts)

    def near(self, words: frozenset[str], most: int) -> Sequence[tuple[float, Statement]]:
        """The lines that have the most of these words, best first, with the share that they have."""
        hits: Counter[int] = Counter()
        for word in words:
            hits.update(self._lines_with(word))
        least = max(_LEAST, round(_SHARE * len(words)))
        found = [(-n, self._places[i][3] - self._places[i][2], i) for i, n in hits.items() if n >= least]
        parts = self._session.parts
        out = []
        for n, _, i in sorted(found)[:most]:
            message, ordinal, start, end = self._places[i]
            out.append((-n / len(words), Statement(message, parts[ordinal], start, end)))
        return out

    def _lines_with(self, word: str) -> set[int]:
        known = self._known.get(word)
        if known is not None:
            return known
        out = self._known[word] = set()
        at = self._text.find(word)
        while at >= 0 and len(out) < _MOST:
            i = bisect_right(self._starts, at) - 1
            out.add(i)
            at = self._text.find(word, self._starts[i + 1] if i + 1 < len(self._starts) else len(self._text))
        return out
