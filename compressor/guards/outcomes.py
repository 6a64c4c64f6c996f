"""Find what a text says was done, failed, or is still to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from compressor.guards._data import phrases
from compressor.guards._phrases import Phrases, any_in_line
from compressor.guards._text import content
from compressor.guards.sentences import near

DONE: Final = "done"
FAILED: Final = "failed"
PENDING: Final = "pending"

_SPLIT: Final = re.compile(
    r"[;\uff1b\uff0c]|,\s|\s(?:but|and|while|aber|und|mais|et|pero|y)\s|(?=\u4f46\u662f?|\u4e0d\u8fc7|\u800c)"
)
_NAMES: Final = re.compile(r"`[^`\n]{1,200}`|(?<![\w])[\w./-]*[/._][\w./-]*\w")
_NEAR: Final = 24


@dataclass(frozen=True, slots=True)
class Outcome:
    """How something ended: `text[start:end]` is the clause, `status` done, failed or pending.

    Attributes:
        cue: the words that say so.
        subject: the other words of the clause, normalised: what it happened to.
    """

    start: int
    end: int
    status: str
    cue: str
    subject: tuple[str, ...]


@cache
def _patterns() -> tuple[tuple[str, Phrases], ...]:
    return tuple((s, Phrases(phrases("outcomes", s))) for s in (PENDING, FAILED, DONE))


@cache
def _contraries() -> tuple[Phrases, Phrases]:
    return Phrases(phrases("outcomes", "negation")), Phrases(phrases("outcomes", "hypothetical"))


def outcomes(text: str) -> list[Outcome]:
    """All statements of how something ended, in order; wishes and conditions are none."""
    out: list[Outcome] = []
    for sentence in near(text, _may_hold()):
        if text[sentence.end - 1] in "?\uff1f":
            continue
        start = sentence.start
        for cut in [*_SPLIT.finditer(text, sentence.start, sentence.end), None]:
            end = cut.start() if cut else sentence.end
            found = _outcome(text, start, end)
            if found:
                out.append(found)
            start = cut.end() if cut else end
    return out


@cache
def _may_hold() -> Callable[[list[str], str], bool]:
    return any_in_line([pattern for _, pattern in _patterns()])


def _outcome(text: str, start: int, end: int) -> Outcome | None:
    clause = text[start:end]
    masked = _NAMES.sub(lambda m: "\x00" * len(m.group()), clause)
    hits = [(status, m) for status, p in _patterns() if (m := p.search(masked))]
    if not hits:
        return None
    negation, hypothetical = _contraries()
    if hypothetical.match(masked.lstrip(" *_-")):
        return None
    status, match = max(hits, key=lambda h: h[1].end() - h[1].start()) if hits[0][0] != PENDING else hits[0]
    if status == DONE and (no := negation.search(masked, max(0, match.start() - _NEAR), match.start())):
        status = PENDING if _yet(masked, no) else FAILED
    if status == FAILED and match.group()[:3].lower() == "not" and _YET.search(masked):
        status = PENDING
    stripped = clause.strip()
    begin = start + clause.find(stripped) if stripped else start
    return Outcome(
        begin,
        begin + len(stripped),
        status,
        match.group(),
        content(clause[: match.start()] + " " + clause[match.end() :]),
    )


_YET: Final = re.compile(r"\byet\b|\bto be\b|\u5c1a|\u8fd8|noch|encore|a\u00fan|todav\u00eda|\u307e\u3060")


def _yet(masked: str, no: re.Match[str]) -> bool:
    return bool(_YET.search(masked)) or no.group() == "\u672a"
