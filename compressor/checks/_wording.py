"""How a text is written: what stands whole in it, what its digits are, what our own briefs say around their entries."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from compressor.checks._items import items
from compressor.checks._statements import Statement
from compressor.checks._terms import bare
from compressor.guards._data import cue_files, phrases
from compressor.guards.sentences import sentences

CITED: Final = re.compile(r"\s*\[(#\d+(?:, ?#\d+)*)\]\s*$")
BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+")
DIGITS: Final = re.compile(r"\d[\d,._'’]*")
#: Where a line is put together of clauses: a decision and its reason, a title and its points.
JOINED: Final = re.compile(r"\s+—\s+|[:：;；]\s+|[；：]|(?<=[.!?])\s+|…|[。！？]")
#: What may stand beside a stretch that is a whole statement.
_BORDER: Final = frozenset("\n\r.!?;:,。！？；：，、()（）\"'“”‘’「」`*-–—|>#[]")
#: A file of cues with so long a name holds the words of a language.
_TAG: Final = 2
#: A statement with so many names, and little else, is a list of them.
_INVENTORY: Final = 5
#: What a tool writes around the summary of its own.
HARNESS: Final = re.compile(
    r"This session is being continued from a previous conversation|If you need specific details from before compaction"
    r"|(?:Please )?[Cc]ontinue the conversation from where (?:we|it) left"
)


@cache
def labels() -> frozenset[str]:
    """What our own briefs say around their entries: headings and the sentences of the notice, in every language."""
    from compressor.language import lexicon

    found: set[str] = set()
    for tag in (name for name in cue_files() if len(name) == _TAG):
        for label in lexicon(tag).labels.values():
            found.add(label)
            found.update(label[s.start : s.end] for s in sentences(label))
    return frozenset(found)


@cache
def agent_tools() -> frozenset[str]:
    """Tools that agents have, whether a session has used them or not: their names are not made up."""
    return frozenset(name.lower() for name in phrases("technical", "tools"))


def without_citation(statement: Statement) -> Statement:
    """The statement without the sources that it cites at its end."""
    found = CITED.search(statement.text)
    if not found:
        return statement
    end = statement.start + found.start()
    return Statement(statement.message, statement.part, statement.start, end, statement.prose)


def clauses_of(line: str) -> list[str]:
    """The clauses of a line, without their markup."""
    return [b for p in JOINED.split(line) if p and (b := bare(p))]


def is_inventory(statement: Statement) -> bool:
    """Whether a statement is names for the most part."""
    found = items(statement.text)
    return len(found) >= _INVENTORY and sum(i.end - i.start for i in found) * 2 > len(statement.text)


def stands(body: str, text: str) -> bool:
    """Whether the words stand in the text as a whole statement, not as a piece of one."""
    at = text.find(body)
    while at >= 0:
        end = at + len(body)
        before = text[max(0, at - 2) : at].rstrip(" \t")[-1:]
        after = text[end : end + 2].lstrip(" \t")[:1]
        if (not before or before in _BORDER) and (not after or after in _BORDER or body[-1] in _BORDER):
            return True
        at = text.find(body, at + 1)
    return False


def plain(digits: str) -> str:
    """Digits without the marks that group them."""
    return digits.replace(",", "").replace("_", "").replace("'", "").replace("’", "").strip(".")


def bordered(word: str, text: str) -> bool:
    """Whether the word stands in the text, not as a piece of a longer word or number."""
    if not word:
        return True
    at = text.find(word)
    size = len(word)
    while at >= 0:
        end = at + size
        if not _continues(text[at - 1 : at], word[0]) and not _continues(text[end : end + 1], word[-1]):
            tail = text[end : end + 2]
            if not (word[-1].isdigit() and tail[:1] in ".," and tail[1:].isdigit()):
                return True
        at = text.find(word, at + 1)
    return False


def _continues(char: str, edge: str) -> bool:
    if not char or not (char.isalnum() or char == "_"):
        return False
    if not char.isascii() or not edge.isascii():
        return False
    return edge.isalnum() and (char.isdigit() == edge.isdigit() or char.isalpha() == edge.isalpha())


def has_digits(text: str, digits: str) -> bool:
    """Whether the text has a number of these digits."""
    return any(plain(d) == digits for d in DIGITS.findall(text))
