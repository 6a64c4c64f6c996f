"""What is still to do at the end of the original is not dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, error, shown, where
from compressor.checks._pairs import covered
from compressor.checks._statements import Statement, pieces
from compressor.checks._terms import bag
from compressor.guards.negation import clauses
from compressor.guards.outcomes import DONE, FAILED, PENDING, outcomes
from compressor.model import Comparison, Finding, Level, Message, Origin, PartType, Role

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
FIXED_LEVELS = True

_TOLD: Final = 0.4
_OPEN_CUE: Final = re.compile(
    r"\b(?:pending|open|to ?-?do|todo|remaining|remains?|next|outstanding|left|still|not yet|awaits?|awaiting|waiting|need(?:s|ed)?|will|must|later|follow[- ]?up|unfinished|in progress|blocked)\b"
    r"|待|还|未|尚|下一步|接下来|剩|之后|后续|需要|将|等",
    re.IGNORECASE,
)
#: Cues that more often describe a thing than its state.
_NOUNS: Final = frozenset({"remaining", "later", "next"})
_PARTS: Final = re.compile(r"(?<=[.;；。])\s+|[;；]")
_AFFIRMED: Final = re.compile(
    r"\b(?:was|were|is|are|has been|have been|got)\s+(?:now |already |all |both )?(?:done|given|granted|finished|complete[d]?|resolved|approved|published|released|deployed|merged|tested|fixed|sent|answered|confirmed|migrated|\w+ed)\W*$"
    r"|已经?|完成?了|好了|完了|过了|完毕",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    r"\b(?:after|until|till|when|once|if|before|unless|whether|that)\b[^.;]{0,20}$|等到?|如果|直到|一旦", re.IGNORECASE
)
#: So much of what a statement says is the point.
_ABOUT, _WHOLLY = 0.5, 0.9
_ALL_DONE: Final = re.compile(
    r"\b(?:everything|all(?: of)?(?: the)?(?: \w+)?(?: (?:tasks?|items?|points?|steps?|work))?)\s+(?:is|are|was|were|has been|have been)\s+(?:now |all )?(?:done|complete|completed|finished)\b"
    r"|\bnothing (?:is )?(?:left|remaining|open|pending|outstanding)\b|(?:全部|都|均)(?:已|已经)?(?:完成|处理完|做完|搞定)|没有(?:遗留|待办|未完成)",
    re.IGNORECASE,
)
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
        words = bag(text) - _cue_words(text)
        if not words:
            continue
        yield from _affirmed(message, text, words, compared)
        if compared.is_kept(text):
            continue
        told = _told(words, compared)
        place = compared.origin(message)
        if told is None:
            # of our own output the ledger says what must stay; an open point that it left out is a loss to be seen
            level = Level.WARNING if compared.comparison.ours or _went_on(message, compared) else Level.ERROR
            yield Finding("", level, "what is still to do is not in the output", shown(text), place)
        elif compared.comparison.ours and told not in compared.claims:
            continue
        elif not _is_open(told):
            reads = f"what is still to do is told otherwise: {shown(told.text)}"
            level = Level.WARNING if _went_on(message, compared) else Level.ERROR
            yield Finding("", level, reads, shown(text), place)
    yield from _nothing_left(compared)


def _went_on(message: Message, compared: Compared) -> bool:
    """Whether the agent has used tools since it said so: what it was about to do it has most likely done."""
    return message.role is Role.ASSISTANT and any(c.message > message.index for c in compared.original.calls)


def _affirmed(message: Message, text: str, words: frozenset[str], compared: Compared) -> Iterator[Finding]:
    """New statements that tell the point as done."""
    for statement in compared.claims:
        for piece in pieces(statement):
            shared = piece.bag & words
            done = _AFFIRMED.search(piece.text)
            if not shared or len(pieces(piece)) > 1 or not done or _is_open(piece):
                continue
            share = covered(piece.bag - bag(done.group()), words, compared)
            if share >= _WHOLLY or (share >= _ABOUT and compared.is_rare(shared)):
                reads = f'what is still to do ("{shown(text)}", {where(message)}) is told as done: {shown(piece.text)}'
                yield error(reads, text, compared.place(piece))


def _cue_words(text: str) -> frozenset[str]:
    return frozenset(w for o in outcomes(text) for w in bag(o.cue))


def _told(words: frozenset[str], compared: Compared) -> Statement | None:
    """The statement of the output on this point; one that says it is open, if there is one."""
    found = [s for share, s in compared.told(words) if share >= _TOLD]
    return next((s for s in found if _is_open(s)), found[0] if found else None)


def _is_open(statement: Statement) -> bool:
    """Whether a statement leaves its point open: it says so, or stands below a heading that does."""
    if any(o.status in (PENDING, FAILED) for o in outcomes(statement.text)) or _OPEN_CUE.search(statement.text):
        return True
    if any(c.polarity == "-" for c in clauses(statement.text)):
        return True
    text = statement.part.text
    above = (
        text.rfind("\n#", 0, statement.start),
        text.rfind(":\n", 0, statement.start),
        text.rfind("：\n", 0, statement.start),
    )
    start = text.rfind("\n", 0, max(above)) + 1 if max(above) == above[1] or max(above) == above[2] else max(above)
    heading = text[max(0, start) : text.find("\n", max(above) + 1)] if max(above) >= 0 else ""
    line = text[text.rfind("\n", 0, statement.start) + 1 : statement.start]
    return bool(_OPEN_CUE.search(heading) or _OPEN_CUE.search(line))


def _nothing_left(compared: Compared) -> Iterator[Finding]:
    """`Everything is done`, while the original ends with something to do."""
    open_points = [*_listed(compared), *_said(compared)]
    if not open_points:
        return
    message, text = open_points[-1]
    for statement in compared.claims:
        told = _ALL_DONE.search(statement.text)
        if told and not _WHEN.search(statement.text[: told.start()]):
            reads = f'what is still to do ("{shown(text)}", {where(message)}) is told as done: {shown(statement.text)}'
            yield error(reads, text, compared.place(statement))


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


def _point(text: str, cue: str) -> str:
    """The part of a clause that holds the cue."""
    parts = [p for p in _PARTS.split(text) if cue.lower() in p.lower()]
    return parts[0].strip() if parts and bag(parts[0]) else text


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
            text = part.text[told.start : told.end]
            subject = bag(text) - bag(told.cue)
            if told.cue.lower() in _NOUNS:
                continue
            if (
                told.status == PENDING
                and (len(subject) >= _LEAST or compared.is_rare(subject))
                and not _ANNOUNCED.match(text)
            ):
                found.append((message, _point(text, told.cue), subject))
            elif told.status == DONE:
                found = [f for f in found if covered(f[2], subject, compared) < _DONE]
    yield from ((m, t) for m, t, _ in found)
