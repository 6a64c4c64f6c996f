"""Find what a text forbids, obliges or denies: the clause with its scope and its exception.

A cheap look at the words of each sentence comes first; only sentences that can hold a cue are cut into
clauses. The cue words are data (`rules/cues/negation-<language>.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from compressor.guards._clauses import Segment, extent, segments
from compressor.guards._cues import SORTS, WORD, Cues, cues, speech
from compressor.guards._data import CJK, languages, phrases
from compressor.guards._memo import Memo
from compressor.guards._phrases import Phrases, any_in_line, tokens
from compressor.guards.sentences import near

PROHIBITION: Final = "prohibition"
OBLIGATION: Final = "obligation"
NEGATION: Final = "negation"

#: Code, addresses and mail names inside prose: their words are no cues.
_NAMES: Final = re.compile(
    r"`[^`\n]{1,300}`|https?://\S{1,500}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}|\$\{?\w{1,64}\}?"
)
_SQL: Final = re.compile(
    r"\b(?:IS NOT|NOT IN|NOT NULL|NOT EXISTS|NOT LIKE|IF NOT EXISTS|NOT BETWEEN|NO ACTION|AND NOT)\b"
)
_LATIN_WORD: Final = re.compile(r"[^\W_](?:[\w./@#:+-]*[\w/])?")
#: A longer CJK cue has a gap with words of the clause in it.
_CUE: Final = 6
_HAN_RUN: Final = re.compile(f"[{CJK}]+")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that forbids, obliges or denies: `text[start:end]`.

    Attributes:
        sort: `prohibition`, `obligation` or `negation`.
        cue: the words that make it so.
        polarity: `-` when it forbids or denies, `+` when it obliges or when two negatives affirm.
        content: its other words, normalised, for comparing it with a clause in other words.
        lang: the language of the cue.
    """

    start: int
    end: int
    sort: str
    cue: str
    polarity: str
    content: tuple[str, ...]
    lang: str = ""

    @property
    def value(self) -> str:
        """The normal form: polarity and content words."""
        return f"{self.polarity}{' '.join(self.content)}"


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    sort: str


def clauses(text: str, lang: str | None = None) -> list[Clause]:
    """All clauses of the text that forbid, oblige or deny, in order; of one language or of all."""
    found = _KNOWN.get(text)
    if found is None:
        found = _KNOWN.put(text, _clauses(text))
    return [c for c in found if lang is None or c.lang == lang]


#: Every rule asks for the clauses of every text: a session's texts have to fit in, however many they are.
_KNOWN: Final[Memo[tuple[Clause, ...]]] = Memo()


def _clauses(text: str) -> tuple[Clause, ...]:
    out: list[Clause] = []
    for sentence in near(text, _may_hold()):
        last = out[-1] if out else None
        if (
            last
            and last.sort != NEGATION
            and sentence.start - last.end <= _GAP
            and _exceptions().match(text, sentence.start)
        ):
            content = content_words(text[last.start : sentence.end], last.lang, last.cue)
            out[-1] = replace(last, end=sentence.end, content=content)
            continue
        out.extend(_in_sentence(text[sentence.start : sentence.end], sentence.start))
    return tuple(out)


#: How far behind a clause the sentence that limits it may begin.
_GAP: Final = 3


@cache
def _exceptions() -> Phrases:
    return Phrases(phrases("sentences", "exceptions"))


@cache
def _may_hold() -> Callable[[list[str], str], bool]:
    return any_in_line([cues(lang).every for lang in languages()])


def word_set(text: str) -> frozenset[str]:
    """The words of a text in lower case; of `l'eau` also `l` and `eau`."""
    words = set(WORD.findall(text.lower().replace("\u2019", "'")))
    for word in [w for w in words if "'" in w]:
        words.update(word.split("'"))
    return frozenset(words)


