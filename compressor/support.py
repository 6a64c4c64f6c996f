"""Whether texts speak of the same matter: the words of one that another holds too, in languages with and without spaces.

It proves nothing, and is cheap: a reason of which the sources hold hardly a word was not given there, and a name that
stands nowhere near what is told of it was put in another's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from compressor.language import lexicon

_WORD: Final = re.compile(r"[^\W\d_]{4,}|\d[\d.,]*\d|\d{2,}")
_HAN: Final = re.compile(r"[一-鿿]+")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
#: Words that say nothing of the matter.
_EMPTY: Final = frozenset(
    [
        "that",
        "this",
        "with",
        "from",
        "have",
        "been",
        "were",
        "they",
        "them",
        "then",
        "than",
        "when",
        "what",
        "which",
        "will",
        "would",
        "should",
        "could",
        "also",
        "into",
        "only",
        "does",
        "done",
        "more",
        "most",
        "some",
        "such",
        "very",
        "just",
        "because",
        "since",
        "after",
        "before",
        "user",
        "assistant",
        "agent",
        "over",
        "their",
        "there",
        "here",
        "still",
        "each",
        "other",
        "about",
        "like",
        "way",
        "better",
        "want",
        "wants",
        "wanted",
        "prefer",
        "preferred",
        "prefers",
    ]
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


_TOKEN: Final = re.compile(r"[A-Za-z0-9_./:#@-]*[A-Za-z0-9_]|[一-鿿]")
_NOT: Final = frozenset({"not", "never", "no", "none", "without", "cannot", "nor", "neither"})
_NOT_HAN: Final = frozenset("不没未非无勿禁")
#: Characters that hold sentences together.
_FUNCTION: Final = frozenset("的了地得我你他她它们这那把将被在是有个和与及并也都就还再又很已请会能要可从到对")
#: From this share of equal tokens on a statement is a copy that somebody has changed, and no retelling.
_COPY: Final = 0.8


def tokens(text: str) -> list[str]:
    """Words, names and numbers as they stand; each Chinese character alone."""
    return [t.strip(".:/-").casefold() or t for t in _TOKEN.findall(text.replace("n't", " not"))]


def changed(statement: str, original: str) -> str:
    """What a near copy of a sentence has made of it: its "not"s or its numbers; "" if nothing, or if it is no copy."""
    ours, theirs = tokens(statement), tokens(original)
    if len(ours) < 4 or abs(len(ours) - len(theirs)) > max(3, len(theirs) // 4):
        return ""
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    if matcher.ratio() < _COPY:
        return ""
    if _negations(ours) != _negations(theirs):
        return "its negations"
    known = {t.replace(",", "") for t in theirs}
    if any(t[0].isdigit() and t.replace(",", "") not in known for t in ours) and len(ours) == len(theirs):
        return "its numbers"
    if len(ours) == len(theirs) and any(
        tag == "replace" and _other_word(ours[a:b], theirs[c:d]) for tag, a, b, c, d in matcher.get_opcodes()
    ):
        return "a word"
    return ""


def _other_word(ours: list[str], theirs: list[str]) -> bool:
    """Whether Chinese characters were put in place of others that mean something else."""
    both = [*ours, *theirs]
    if len(ours) != len(theirs) or not all(_HAN.fullmatch(t) for t in both) or any(t in _FUNCTION for t in both):
        return False
    return not (_NOT_HAN & set(ours) and _NOT_HAN & set(theirs))


def _negations(found: list[str]) -> int:
    return sum(t in _NOT or t in _NOT_HAN for t in found)
