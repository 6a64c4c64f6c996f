"""What is still to do at the end of the original is not dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, shown
from compressor.checks._pairs import covered
from compressor.checks._terms import bag
from compressor.guards.outcomes import DONE, PENDING, outcomes
from compressor.model import Comparison, Finding, Level, Message, Origin, PartType, Role

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

_TOLD: Final = 0.4
_DONE: Final = 0.6
_LEAST: Final = 2
#: What was to do longer ago has been done or forgotten by all.
_NEWEST: Final = 12
#: Longer texts that somebody "said" are pasted.
_LONGEST: Final = 20_000
#: What is begun in the same breath is not left to do.
_ANNOUNCED: Final = re.compile(
    r"[\W_]*(?:now\b|let me|let's|i'?ll|i will|ready\b|shall i|would you|want me|do you|现在|我来|让我|我将|要不要|是否)",
    re.IGNORECASE,
)
_OPEN: Final = frozenset({"pending", "in_progress", "in-progress", "todo", "open", "not_started"})


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each open point of the original that the output does not tell."""
    compared = _compared.of(comparison)
    if not compared.new:
        return
    yield from distinct(_all(compared))


def _all(compared: Compared) -> Iterator[Finding]:
    for message, text in (*_listed(compared), *_said(compared)):
        words = bag(text)
        if len(words) >= _LEAST and not compared.is_kept(text) and not _is_told(words, compared):
            place = compared.origin(message)
            yield Finding("", Level.ERROR, "what is still to do is not in the output", shown(text), place)


def _is_told(words: frozenset[str], compared: Compared) -> bool:
    return any(share >= _TOLD for share, _ in compared.output_index.near(words, most=4))


def _listed(compared: Compared) -> Iterator[tuple[Message, str]]:
    """The open entries of the newest list of tasks that a call wrote."""
    newest: dict[str, dict[str, str]] = {}
    at: Message | None = None
    for message in reversed(compared.original.messages):
        if message.abandoned:
            continue
        for part in message.parts:
            stem, _, leaf = part.key.rpartition(".")
            if part.type is PartType.TOOL_CALL and leaf in ("status", "content", "step", "title"):
                newest.setdefault(stem, {})[leaf] = part.text
        if any(e.get("status", "") for e in newest.values()):
            at = message
            break
        newest.clear()
    for entry in newest.values():
        text = entry.get("content") or entry.get("step") or entry.get("title") or ""
        if at is not None and text and entry.get("status", "").lower() in _OPEN:
            yield at, text


def _said(compared: Compared) -> Iterator[tuple[Message, str]]:
    """What the newest messages say is still to do, and nothing later says is done."""
    talk = [
        (m, p)
        for m in compared.original.messages
        for p in m.parts
        if not m.abandoned and p.type is PartType.TEXT and len(p.text) < _LONGEST
        and (m.origin is Origin.PERSON or m.role is Role.ASSISTANT)
    ][-_NEWEST:]  # fmt: skip
    found: list[tuple[Message, str, frozenset[str]]] = []
    for message, part in talk:
        for told in outcomes(part.text):
            subject = frozenset(told.subject)
            text = part.text[told.start : told.end]
            if told.status == PENDING and len(subject) >= _LEAST and not _ANNOUNCED.match(text):
                found.append((message, text, subject))
            elif told.status == DONE:
                found = [f for f in found if covered(f[2], subject, compared) < _DONE]
    yield from ((m, t) for m, t, _ in found)
