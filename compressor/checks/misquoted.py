"""What the output tells as the user's own words, the user wrote."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._align import is_person
from compressor.checks._compared import Compared, distinct, error, shown
from compressor.checks._terms import bag, bare
from compressor.guards.quotes import UserQuote, quotes
from compressor.model import Comparison, Finding, Origin, Part, Role

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

#: Somebody else speaks between the user's name and the quotation.
_OTHER: Final = re.compile(
    r"\b(?:I|we|assistant|agent|model|tool|linter|compiler|server|test|script|error)\b[^.!?\n]{0,50}$|\b(?:selected|highlighted|opened|pasted|ran|showed|showing|called|named|titled|labelled|renamed)\W*$|(?:助手|助理|模型|我们?|系统|脚本|报错)[^。！？\n]{0,24}$"
)
#: A short quotation is the user's only right behind the verb.
_RIGHT_BEHIND: Final = re.compile(
    r"(?:said|says|wrote|asked|told|replied|answered|confirmed|stated|requested|insisted|added|instructed|approved|quote|words|说|写道|表示|要求|问|回答|确认|指示|强调|原话|回复)"
    r"(?:\s+(?:that|to|me|us|it|with|explicitly|again|then)|道|是|过|了)?[\s:,：，(\"'“「*_]*$",
    re.IGNORECASE,
)
_GAP: Final = re.compile(r"\s*(?:\[[^\]]{0,80}\]|…+|\.{3,})\s*")
#: Speech of anybody, and a second quotation that goes on with the first.
_SPOKEN: Final = re.compile(
    r"(?:\b(?:said|says|wrote|replied|answered|told (?:me|us|him|her|them)|confirmed|insisted)\b[^\"“”\n]{0,16}|(?<=[\"”])\s(?:and|or)\s)[\"“]([^\"“”\n]{8,400})[\"”]"
    r"|(?:说|写道|表示|回答|回复|强调)[^“”「」\n]{0,8}[“「]([^“”「」\n]{4,200})[”」]"
)
#: Another quotation ended before this one, and nothing joins the two.
_CLOSED: Final = re.compile(
    r"[\w.!?][\"”」](?!\s*(?:,|;|and|or|then|，|、|和|还|又)[\s\w]{0,12}[\"“「]?\s*$)[^\"“”「」]*[\"“「]?$"
)
_WORDS: Final = 2
_WORD: Final = re.compile(r"\w+")
_ALIKE: Final = 0.74
#: Longer texts are pasted; nobody mends their spelling.
_LONGEST: Final = 20_000
_SHORTEST: Final = 3
_BEFORE: Final = 160
#: A line that is labelled as the user's may tell it in other words, but not in none of the user's.
_TOLD: Final = 3
_SOME: Final = 0.34


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each quote and each message in the user's name that the user never wrote."""
    compared = _compared.of(comparison)
    said = _Said(compared)
    yield from distinct(_quotes(compared, said))
    yield from _messages(compared, said)


class _Said:
    """What people wrote in the original."""

    def __init__(self, compared: Compared) -> None:
        texts = [
            p.text
            for m in compared.original.messages
            if not m.abandoned and m.role is Role.USER
            for p in m.parts
        ]  # fmt: skip
        self._texts = texts

    @cached_property
    def text(self) -> str:
        return bare("\n".join(self._texts))

    @cached_property
    def bags(self) -> list[frozenset[str]]:
        return [bag(t) for t in self._texts]

    @cached_property
    def words(self) -> list[frozenset[str]]:
        return [frozenset(_WORD.findall(t.lower())) for t in self._texts if len(t) < _LONGEST]

    def has(self, quote: str) -> bool:
        """Whether a quote is the user's, its gaps and its markup apart."""
        for piece in _GAP.split(quote):
            words = bare(piece)
            if len(words) > 1 and words not in self.text and not self._nearly(piece):
                return False
        return True

    def may_have(self, told: str) -> bool:
        """Whether what is told as the user's words, without marks of quotation, can be the user's."""
        words = bag(told)
        return len(words) < _TOLD or any(len(words & b) >= _SOME * len(words) for b in self.bags)

    def _nearly(self, piece: str) -> bool:
        """A quote with a mended spelling: all its words but few, in one text, and those nearly."""
        words = _WORD.findall(piece.lower())
        for text in self.words:
            strange = [w for w in words if w not in text]
            if len(strange) <= max(1, len(words) // 6) < len(words) and all(_misspelt(w, text) for w in strange):
                return True
        return False


def _misspelt(word: str, text: frozenset[str]) -> bool:
    return word.isalpha() and bool(difflib.get_close_matches(word, text, n=1, cutoff=_ALIKE))


def _quotes(compared: Compared, said: _Said) -> Iterator[Finding]:
    for part in compared.new_parts:
        if is_person(compared.message(part)) and not compared.is_new_summary(part):
            continue
        taken: set[int] = set()
        for quote in quotes(part.text):
            line = part.text.rfind("\n", 0, quote.start) + 1
            before = part.text[max(line, quote.start - _BEFORE) : quote.start]
            if _OTHER.search(before) or _CLOSED.search(before):
                taken.add(quote.start)
                continue
            taken.add(quote.start)
            if (quote.exact and _is_speech(quote.text, before) and not said.has(quote.text)) or (
                not quote.exact and not said.may_have(quote.text)
            ):
                yield _finding(quote, part, compared)
        yield from _by_anybody(part, taken, compared)


def _by_anybody(part: Part, taken: set[int], compared: Compared) -> Iterator[Finding]:
    """Quotations of several words, told as said by somebody, that the original does not have at all."""
    for match in _SPOKEN.finditer(part.text):
        group = match.lastindex or 1
        words = match.group(group)
        if match.start(group) not in taken and _is_long(words) and bare(words) not in compared.original_bare:
            quote = UserQuote(match.start(group), match.end(group), words)
            yield _finding(quote, part, compared)


def _is_long(words: str) -> bool:
    return len(words.split()) > _WORDS + 1 or (not words.isascii() and len(words) > _WORDS + 2)


def _is_speech(quote: str, before: str) -> bool:
    """Words that are said, not named: several of them, or right behind the verb."""
    return len(bag(quote)) > _WORDS or (len(quote) >= _SHORTEST and bool(_RIGHT_BEHIND.search(before)))


def _finding(quote: UserQuote, part: Part, compared: Compared) -> Finding:
    message = f'the output quotes words that nobody said so: "{shown(quote.text)}"'
    place = compared.place_of(part)
    return compared.unproven(message, quote.text, replace(place, offset=quote.start))


def _messages(compared: Compared, said: _Said) -> Iterator[Finding]:
    """New messages that show as typed by a person, and are no summary."""
    new = {p.message for p in compared.alignment.new}
    for message in compared.output.messages:
        if message.index not in new or not is_person(message) or message.origin is not Origin.PERSON:
            continue
        texts = [p for p in compared.alignment.new if p.message == message.index]
        text = "\n".join(p.text for p in texts)
        if compared.is_new_summary(texts[0]) or said.has(text):
            continue
        first = f'a message in the user\'s name that the user never wrote: "{shown(text)}"'
        yield error(first, text, compared.place_of(texts[0]))
