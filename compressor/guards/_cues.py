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
    exception: re.Pattern[str]
    permission: Phrases
    condition: re.Pattern[str]
    condition_end: tuple[str, ...]
    lead: re.Pattern[str]
    joint: re.Pattern[str]
    needs_subject: re.Pattern[str]
    opening: Phrases
    nouns: frozenset[str]
    told_next: Phrases
    statement: Phrases
    subject: re.Pattern[str]
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

    def starts(key: str) -> re.Pattern[str]:
        return _starting(phrases(name, key), cjk)

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
        lead=_starting(phrases(name, "lead"), cjk),
        joint=_ending(phrases(name, "joint")),
        needs_subject=starts("needs_subject"),
        opening=Phrases(phrases(name, "opening")),
        nouns=frozenset(phrases(name, "nouns")),
        told_next=Phrases(phrases(name, "statement_next")),
        statement=Phrases(phrases(name, "statement")),
        subject=starts("subject"),
        function=frozenset(phrases(name, "function")),
    )


def _starting(items: tuple[str, ...], cjk: bool) -> re.Pattern[str]:
    """One of these phrases at the beginning, with the marks and the space around it."""
    if not items:
        return NOTHING
    inner = compiled(items).pattern
    after = r"[\s,，、:：!！]*" if cjk else r"(?:[,:!]+\s*|\s+|$)"
    return re.compile(rf"[\s*_\"'\u201c\u2018(\uff08\u00a1\u00bf~>-]*(?:{inner}){after}", re.IGNORECASE)


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
