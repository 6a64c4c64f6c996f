"""Find what a text says that the user said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from compressor.guards._data import alternation, phrases

#: Shorter quotations are words that are named, not said.
_SHORTEST: Final = 3
_QUOTED: Final = re.compile(
    r"\"([^\"\n]{2,600})\"|\u201c([^\u201d\n]{2,600})\u201d|\u300c([^\u300d\n]{2,600})\u300d|\u300e([^\u300f\n]{2,600})\u300f|\u00ab\s?([^\u00bb\n]{2,600}?)\s?\u00bb|\u201e([^\u201c\u201d\n]{2,600})[\u201c\u201d]|(?<![\w])'([^'\n]{4,600})'(?!\w)"
)
#: How far before its quotation the speaker may stand.
_NEAR: Final = 120
_BLOCK: Final = re.compile(r"^[^\S\n]*>[^\S\n]?(.{2,600})$", re.MULTILINE)
_LABEL: Final = re.compile(
    r"^[\s*_#-]*(?:user|human|customer|\u7528\u6237|\u5ba2\u6237|\u30e6\u30fc\u30b6\u30fc)[*_]{0,2}\s*[:\uff1a][*_]{0,2}[^\S\n]*(\S.{1,600})$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class UserQuote:
    """Words that the text presents as the user's own: `text[start:end]`, without the marks.

    `exact` tells words in quotation marks from a line that is labelled as the user's.
    """

    start: int
    end: int
    text: str
    exact: bool = True


@cache
def _said() -> re.Pattern[str]:
    """A speaker and a verb of saying, in this order, close together."""
    who, verb = alternation(phrases("quotes", "speaker")), alternation(phrases("quotes", "verb"))
    return re.compile(
        rf"(?:{who})[^.!?\u3002\uff01\uff1f\n]{{0,40}}?(?:{verb})|(?:{verb})[^.!?\u3002\n]{{0,16}}?(?:{who})",
        re.IGNORECASE,
    )


def quotes(text: str) -> list[UserQuote]:
    """All stretches that the text presents as the user's own words, in order."""
    out: list[UserQuote] = []
    for match in _QUOTED.finditer(text):
        group = next(i for i, g in enumerate(match.groups(), 1) if g is not None)
        start, end = match.span(group)
        if end - start >= _SHORTEST and _attributed(text, match.start(), match.end()):
            out.append(UserQuote(start, end, text[start:end]))
    for match in _LABEL.finditer(text) if ":" in text or "\uff1a" in text else ():
        start, end = match.span(1)
        if not any(q.start < end and start < q.end for q in out):
            out.append(UserQuote(start, end, text[start:end].strip(), exact=False))
    for match in _BLOCK.finditer(text) if ">" in text else ():
        start, end = match.span(1)
        before = text[max(0, match.start() - _NEAR) : match.start()].rstrip()
        if before.endswith((":", "\uff1a")) and _said().search(before.rsplit("\n", 1)[-1]):
            out.append(UserQuote(start, end, text[start:end]))
    return sorted(out, key=lambda q: q.start)


def _attributed(text: str, start: int, end: int) -> bool:
    """Whether the user is named as the speaker, before the quotation in its sentence or right behind it."""
    before = re.split(r"[.!?\u3002\uff01\uff1f]\s|\n", text[max(0, start - _NEAR) : start])[-1]
    if _said().search(before):
        return True
    after = re.split(r"[.!?\u3002\uff01\uff1f\n]", text[end : end + 40])[0]
    return bool(_said().search(after) and not _QUOTED.search(after))
