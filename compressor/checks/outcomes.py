"""What failed is not told as done, what is still to do not as finished."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, error, shown, where
from compressor.checks._pairs import covered, pairs
from compressor.checks._statements import Statement, is_speech
from compressor.checks._terms import bag
from compressor.guards.numbers import numbers
from compressor.guards.outcomes import DONE, FAILED, PENDING, Outcome, outcomes
from compressor.model import Comparison, Finding, PartType

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

_SAME: Final = 0.7
_MENDED: Final = re.compile(r"fix|resolv|solv|mend|修|解决", re.IGNORECASE)
_ASKS: Final = re.compile(r"[\W_]*(?:how|what|why|where|when|whether|如何|怎么|为什么)\b", re.IGNORECASE)
#: What the original says beyond it (why, how often) may have gone.
_LEAST_SHARE: Final = {FAILED: 0.4, PENDING: 0.5}
#: When the original speaks of all that the output does, what else it says does not matter.
_WHOLE, _WHOLE_LEAST = 0.9, 0.15
_LEAST: Final = 2
_RED: Final = re.compile(
    r"\b[1-9]\d{0,5} (?:failed|failing|failures?|errors?)\b|^(?:FAILED|FAIL|ERROR|--- FAIL)\b|\bBUILD FAILED\b|npm ERR!|失败 [1-9]\d*|[1-9]\d* (?:个)?失败",
    re.MULTILINE,
)
_ALL_GREEN: Final = re.compile(
    r"\ball (?:the )?(?:\w+ )?(?:tests?|checks?|specs?)\b[^.;\n]{0,30}\b(?:pass|passed|passing|green|succeed)|(?:所有|全部)[^。；\n]{0,8}测试[^。；\n]{0,8}通过|测试全部通过",
    re.IGNORECASE,
)
_RUN: Final = re.compile(
    r"\b\d+ (?:passed|passing|tests?|failed|failing)\b|^(?:ok|PASS|FAIL)\b|\bRan \d+ tests?\b|通过", re.MULTILINE
)


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each outcome of the new text that the original tells otherwise."""
    compared = _compared.of(comparison)
    yield from distinct(_all(compared))


def _all(compared: Compared) -> Iterator[Finding]:
    for statement, near in pairs(compared):
        if not statement.prose or _ASKS.match(statement.text):
            continue
        for told in outcomes(statement.text):
            found = _otherwise(told, statement, [p.old for p in near], compared)
            if found is not None:
                yield _finding(told, *found, statement, compared)
        if _ALL_GREEN.search(statement.text):
            yield from _not_green(statement, compared)


def _otherwise(
    told: Outcome, statement: Statement, near: list[Statement], compared: Compared
) -> tuple[Statement, Outcome] | None:
    """The newest outcome of the same subject in the original, if it is the contrary and none agrees."""
    subject = _subject(told, statement)
    if not subject or told.status == PENDING:
        return None
    best: tuple[float, int, Statement, Outcome] | None = None
    for order, other in enumerate(sorted(near, key=lambda s: (s.part.ordinal, s.start))):
        if not other.prose or not is_speech(other.message):
            continue
        for outcome in outcomes(other.text):
            if outcome.cue.lower() in _NOUNS:
                continue
            theirs = _subject(outcome, other)
            least = _LEAST_SHARE.get(outcome.status, _SAME)
            likeness = _likeness(subject, theirs, least, compared)
            if likeness and (best is None or (likeness, order) >= best[:2]):
                best = (likeness, order, other, outcome)
    if best is None or best[3].status == told.status or {told.status, best[3].status} == {FAILED, PENDING}:
        return None
    if best[3].cue.lower() in statement.text.lower() or _is_mended(told, best[2], compared):
        return None
    if told.status == FAILED and _fails_since(best[2], compared):
        return None
    return best[2:]


def _is_mended(told: Outcome, failed: Statement, compared: Compared) -> bool:
    """What is told to be fixed may have been, when the agent went on working after the failure was told."""
    return bool(_MENDED.search(told.cue)) and any(c.message > failed.message.index for c in compared.original.calls)


def _fails_since(done: Statement, compared: Compared) -> bool:
    """Whether something failed after it was told to be done: the new text may speak of that."""
    return any(
        p.type is PartType.TOOL_RESULT and p.message > done.message.index and _RED.search(p.text[-4_000:])
        for p in compared.original.parts
    )


def _subject(outcome: Outcome, statement: Statement) -> frozenset[str]:
    """What it happened to: the words of the clause without those that say how it ended."""
    clause = statement.text[outcome.start : outcome.end]
    ordinals = {f"#{n.value}" for n in numbers(clause) if n.kind == "ordinal"}
    return (bag(clause) - bag(outcome.cue)) | ordinals


def _likeness(subject: frozenset[str], theirs: frozenset[str], least: float, compared: Compared) -> float:
    """How far two outcomes are of one thing, 0 for not: one side may say more of it (why, how often)."""
    if not theirs or (min(len(theirs), len(subject)) < _LEAST and not compared.is_rare(theirs & subject)):
        return 0.0
    shares = covered(subject, theirs, compared), covered(theirs, subject, compared)
    if shares[0] >= _WHOLE and compared.is_rare(subject & theirs):
        least = min(least, _WHOLE_LEAST)
    return round(sum(shares), 1) if max(shares) >= _SAME and min(shares) >= least else 0.0


#: Cues that more often describe a thing than its state.
_NOUNS: Final = frozenset({"remaining", "later", "next"})
_NAMES: Final = {DONE: "done", FAILED: "failed", PENDING: "still to do"}


def _finding(told: Outcome, other: Statement, outcome: Outcome, statement: Statement, compared: Compared) -> Finding:
    before = other.text[outcome.start : outcome.end]
    after = statement.text[told.start : told.end]
    message = (
        f'what is {_NAMES[outcome.status]} is told as {_NAMES[told.status]}: "{shown(before)}" in the original '
        f'({where(other.message)}) reads "{shown(after)}" here'
    )
    return error(message, before, compared.place(statement))


def _not_green(statement: Statement, compared: Compared) -> Iterator[Finding]:
    """`All tests pass`, when no run of the original ended without a failure."""
    runs = [
        p
        for p in compared.original.parts
        if p.call >= 0 and not compared.original.messages[p.message].abandoned and _RUN.search(p.text[-4_000:])
    ]
    runs = [p for p in runs if p.type.value == "tool_result"]
    if not runs:
        return
    red = [p for p in runs if _RED.search(p.text[-4_000:])]
    if len(red) == len(runs):
        line = _RED.search(red[-1].text[-4_000:])
        assert line is not None
        there = compared.original.messages[red[-1].message]
        message = f'failures are told as success: "{shown(line.group())}" in the original ({where(there)}) reads "{shown(statement.text)}" here'
        yield error(message, line.group(), compared.place(statement))
