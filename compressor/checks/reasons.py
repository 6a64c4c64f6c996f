"""A decision that is told keeps its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, error, shown, where
from compressor.checks._pairs import covered
from compressor.checks._statements import Statement
from compressor.checks._terms import bag
from compressor.guards._data import compiled, phrases
from compressor.guards.decisions import DecisionSpan, decisions
from compressor.model import Comparison, Finding, Message, Part, PartType, Role

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

_TOLD: Final = 0.6
_REASON: Final = 0.3
#: A statement that has clearly less of a decision than another one is about something else.
_NEARLY: Final = 0.2
_LEAST: Final = 2
_AROUND: Final = 240
_PLAIN: Final = re.compile(r"\b(?:because|since|due to|owing to|given that)\b|因为|由于|鉴于", re.IGNORECASE)
#: A longer cue has a gap with words of the decision in it.
_GAP: Final = 3
#: The next sentence tells the reason, or this one draws on the last.
_GOES_ON: Final = re.compile(
    r"[\s.;,—–(-]*(?:this|that|it|the reason|reason|why)\b|[\s。；，（]*(?:这|原因|理由)", re.IGNORECASE
)
_DRAWN: Final = re.compile(
    r"[\W_]*(?:so|therefore|hence|thus|that is why|for this reason|consequently)\b|[\W_]*(?:所以|因此|于是|为此)",
    re.IGNORECASE,
)


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each decision that the new text tells without the reason that the original gives."""
    compared = _compared.of(comparison)
    if not compared.new:
        return
    yield from distinct(_all(compared))


@cache
def _because() -> re.Pattern[str]:
    return compiled(phrases("decisions", "reason"))


def _all(compared: Compared) -> Iterator[Finding]:
    for message, part in _prose(compared):
        for span in decisions(part.text):
            whole = part.text[span.start : span.end]
            if compared.is_kept(whole):
                continue
            told = _told(part, span, compared)
            if told is not None:
                yield _finding(message, whole, told, compared)


def _prose(compared: Compared) -> Iterator[tuple[Message, Part]]:
    for message in compared.original.messages:
        if message.abandoned or message.role not in (Role.USER, Role.ASSISTANT):
            continue
        for part in message.parts:
            if part.type is PartType.TEXT:
                yield message, part


def _told(part: Part, span: DecisionSpan, compared: Compared) -> Statement | None:
    """The new statement that tells the decision and, all around, not its reason."""
    start, end = _reason(part.text, span)
    reason = bag(part.text[start:end])
    rest = part.text[span.start : start] + " " + part.text[end : span.end]
    decision = bag(rest.replace(span.cue, " ") if span.cue.count(" ") < _GAP else rest)
    reason -= decision
    if len(decision) < _LEAST or not reason:
        return None
    shares = [(covered(decision, s.bag, compared), s) for s in compared.claims]
    best = max((share for share, _ in shares), default=0.0)
    told = [s for share, s in shares if share >= max(_TOLD, best - _NEARLY)]
    for statement in told:
        near = _entry(statement)
        if covered(reason, bag(near), compared) >= _REASON or _gives_reason(near, rest):
            return None
    return told[-1] if told else None


def _reason(text: str, span: DecisionSpan) -> tuple[int, int]:
    """Where the reason stands; a plain "because" tells it better than a purpose that belongs to the decision."""
    if _PLAIN.match(span.because):
        return span.reason, span.reason_end
    plain = _PLAIN.search(text, span.reason, span.end)
    return (plain.start(), span.end) if plain else (span.reason, span.reason_end)


def _gives_reason(told: str, decision: str) -> bool:
    """Whether a reason is told, with a cue that is no word of the decision itself."""
    known = decision.lower()
    return any(m.group().lower() not in known for m in _because().finditer(told))


def _entry(statement: Statement) -> str:
    """The statement, with the next one of its line if that goes on with a reason, or the last if it draws on it."""
    text = statement.part.text
    start, end = statement.start, statement.end
    line_end = text.find("\n", end)
    rest = text[end : min(len(text) if line_end < 0 else line_end, end + _AROUND)]
    if _because().match(rest.lstrip(" .;,—–-(（，；。:：*")) or _GOES_ON.match(rest):
        end += len(rest)
    if _DRAWN.match(statement.text):
        start = max(text.rfind("\n", 0, start) + 1, start - _AROUND)
    return text[start:end]


def _finding(message: Message, whole: str, told: Statement, compared: Compared) -> Finding:
    text = f'the reason is lost: "{shown(whole)}" in the original ({where(message)}) reads "{shown(told.text)}" here'
    return error(text, whole, compared.place(told))
