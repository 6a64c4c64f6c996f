"""Future-reference recall: does a compacted beginning still hold what the agent itself later used?

A transcript is cut at a share of its bytes. What the agent wrote after the cut, had from before it, and was not shown
again in between is *needed*. The score is the share of the needed hard items that stand in the compacted beginning;
*in context* counts only those that stand there with at least half of the words that stood around them once.
Nothing behind the cut is shown to the compactor.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compressor.model import VISIBLE, Message, Origin, Session, Transcript
from compressor.salience import Scanner

#: Characters on each side of an item that are its context.
AROUND: Final = 100
#: Fewer needed items say nothing.
LEAST: Final = 10
#: Places of an item that are looked at, before and after.
_PLACES: Final = 40
_TRIES: Final = 60
_WORD: Final = re.compile(r"[A-Za-z_]{3,}|[\u4e00-\u9fff]|\d+")


@dataclass(frozen=True, slots=True)
class Need:
    """What was needed behind the cut: for each item the sets of words that stood around it before the cut."""

    prefix: bytes
    contexts: Mapping[str, Sequence[frozenset[str]]]


@dataclass(frozen=True, slots=True)
class Score:
    """Of one compaction: shares of the needed items, and tokens after / before."""

    needed: int
    recall: float
    in_context: float
    share: float


def cut(transcript: Transcript, at: float) -> int:
    """Byte offset of the first record end at or behind this share of the bytes."""
    size = len(transcript.raw)
    return next((r.end for r in transcript.records if r.end >= size * at), size)


def need(transcript: Transcript, at: float) -> Need | None:
    """What the agent needed behind the cut; None if that is too little to measure, or the file cannot be cut."""
    if len(transcript.records) <= 1 or len(transcript.sessions) != 1:
        return None
    session = transcript.sessions[0]
    stop = cut(transcript, at)
    ends = {r.index: r.end for r in transcript.records}
    before = [m for m in session.messages if ends[m.record] <= stop]
    after = [m for m in session.messages if ends[m.record] > stop]
    scanner = Scanner()
    wanted = _wanted(scanner, before, after)
    if len(wanted) < LEAST:
        return None
    return Need(bytes(transcript.raw[:stop]), _contexts(scanner, before, wanted))


def _wanted(scanner: Scanner, before: Iterable[Message], after: Iterable[Message]) -> set[str]:
    had = {item for _, items in _lines(scanner, before) for item in items}
    wanted: set[str] = set()
    shown: set[str] = set()
    for message in after:
        items = {item for _, found in _lines(scanner, [message]) for item in found}
        if message.origin is Origin.AGENT:
            wanted |= (items & had) - shown
        else:
            shown |= items
    return wanted


def _lines(scanner: Scanner, messages: Iterable[Message]) -> Iterable[tuple[str, tuple[str, ...]]]:
    for message in messages:
        for part in message.parts:
            if part.type in VISIBLE:
                for start, end, items in scanner.segments(part.text):
                    yield part.text[start:end], items


def _contexts(scanner: Scanner, messages: Iterable[Message], wanted: set[str]) -> dict[str, list[frozenset[str]]]:
    found: dict[str, list[frozenset[str]]] = {item: [] for item in wanted}
    for line, items in _lines(scanner, messages):
        for item in wanted.intersection(items):
            if len(found[item]) < _PLACES:
                found[item].append(_words(line, line.find(item), item, AROUND))
    return found


def _words(text: str, at: int, item: str, around: int) -> frozenset[str]:
    return frozenset(_WORD.findall(text[max(0, at - around) : at + len(item) + around]))


def score(needed: Need, output: Session, share: float) -> Score:
    """How much of what was needed stands in the output's live context."""
    text = "\n".join(
        p.text for m in output.messages if m.live and not m.abandoned for p in m.parts if p.type in VISIBLE
    )
    there = [item for item in needed.contexts if item in text]
    in_context = sum(_stands(item, needed.contexts[item], text) for item in there)
    total = len(needed.contexts)
    return Score(total, len(there) / total, in_context / total, share)


def _stands(item: str, contexts: Sequence[frozenset[str]], text: str) -> bool:
    at = text.find(item)
    for _ in range(_TRIES):
        if at < 0:
            return False
        near = _words(text, at, item, AROUND + AROUND // 2)
        if any(len(context & near) * 2 >= len(context) for context in contexts if context):
            return True
        at = text.find(item, at + 1)
    return False


def interval(
    values: Sequence[float], statistic: Callable[[Sequence[float]], float], draws: int = 2000
) -> tuple[float, float]:
    """The 95 % bootstrap interval of a statistic over files; the same values give the same interval."""
    chance = random.Random(0)  # noqa: S311 - resampling, not secrecy
    found = sorted(statistic([chance.choice(values) for _ in values]) for _ in range(draws))
    return found[int(draws * 0.025)], found[int(draws * 0.975)]
