"""What the original forbids, denies or demands, the output does not allow, affirm or waive; nor the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, error, shown, where
from compressor.checks._opposites import contraries, opposed
from compressor.checks._pairs import Pair, compare, covered, pairs
from compressor.checks._statements import Statement, is_speech, pieces
from compressor.checks._terms import bag, bare
from compressor.guards.negation import NEGATION, Clause
from compressor.model import Comparison, Finding, Role

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

#: So much of a clause's words the other side must have to speak of the same.
_SAME: Final = 0.72
#: Pairs of characters that run across two words make the share smaller.
_SAME_HAN, _MOST_HAN = 0.6, 0.5
#: Like statements with a word and its contrary contradict each other.
_OPPOSED: Final = 0.55
#: A plain negated fact may be true at one time and not at another: only like statements contradict each other.
_FACT: Final = 0.60
_LEAST: Final = 2
#: A sentence with so much of a clause's words tells the clause, whatever one of its own clauses says alone.
_WHOLE: Final = 0.8
#: "A, not B" says less than that B is not so.
_CONTRAST: Final = re.compile(r"[,，]\s*(?:not|不是)\s?|而不是|而非", re.IGNORECASE)
_STAYS: Final = re.compile(
    r"\b(?:untouched|unchanged|intact|as is|as it is|as they are|alone)\b|原样|不变|不动|原封|unverändert|inchangé|sin cambios",
    re.IGNORECASE,
)
_CHANGES: Final = re.compile(
    r"\b(?:chang|modif|touch|edit|alter|updat|rewrit|rewrote|migrat|delet|remov|drop|mov|renam|replac)\w*\b|改|动|删|移|换|更新|迁",
    re.IGNORECASE,
)
#: "No X" tells of a state as often as it forbids.
_NOTHING: Final = frozenset({"no", "none", "nothing", "without", "无", "没有"})
_AFTER: Final = re.compile(
    r"\b(?:because|since|so that|so|unless|until|if|when|whenever|rather than|instead of)\b|因为|除非|如果|以便|以免",
    re.IGNORECASE,
)
#: Words of refusing deny without a negation.
_REFUSED: Final = re.compile(
    r"\b(?:reject|refus|declin|avoid|against|abandon|forbid|forbade|prohibit|fail|drop)\w*\b|拒绝|放弃|否决|避免|禁止|失败",
    re.IGNORECASE,
)
#: Of a clause with so few words, every one counts.
_SHORT: Final = 3


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each statement of the new text that says the contrary of the original."""
    compared = _compared.of(comparison)
    yield from distinct(_all(compared))


def _all(compared: Compared) -> Iterator[Finding]:
    orders = _orders(compared)
    for statement, close in pairs(compared):
        if not statement.prose or len(pieces(statement)) > 1:
            continue
        said = [compare(statement, o, compared) for o, words in orders if words & statement.bag]
        near = [*close, *said]
        for pair in near:
            words = contradiction(pair, compared)
            if words and not _supported(pair, near, compared):
                yield _finding(pair, words, compared)
                break


def _orders(compared: Compared) -> list[tuple[Statement, frozenset[str]]]:
    """What people and the system forbid or demand, with the words of those clauses."""
    out = []
    for statement in compared.order_statements:
        if statement.prose and statement.message.role in (Role.USER, Role.SYSTEM):
            words = [
                bag(statement.text[c.start : c.end])
                for c in statement.clauses
                if c.sort != NEGATION and c.cue not in _NOTHING
            ]
            if words:
                out.append((statement, frozenset[str]().union(*words)))
    return out


def contradiction(pair: Pair, compared: Compared) -> tuple[str, str] | None:
    """The words of both sides that contradict each other, or None."""
    if not pair.old.prose or not is_speech(pair.old.message) or _is_told_whole(pair):
        return None
    for clause in pair.old.clauses:
        if _denied(clause, pair.old, pair.new, pair, compared):
            return pair.old.text[clause.start : clause.end], pair.new.text
    for clause in pair.new.clauses:
        if _denied(clause, pair.new, pair.old, pair, compared):
            return pair.old.text, pair.new.text[clause.start : clause.end]
    if _affirms(pair, compared) or _touches(pair, compared):
        return pair.old.text, pair.new.text
    is_alike = pair.likeness >= _OPPOSED or (_is_order(pair) and compared.is_rare(pair.new.bag & pair.old.bag))
    return opposed(pair) if is_alike else None


def _denied_words(text: str, cue: str) -> frozenset[str]:
    """What the cue denies: the words behind it, up to a condition or a reason."""
    at = text.lower().find(cue.split(" ", maxsplit=1)[0])
    return bag(_AFTER.split(text[max(at, 0) + len(cue) :], maxsplit=1)[0])


