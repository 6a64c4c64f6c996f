"""Whether the output tells a fact again: in other words, in another notation, with the same polarity and names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from compressor.checks._compared import Compared
from compressor.checks._items import items
from compressor.checks._pairs import covered
from compressor.checks._statements import Statement
from compressor.checks._terms import bag
from compressor.guards.decisions import decisions
from compressor.guards.negation import clauses
from compressor.guards.numbers import Number, numbers, same
from compressor.model import Fact

#: Share of a fact's words that its retelling must have, by kind.
_SHARE: Final = {"negation": 0.45, "obligation": 0.45, "decision": 0.45, "outcome": 0.4, "task": 0.35, "whole": 0.35}
_DEFAULT: Final = 0.6
#: A number with so many digits, or a unit, is told by its value alone; a smaller one needs words of its own near it.
_TELLING: Final = 3
_NEAR: Final = 60
#: An open error may be told by the test, file or symbol that it is about.
_NAME: Final = re.compile(r"[A-Za-z_][\w./:-]{7,200}(?<!Error)(?<!Exception)")
_JOINED: Final = re.compile(r"[a-z][A-Z]|[\w]_\w|/|\.\w")
_WRONG: Final = re.compile(
    r"\b(?:fail|error|broken|crash|does not|doesn't|cannot|can't|exception)|失败|报错|错误|异常|崩溃", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Retelling:
    """Where the output tells the fact; `text` is "" when the form that the rule asks for is kept."""

    text: str


def retold(fact: Fact, compared: Compared) -> Retelling | None:
    """The retelling of a fact that does not stand word for word."""
    if fact.kind in ("number", "quote") and numbers(fact.text):
        return _number(fact, compared)
    if fact.kind == "outcome" and (told := _failure(fact, compared)) is not None:
        return told
    if fact.kind == "entity":
        return Retelling("") if fact.text.strip("`'\"").lower() in compared.output_text.lower() else None
    text = fact.text
    for d in decisions(text) if fact.kind == "decision" else ():
        # "we decided" and "because" need not be said again
        text = text.replace(d.cue, " ").replace(d.because, " ")
    words = bag(text)
    if not words:
        return Retelling("")
    return _words(fact, words, compared)


def _failure(fact: Fact, compared: Compared) -> Retelling | None:
    """The name that an open error is about, where the output says that something is wrong with it."""
    names = [w for w in _NAME.findall(fact.text) if _JOINED.search(w)]
    for statement in compared.output_index.statements if names else ():
        if any(n in statement.text for n in names) and _WRONG.search(_paragraph(statement)):
            return Retelling(statement.text)
    return None


def _number(fact: Fact, compared: Compared) -> Retelling | None:
    """The same value in another notation, next to words that say it is this one."""
    wanted = _as_found(fact, compared)
    around = (
        compared.original.parts[fact.part].text[max(0, fact.start - _NEAR) : fact.end + _NEAR] if fact.part >= 0 else ""
    )
    words = bag(around) - bag(fact.text)
    for statement in compared.output_index.statements:
        if not re.search(r"\d|[一二两三四五六七八九十百千万]|[a-z]", statement.text):
            continue
        for number in statement.numbers:
            if same(wanted, number) and (_is_telling(wanted) or words & statement.bag):
                return Retelling("")
    return None


def _as_found(fact: Fact, compared: Compared) -> Number:
    """The number as it reads in its place: what stands around it says what it is."""
    if fact.part >= 0:
        text = compared.original.parts[fact.part].text
        low = max(0, fact.start - _NEAR)
        for number in numbers(text[low : fact.end + _NEAR]):
            if number.start + low == fact.start:
                return number
    return numbers(fact.text)[0]


def _is_telling(number: Number) -> bool:
    return bool(number.unit) or sum(c.isdigit() for c in number.text) >= _TELLING


def _words(fact: Fact, words: frozenset[str], compared: Compared) -> Retelling | None:
    least = _SHARE.get(fact.kind, _DEFAULT)
    for share, statement in compared.output_index.near(words, most=8):
        near = bag(_paragraph(statement))
        if max(share, covered(words, near, compared)) < least:
            continue
        if _same_polarity(fact, statement) and _same_hard(fact, statement):
            return Retelling(statement.text)
    return None


def _paragraph(statement: Statement) -> str:
    text = statement.part.text
    start = text.rfind("\n\n", 0, statement.start) + 1
    end = text.find("\n\n", statement.end)
    return text[max(start, statement.start - 400) : min(end if end >= 0 else len(text), statement.end + 400)]


def _same_polarity(fact: Fact, statement: Statement) -> bool:
    if fact.kind not in ("negation", "obligation"):
        return True
    mine = clauses(fact.text)
    polarity = mine[0].polarity if mine else "-"
    theirs = {c.polarity for c in statement.clauses}
    return polarity in theirs if polarity == "-" else theirs != {"-"}


def _same_hard(fact: Fact, statement: Statement) -> bool:
    """The names and numbers of a clause are those of its retelling; a longer text must have half of them."""
    text = _paragraph(statement)
    lower = text.lower()
    wanted = [i.text.lower() for i in items(fact.text)]
    held = sum(1 for w in wanted if w in lower or w.rsplit("/", 1)[-1] in lower)
    theirs = numbers(text)
    mine = [n for n in numbers(fact.text) if n.kind != "ordinal"]
    held += sum(1 for n in mine if n.text in text or any(same(n, t) for t in theirs))
    whole = len(wanted) + len(mine)
    return held == whole if fact.kind in ("negation", "obligation", "decision") else held * 2 >= whole
