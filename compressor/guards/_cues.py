"""The cues of one language, compiled, and which languages a sentence is in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from compressor.guards._data import CJK, NOTHING, compiled, languages, load, phrases
from compressor.guards._phrases import Phrases

#: The sorts of cue, most telling first: of two cues of equal length in one place the first wins.
SORTS: Final = ("double", "obligation", "prohibition", "anywhere", "opening", "obligation_opening", "negation")
WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
CJK_CHAR: Final = re.compile(f"[{CJK}]")
_KANA: Final = re.compile("[\u3040-\u30ff]")


class Opener:
    """Phrases that count at the beginning of a stretch, with the marks and the blanks around them."""

    __slots__ = ("_after", "_phrases")

    def __init__(self, items: tuple[str, ...], *, cjk: bool) -> None:
        self._phrases = Phrases(items)
        self._after = _AFTER_CJK if cjk else _AFTER

    def end(self, text: str) -> int:
        """Where the text goes on behind such a beginning; 0 when it begins otherwise."""
        before = _MARKS.match(text)
        found = self._phrases.match(text, before.end() if before else 0)
        after = self._after.match(text, found.end()) if found else None
        return after.end() if after else 0


_MARKS: Final = re.compile(r"[\s*_\"'\u201c\u2018(\uff08\u00a1\u00bf~>-]*")
_AFTER: Final = re.compile(r"[,:!]+\s*|\s+|$")
_AFTER_CJK: Final = re.compile(r"[\s,，、:：!！]*")


@dataclass(frozen=True, slots=True)
class Cues:
    """What marks negation in one language; see the cue files for the meaning of the lists."""

    lang: str
    cjk: bool
    anchors: frozenset[str]
    words: frozenset[str]
    every: Phrases
    sorts: tuple[tuple[str, Phrases], ...]
    stop: Phrases
    exception: Opener
    permission: Phrases
    condition: Opener
    condition_end: tuple[str, ...]
    lead: Opener
    joint: re.Pattern[str]
    needs_subject: Opener
    opening: Phrases
    nouns: frozenset[str]
    answers: frozenset[str]
    inability: Phrases
    told_next: Phrases
    statement: Phrases
    subject: Opener
    function: frozenset[str]

    def may_hold(self, text: str, words: frozenset[str]) -> bool:
        """A cheap look whether the text can hold a cue at all: `words` are its words in lower case."""
        return self.every.in_line(words, text)


@cache
def cues(lang: str) -> Cues:
    """The cues of this language.

    Raises:
        ConfigError: there is no cue file for it.
    """
    name = f"negation-{lang}"
    cjk = load(name).get("script") == "cjk"

    def starts(key: str) -> Opener:
        return Opener(phrases(name, key), cjk=cjk)

    every = [p for sort in SORTS for p in phrases(name, sort)]
    phrases_of = Phrases(every)
    return Cues(
        lang=lang,
        cjk=cjk,
        anchors=phrases_of.keys | phrases_of.chars,
        words=frozenset(phrases(name, "words")),
        every=phrases_of,
        sorts=tuple((sort, Phrases(phrases(name, sort))) for sort in SORTS if phrases(name, sort)),
        stop=Phrases(phrases(name, "stop")),
        exception=starts("exception"),
        permission=Phrases(phrases(name, "permission")),
        condition=starts("condition"),
        condition_end=phrases(name, "condition_end"),
        lead=starts("lead"),
        joint=_ending(phrases(name, "joint")),
        needs_subject=starts("needs_subject"),
        opening=Phrases(phrases(name, "opening")),
        nouns=frozenset(phrases(name, "nouns")),
        answers=frozenset(phrases(name, "answers")),
        inability=Phrases(phrases(name, "inability")),
        told_next=Phrases(phrases(name, "statement_next")),
        statement=Phrases(phrases(name, "statement")),
        subject=starts("subject"),
        function=frozenset(phrases(name, "function")),
    )


def _ending(items: tuple[str, ...]) -> re.Pattern[str]:
    if not items:
        return NOTHING
    return re.compile(rf"(?:{compiled(items).pattern})[\s*_]*$", re.IGNORECASE)


def speech(text: str, words: frozenset[str]) -> list[str]:
    """The languages that a stretch is in, likeliest first; by script, then by its common words."""
    out: list[str] = []
    known = languages()
    if CJK_CHAR.search(text):
        first, second = ("ja", "zh") if _KANA.search(text) else ("zh", "ja")
        out = [lang for lang in (first, second)[: 1 if first == "zh" else 2] if lang in known]
        out = out[:1]
        if len(words) < 2:
            return out
    votes = [(len(words & cues(lang).words), lang) for lang in known if not cues(lang).cjk]
    votes.sort(key=lambda v: (-v[0], v[1] != "en", v[1]))
    return out + [lang for n, lang in votes if n or not out]
