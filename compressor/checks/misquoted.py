"""What the output tells as the user's own words, the user wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._align import is_person
from compressor.checks._compared import Compared, distinct, error, shown
from compressor.checks._statements import Statement
from compressor.checks._terms import bag, bare
from compressor.model import Comparison, Finding, Origin, Role

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

_QUOTE: Final = re.compile(r"[\"“「『]([^\"“”「」『』\n]{2,600})[\"”」』]")
_USER: Final = re.compile(
    r"\b(?:user|customer|client|person|human|they|he|she|owner|reviewer)\b[^.!?\n\"“「]{0,60}?"
    r"\b(?:said|says|wrote|writes|asked|asks|told|replied|answered|confirmed|confirms|stated|requested|insisted|insists|added|instructed|approved|quote|quoted|verbatim|message|request|words)\b"
    r"|\b(?:user|customer|client)(?:'s|’s)?\s*(?:words|message|request|quote|instruction)?\s*[:：(]\s*$"
    r"|\b(?:in the user'?s words|verbatim(?: quote)?|quoting the user|user quote)\b"
    r"|(?:用户|客户|他|她|对方)[^。！？\n\"“「]{0,20}?(?:说|写道|表示|要求|问|回答|确认|指示|强调|原话|提到|回复|明确)|(?:用户|客户)[:：]\s*$|原话",
    re.IGNORECASE,
)
_GAP: Final = re.compile(r"\s*(?:\[[^\]]{0,80}\]|…+|\.{3,})\s*")
_WORDS: Final = 2


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
        self.text = bare("\n".join(texts))
        self.bags = [bag(t) for t in texts]

    def has(self, quote: str) -> bool:
        """Whether a quote is the user's, its gaps and its markup apart."""
        for piece in _GAP.split(quote):
            words = bare(piece)
            if len(words) > 1 and words not in self.text and not self._nearly(piece):
                return False
        return True

    def _nearly(self, piece: str) -> bool:
        """A quote with a mended spelling: all its words but few, in one text."""
        words = bag(piece)
        return len(words) >= 6 and any(len(words & b) >= 0.85 * len(words) for b in self.bags)


def _quotes(compared: Compared, said: _Said) -> Iterator[Finding]:
    for statement in compared.new:
        for match in _QUOTE.finditer(statement.text):
            quote = match.group(1).strip()
            before = statement.text[max(0, match.start() - 120) : match.start()]
            if len(bag(quote)) < _WORDS and len(quote) < 6:
                continue
            if _is_users(before, quote) and not said.has(quote):
                yield _finding(quote, statement, compared)


_NEAR: Final = re.compile(
    r"^[\s:,：，]*(?:that|to|me|us|us|them|it|as|was|is|directly|explicitly|again|then|道|说|是|为|过|了|的是)?[\s:,：，(\"'“「*_]*$"
)


def _is_users(before: str, quote: str) -> bool:
    """Whether the words before a quote give it to the user; a short quote must stand right behind them."""
    last = next(reversed(list(_USER.finditer(before))), None)
    if last is None or re.search(r"\b(?:I|we|assistant|agent|model)\b|助手|我", before[last.end() :]):
        return False
    gap = before[last.end() :]
    return bool(_NEAR.match(gap)) or (len(gap) <= 40 and len(bag(quote)) > 3 and not re.search(r"[.!?。！？]", gap))


def _finding(quote: str, statement: Statement, compared: Compared) -> Finding:
    message = f'the output quotes the user with words that the user never wrote: "{shown(quote)}"'
    return error(message, quote, compared.place(statement))


_SUMMARY: Final = re.compile(
    r"summar|compact|condens|handover|hand-off|handoff|previous (?:conversation|session|context)|earlier (?:conversation|context|history|turns)"
    r"|conversation so far|continued from|context (?:so far|checkpoint)|progress (?:so far|report)|history|recap|state of|session notes?|notes?:"
    r"|摘要|总结|概要|小结|回顾|交接|此前|之前的(?:对话|会话|历史)|历史记录|压缩|进展|要約|zusammenfassung|résumé|resumen",
    re.IGNORECASE,
)


def _messages(compared: Compared, said: _Said) -> Iterator[Finding]:
    """New messages that show as typed by a person, and are no summary."""
    original = {m.index for m in compared.original.messages}
    del original
    new = {p.message for p in compared.alignment.new}
    for message in compared.output.messages:
        if message.index not in new or not is_person(message) or message.origin is not Origin.PERSON:
            continue
        texts = [p for p in compared.alignment.new if p.message == message.index]
        text = "\n".join(p.text for p in texts)
        if message.generation or _is_summary(text) or said.has(text):
            continue
        first = f'a message in the user\'s name that the user never wrote: "{shown(text)}"'
        yield error(first, text, compared.place_of(texts[0]))


def _is_summary(text: str) -> bool:
    head = text[:400]
    return (
        bool(_SUMMARY.search(head))
        or text.lstrip()[:1] in "<[#"
        or text.count("\n- ") > 2
        or "user" in text.lower()[:2000]
    )
