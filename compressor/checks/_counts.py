"""Counts that can be worked out from the original: of its calls, files, requests, list entries."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from compressor.checks._compared import Compared
from compressor.checks._items import items
from compressor.checks._statements import Statement
from compressor.guards.numbers import Number
from compressor.model import Origin, PartType, Role

_LIST: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)、]|\|)\s*\S", re.MULTILINE)
_JOIN: Final = re.compile(r",|;|、|，|；|\band\b|\bor\b|和|与|及|/|\+")
_LEAST: Final = 3
#: What a number word or a small count may stand for without being anybody's fact.
_SMALL: Final = 3
#: Longer arguments are contents, not names.
_LONGEST: Final = 400


def is_count(number: Number, statement: Statement, compared: Compared) -> bool:
    """Whether the number is a small count, or one that can be worked out."""
    value = number.value
    if not isinstance(value, Decimal) or value != value.to_integral_value() or number.sign:
        return False
    if number.kind not in ("count", "number", "ordinal") and number.unit != "x":
        return False
    return value <= _SMALL or countable(int(value), statement, compared)


def is_listed(number: Number, statement: Statement) -> bool:
    """Whether the number says how many things the very statement lists."""
    return isinstance(number.value, Decimal) and number.value in _of_sentence(statement)


def countable(value: int, statement: Statement, compared: Compared) -> bool:
    """Whether something of the original, or of the very sentence, comes to this number."""
    if value in _of_session(compared) or value <= _of_paths(statement, compared):
        return True
    return value <= 30 and value in _of_sentence(statement)


def _of_sentence(statement: Statement) -> set[int]:
    """How many things the sentence (and the list below it) names."""
    text = statement.text
    joined = len([p for p in _JOIN.split(text) if p.strip()])
    found = {joined, joined - 1, joined + 1, len(items(text))} if joined >= _LEAST else {len(items(text))}
    rest = statement.part.text[statement.end :].lstrip("*_:： \t\n")
    below = 0
    for line in rest.split("\n")[:80]:
        if _LIST.match(line):
            below += 1
        elif line.strip() and not line.startswith((" ", "\t")):
            break
    return found | {below}


def _of_paths(statement: Statement, compared: Compared) -> int:
    """How many calls name a path of the sentence: at most so often was it read or written."""
    paths = [i.text for i in items(statement.text) if i.kind in ("path", "file")][:4]
    calls = [p.text for p in compared.original.parts if p.type is PartType.TOOL_CALL and len(p.text) < _LONGEST]
    return max((sum(path in text for text in calls) for path in paths), default=0)


def _of_session(compared: Compared) -> frozenset[int]:
    """What code can count: messages by speaker, calls by tool, distinct arguments by tool."""
    known = compared.comparison.shared.get("counts")
    if known is not None:
        assert isinstance(known, frozenset)
        return known
    session = compared.original
    found = {sum(1 for m in session.messages if m.role is role) for role in Role}
    found.add(sum(1 for m in session.messages if m.origin is Origin.PERSON))
    found |= {len(session.messages), len(session.calls), sum(c.error for c in session.calls)}
    tools: dict[str, set[str]] = {}
    times: dict[str, int] = {}
    for call in session.calls:
        times[call.name] = times.get(call.name, 0) + 1
    for part in session.parts:
        if part.type is PartType.TOOL_CALL:
            tools.setdefault(f"{part.name}.{part.key}", set()).add(part.text)
    found |= set(times.values()) | {len(v) for v in tools.values()}
    compared.comparison.shared["counts"] = counted = frozenset(n for n in found if n >= _LEAST)
    return counted