def _touches(pair: Pair, compared: Compared) -> bool:
    """Whether the output changes what is to stay as it is."""
    if not _is_order(pair) or not _STAYS.search(pair.old.text) or _STAYS.search(pair.new.text):
        return False
    if any(c.polarity == "-" for c in pair.new.clauses) or not _CHANGES.search(pair.new.text):
        return False
    return compared.is_rare(pair.new.bag & pair.old.bag)


def _is_told_whole(pair: Pair) -> bool:
    """Whether the output's clause is a piece of a sentence that says all that the original does."""
    whole = pair.new.parent
    if whole is None:
        return False
    text = bare(whole.text)
    theirs = [pair.old.text, *(pair.old.text[c.start : c.end] for c in pair.old.clauses)]
    return any(bare(t) in text for t in theirs) or (
        pair.old.parent is not None and bare(pair.old.parent.text) in text
    )  # fmt: skip


def _is_order(pair: Pair) -> bool:
    return pair.old.message.role in (Role.USER, Role.SYSTEM) and any(
        c.sort != NEGATION and c.cue not in _NOTHING for c in pair.old.clauses
    )


def _affirms(pair: Pair, compared: Compared) -> bool:
    """Whether the output plainly says a part of what the original denies as a whole."""
    if len(pair.new.bag) < _LEAST or any(c.polarity == "-" for c in pair.new.clauses) or len(pieces(pair.new)) > 1:
        return False
    for clause in pair.old.clauses:
        text = pair.old.text[clause.start : clause.end]
        words = bag(text)
        is_part = pair.new.bag <= words and len(pair.new.bag & _denied_words(text, clause.cue)) * 3 >= len(pair.new.bag)
        if clause.polarity == "-" and is_part and not _CONTRAST.search(text):
            whole = pair.new.parent
            if whole is None or covered(words, whole.bag, compared) < _WHOLE:
                return compared.is_rare(pair.new.bag)
    return False


def _denied(clause: Clause, side: Statement, other: Statement, pair: Pair, compared: Compared) -> bool:
    """Whether the other side speaks of what the clause says, and without its polarity."""
    text = side.text[clause.start : clause.end]
    words = bag(text)
    is_order = (
        clause.sort != NEGATION and clause.cue not in _NOTHING and pair.old.message.role in (Role.USER, Role.SYSTEM)
    )
    if not is_order and min(pair.share, pair.tight) < _FACT:
        return False
    if _CONTRAST.search(text):
        return False
    if bare(text) in bare(other.text) or bare(pair.old.text) in bare(pair.new.text):
        return False
    if any(contraries(w) & (other.bag - side.bag) for w in words):
        return False
    return _about(words, other, compared) and not _agrees(clause, words, other, compared)


def _about(words: frozenset[str], other: Statement, compared: Compared) -> bool:
    """Whether the other side speaks of all that the clause speaks of."""
    if len(words) < _LEAST and not compared.is_rare(words):
        return False
    if any(not w.isascii() for w in words):
        shared = len(words & other.bag)
        return shared >= _LEAST and covered(words, other.bag, compared) >= (_SAME_HAN if shared < _SHORT else _MOST_HAN)
    if covered(words, other.bag, compared) < (_SAME if len(words) > _SHORT else 1):
        return False
    return max(words, key=lambda w: (compared.weigh((w,)), w)) in other.bag


def _agrees(clause: Clause, words: frozenset[str], other: Statement, compared: Compared) -> bool:
    """Whether the other side has a clause of the same polarity on these words."""
    for o in other.clauses:
        theirs = bag(other.text[o.start : o.end])
        if len(words & theirs) * 2 >= min(len(words), len(theirs)) and o.polarity == clause.polarity:
            return True
    if clause.polarity == "-" and _REFUSED.search(other.text):
        return True
    if clause.polarity == "+":
        # a demand told as a plain statement is still told; only a denial of it is none
        return not any(
            o.polarity == "-" and covered(words, bag(other.text[o.start : o.end]), compared) >= _SAME
            for o in other.clauses
        )
    return False


def _supported(pair: Pair, near: list[Pair], compared: Compared) -> bool:
    """Whether another statement of the original says it as the output does."""
    return any(
        p is not pair and p.likeness >= min(0.6, pair.likeness - 0.1) and contradiction(p, compared) is None and p.share >= 0.6
        for p in near
    )  # fmt: skip


def _finding(pair: Pair, words: tuple[str, str], compared: Compared) -> Finding:
    place = where(pair.old.message)
    message = f'turned round: "{shown(words[0])}" in the original ({place}) reads "{shown(words[1])}" here'
    return error(message, words[0], compared.place(pair.new))
