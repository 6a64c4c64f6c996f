"""Find decisions that are told with their reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from compressor.guards._data import phrases
from compressor.guards._phrases import Phrases
from compressor.guards.sentences import Sentence, near

#: Longer ones tell more than a decision.
_LONGEST: Final = 400
#: A reason may begin the next sentence.
_NEXT: Final = re.compile(r"[\s*_(\uff08-]*$")


@dataclass(frozen=True, slots=True)
class DecisionSpan:
    """A decision with its reason: `text[start:end]`; `reason` is where the reason begins.

    Attributes:
        reason_end: where the reason ends: the decision itself is what is left of the stretch.
        cue: the words of deciding; `because` those of the reason.
    """

    start: int
    end: int
    reason: int
    reason_end: int
    cue: str
    because: str


@cache
def _patterns() -> tuple[Phrases, Phrases, Phrases]:
    return (
        Phrases(phrases("decisions", "decision")),
        Phrases(phrases("decisions", "reason")),
        Phrases(phrases("decisions", "not_decision")),
    )


def decisions(text: str) -> list[DecisionSpan]:
    """All decisions of the text that are told with their reason, in order."""
    out: list[DecisionSpan] = []
    decided, _, undecided = _patterns()
    every = near(text, decided.in_line)
    for i, sentence in enumerate(every):
        cue = decided.search(text, sentence.start, sentence.end)
        if not cue or text[sentence.end - 1] in "?\uff1f" or undecided.search(text, sentence.start, sentence.end):
            continue
        found = _with_reason(text, sentence, every[i + 1] if i + 1 < len(every) else None, cue)
        if found:
            out.append(found)
    return out


def _with_reason(text: str, sentence: Sentence, after: Sentence | None, cue: re.Match[str]) -> DecisionSpan | None:
    _, reason, _ = _patterns()
    end = sentence.end
    why = next(
        (m for m in reason.finditer(text, sentence.start, end) if m.start() >= cue.end() or m.end() <= cue.start()),
        None,
    )
    if why is None and after:
        opening = reason.search(text, after.start, min(after.end, after.start + 24))
        if opening and _NEXT.match(text[after.start : opening.start()]):
            why, end = opening, after.end
    if why is None or end - sentence.start > _LONGEST:
        return None
    # "because the index is slow, we decided to …": the reason ends where the decision begins
    last = end if why.start() > cue.start() else _break(text, why.end(), cue.start())
    return DecisionSpan(sentence.start, end, why.start(), last, cue.group(), why.group())


def _break(text: str, start: int, end: int) -> int:
    cut = max(text.rfind(mark, start, end) for mark in (",", "\uff0c", ";", "\u3001"))
    return cut if cut > 0 else end