def _in_sentence(sentence: str, offset: int) -> list[Clause]:
    words = word_set(sentence)
    out: list[Clause] = []
    masked = ""
    seen: frozenset[str] = frozenset()
    for lang in speech(sentence, words):
        table = cues(lang)
        # a word that another language has already judged ("no worries") is not judged again
        if not table.may_hold(sentence, words - seen):
            continue
        seen |= table.anchors
        masked = masked or _mask(sentence)
        found = _of_language(masked, table)
        out.extend(c for c in found if not any(c.start < o.end and o.start < c.end for o in out))
        if out and not table.cjk:
            break
        if not table.cjk and len(words & table.words) > 1:
            break
    out.sort(key=lambda c: c.start)
    return [_moved(c, sentence, offset) for c in out]


def _moved(c: Clause, sentence: str, offset: int) -> Clause:
    content = content_words(sentence[c.start : c.end], c.lang, c.cue)
    return Clause(c.start + offset, c.end + offset, c.sort, c.cue, c.polarity, content, c.lang)


def _mask(sentence: str) -> str:
    """The sentence with names and code blanked out, letter for letter."""
    for pattern in (_NAMES, _SQL):
        if pattern.search(sentence):
            sentence = pattern.sub(lambda m: "\x00" * len(m.group()), sentence)
    return sentence


def _of_language(masked: str, table: Cues) -> list[Clause]:
    hits = _hits(masked, table)
    if not hits:
        return []
    parts = segments(
        masked, table, tuple(h.start for h in hits if h.sort in ("opening", "prohibition", "obligation_opening"))
    )
    out: list[Clause] = []
    for hit in hits:
        at = next(i for i, s in enumerate(parts) if hit.start < s.end)
        sort = _sort(masked, hit, parts[at], table)
        if not sort:
            continue
        start, end = extent(masked, parts, at, hit.start, hit.end, table, sort == PROHIBITION)
        polarity = "+" if hit.sort == "double" or sort == OBLIGATION else "-"
        clause = Clause(start, end, sort, masked[hit.start : hit.end].lower(), polarity, (), table.lang)
        if out and clause.start < out[-1].end:
            out[-1] = _joined(out[-1], clause)
        else:
            out.append(clause)
    return out


def _joined(a: Clause, b: Clause) -> Clause:
    """Two cues in one clause: what forbids counts more than what obliges, that more than what denies."""
    first = min((a, b), key=lambda c: (PROHIBITION, OBLIGATION, NEGATION).index(c.sort))
    cue = a.cue if a.cue == b.cue else f"{a.cue} {b.cue}"
    polarity = "-" if "-" in (a.polarity, b.polarity) else "+"
    return Clause(min(a.start, b.start), max(a.end, b.end), first.sort, cue, polarity, (), a.lang)


def _hits(masked: str, table: Cues) -> list[_Hit]:
    """The cues of a sentence, without those inside a stop phrase; of two in one place the longer."""
    end = len(masked)
    words = tokens(masked, 0, end)
    every: list[tuple[int, int, int, str]] = []
    for rank, (sort, pattern) in enumerate(table.sorts):
        every += [(m.end() - m.start(), rank, m.start(), sort) for m in pattern.among(words, masked, 0, end)]
    if not every:
        return []
    every += [(m.end() - m.start(), -1, m.start(), "stop") for m in table.stop.among(words, masked, 0, end)]
    every.sort(key=lambda h: (-h[0], h[1]))
    taken: list[_Hit] = []
    for length, _, start, sort in every:
        if not any(start < t.end and t.start < start + length for t in taken):
            taken.append(_Hit(start, start + length, sort))
    return sorted((t for t in taken if t.sort != "stop"), key=lambda t: t.start)


def _sort(masked: str, hit: _Hit, segment: Segment, table: Cues) -> str:
    """What the cue makes of its clause; empty when it makes nothing of it."""
    before = masked[segment.start : hit.start]
    after = masked[hit.end : segment.end]
    if hit.sort in (PROHIBITION, OBLIGATION):
        return _asked_or(hit, masked, before, table)
    if _answers(masked, hit, before, table):
        return ""
    if hit.sort in ("double", NEGATION):
        command = hit.sort == NEGATION and table.opening.match(masked, hit.start) and _opens(before, table)
        return PROHIBITION if command and not _tells(masked, hit, segment, table) else NEGATION
    if hit.sort == "anywhere":
        told = table.subject.end(before) or table.statement.search(after) or "?" in after
        return NEGATION if told else PROHIBITION
    opens = _opens(before, table)
    if hit.sort == "obligation_opening":
        return OBLIGATION if opens else ""
    return PROHIBITION if opens and not _tells(masked, hit, segment, table) else NEGATION


def _asked_or(hit: _Hit, masked: str, before: str, table: Cues) -> str:
    """What forbids or obliges in a question only asks ("why shouldn't we …?"); "if you can't" only supposes."""
    sort = hit.sort
    if (
        sort == PROHIBITION
        and table.inability.search(masked, hit.start, hit.end)
        and table.condition.end(before or masked)
    ):
        return NEGATION
    if masked.rstrip(" *_\"')\u201d")[-1:] not in "?\uff1f" or table.lang == "ja":
        return sort
    return (NEGATION if sort == PROHIBITION else "") if before.strip() else sort


def _answers(masked: str, hit: _Hit, before: str, table: Cues) -> bool:
    """Whether the cue is a bare "no" before a comma: an answer, not a negation of anything."""
    cue = masked[hit.start : hit.end].lower()
    return (
        cue in table.answers
        and masked[hit.end : hit.end + 1] in (",", ".", "!", "\u2014", "\uff0c")
        and _opens(before, table)
    )


def _tells(masked: str, hit: _Hit, segment: Segment, table: Cues) -> bool:
    """Whether a negation at the beginning tells a fact: "no errors were found", "no funciona"."""
    cue = masked[hit.start : hit.end].lower()
    if table.told_next.match(masked, hit.end + 1) or table.told_next.match(masked, hit.end):
        return True
    return cue.split(" ", 1)[0] in table.nouns and table.statement.search(masked, hit.end, segment.end) is not None


def _opens(before: str, table: Cues) -> bool:
    """Whether nothing but greetings, joints and marks stands before the cue in its clause."""
    while end := table.lead.end(before):
        before = before[end:]
    return not before.strip(" *_\"'\u201c\u2018(>~\u00a1\u00bf\t\n-")


def content_words(text: str, lang: str, cue: str = "") -> tuple[str, ...]:
    """The words that carry the meaning, in lower case, cut to their stem, sorted; of CJK text pairs of characters."""
    table = cues(lang)
    out: set[str] = set()
    drop = table.function | (cues("en").function if table.cjk else _plain(cue, table))
    for match in _LATIN_WORD.finditer(_HAN_RUN.sub(" ", text) if table.cjk else text):
        word = match.group().lower()
        if word not in drop and (len(word) > 1 or word.isdigit() or match.group().isupper()):
            out.add(stem(word))
    if table.cjk:
        for part in cue.split():
            text = text.replace(part, " ") if len(part) <= _CUE else text
        for run in _HAN_RUN.findall(text):
            kept = "".join(c for c in run if c not in table.function)
            out.update(kept[i : i + 2] for i in range(max(1, len(kept) - 1)) if kept)
    return tuple(sorted(out))


def _plain(cue: str, table: Cues) -> frozenset[str]:
    """The words of a cue that are nothing but cue; a cue with a gap holds words of the clause, too."""
    words = word_set(cue)
    return words if len(words) <= 3 else words & table.anchors


def stem(word: str) -> str:
    """A word without its commonest endings; names with dots or slashes as they are."""
    if len(word) < 5 or not word.isalpha():
        return word
    for ending in ("ing", "ies", "ied", "es", "ed", "en", "er", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


__all__ = ["NEGATION", "OBLIGATION", "PROHIBITION", "SORTS", "Clause", "clauses", "content_words", "stem", "word_set"]
