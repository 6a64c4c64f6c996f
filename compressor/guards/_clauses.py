"""Cut a sentence into segments, and find how far the clause around a cue reaches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from compressor.guards._cues import Cues
from compressor.guards._data import CJK

_BORDER: Final = re.compile(r"[;\u2014]|(?<=\s)[\u2013-](?=\s)|:(?=\s|\*)|,(?=\s)|\s?\((?=\S)|(?<=\S)\)")
_CJK_BORDER: Final = re.compile(r"[\uff0c\uff1b\uff1a;]|,(?!\d)|:(?=\s)|\u2014\u2014|[\u3002\uff01\uff1f]")
_MARKS: Final = " \t\n\r,;:\uff0c\uff1b\uff1a\u3001\u2014\u2013-"
_WORD: Final = re.compile(r"\w+(?:['\u2019.-]\w+)*")
_HAN: Final = re.compile(f"[{CJK}]")
#: A segment of at most so many words between commas is a member of a list.
_MEMBER: Final = 3
_LIST_WORD: Final = re.compile(r"[\s,]*(?:or|nor|and|oder|und|ou|et|ni|o|y|noch)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch between two borders; `mark` is the border before it."""

    start: int
    end: int
    mark: str


def segments(masked: str, table: Cues, openings: Sequence[int]) -> list[Segment]:
    """The segments of a sentence, end to end; a cue that opens a clause after "and", "but" … opens a segment."""
    cuts: list[tuple[int, int, str]] = [
        (m.start(), m.end(), m.group().strip()) for m in (_CJK_BORDER if table.cjk else _BORDER).finditer(masked)
    ]
    for at in openings:
        joint = table.joint.search(masked, max(0, at - 24), at)
        if joint and joint.start() > 0:
            cuts.append((joint.start(), joint.start(), "joint"))
    cuts.sort()
    out: list[Segment] = []
    start, mark = 0, ""
    for begin, end, sign in cuts:
        if begin > start and masked[start:begin].strip():
            out.append(Segment(start, begin, mark))
            start, mark = end, sign
        elif end >= start:
            start, mark = end, sign
    if masked[start:].strip() or not out:
        out.append(Segment(start, len(masked), mark))
    else:
        out[-1] = Segment(out[-1].start, len(masked), out[-1].mark)
    return _whole(out)


def _whole(parts: list[Segment]) -> list[Segment]:
    """Let every segment reach to the next one, so that each cue lies in one."""
    return [Segment(s.start, parts[i + 1].start if i + 1 < len(parts) else s.end, s.mark) for i, s in enumerate(parts)]


def extent(
    masked: str, parts: Sequence[Segment], at: int, cue: int, cue_end: int, table: Cues, forbids: bool
) -> tuple[int, int]:
    """Where the clause of a cue begins and ends: its segment, with the condition, subject and exception of it."""
    low = high = at
    while low > 0 and _leans_back(masked, parts, low, cue, cue_end, table):
        low -= 1
    while high + 1 < len(parts) and _leans_on(masked, parts, high + 1, cue_end, table, forbids):
        high += 1
    start, end = parts[low].start, parts[high].end
    start = _without_lead(masked, start, cue, table)
    last = high == len(parts) - 1
    while end > cue_end and (masked[end - 1] in _MARKS or (not last and masked[end - 1] in "(")):
        end -= 1
    return _without_marks(masked, start, end, cue, cue_end)


def _leans_back(masked: str, parts: Sequence[Segment], low: int, cue: int, cue_end: int, table: Cues) -> bool:
    """Whether a segment needs the one before it: a condition, its subject, or what it speaks of."""
    here, before = parts[low], parts[low - 1]
    if here.mark in (":", "\uff1a", ";", "\uff1b", "joint", ")"):
        return here.mark == ")" or (
            here.mark == "joint" and bool(table.condition.end(masked[before.start : before.end]))
        )
    if here.mark == "(":
        return False
    previous = masked[before.start : before.end]
    if table.condition.end(previous):
        return True
    if table.condition_end and previous.rstrip(_MARKS).endswith(table.condition_end):
        return True
    text = masked[here.start : here.end]
    if table.needs_subject.end(text) and here.start <= cue < here.end and _near_start(masked, here.start, cue, table):
        return True
    return here.start <= cue < here.end and _weight(masked[here.start : cue] + masked[cue_end : here.end], table) < (
        3 if table.cjk else 1
    )


def _near_start(masked: str, start: int, cue: int, table: Cues) -> bool:
    return not _WORD.search(masked[start:cue]) or bool(table.needs_subject.end(masked[start:]))


def _leans_on(masked: str, parts: Sequence[Segment], next_: int, cue_end: int, table: Cues, forbids: bool) -> bool:
    """Whether the next segment belongs to the clause: an exception, a permission, a member of its list."""
    segment = parts[next_]
    text = masked[segment.start : segment.end]
    opener = table.exception.end(masked[parts[next_ - 1].start : segment.start])
    if table.exception.end(text) or (
        opener and not masked[parts[next_ - 1].start + opener : segment.start].strip(_MARKS)
    ):
        return True
    if forbids and table.permission.search(text):
        return True
    if segment.mark == "joint":
        return False
    here = parts[next_ - 1]
    if here.start <= cue_end <= here.end and not _weight(masked[cue_end : here.end], table):
        return True
    if segment.mark == "," and not table.cjk:
        later = masked[segment.start : parts[next_ + 1].end] if next_ + 1 < len(parts) else text
        member = len(_WORD.findall(text)) <= _MEMBER
        return bool(_LIST_WORD.match(text) and member) or (member and bool(_LIST_WORD.search(later)))
    return False


def _weight(text: str, table: Cues) -> int:
    """How much a stretch says: its characters in CJK, else its words, greetings and joints apart."""
    text = text[table.lead.end(text) :]
    if table.cjk:
        return len(_HAN.findall(text)) + len(_WORD.findall(_HAN.sub(" ", text))) * 2
    return sum(1 for w in _WORD.findall(text) if w.lower() not in table.function) or text.count("\x00")


def _without_lead(masked: str, start: int, cue: int, table: Cues) -> int:
    while joint := table.lead.end(masked[start:cue]):
        if _polite(masked[start : start + joint]):
            break
        start += joint
    return start


_POLITE: Final = re.compile(
    r"[\s*_]*(?:please|bitte|por favor|veuillez|merci|\u8bf7|\u9ebb\u70e6|\u62dc\u6258|you|\u4f60|\u60a8|no)\b",
    re.IGNORECASE,
)


def _polite(text: str) -> bool:
    return bool(_POLITE.match(text))


def _without_marks(masked: str, start: int, end: int, cue: int, cue_end: int) -> tuple[int, int]:
    """Trim white space and marks, and emphasis or brackets of which only one half is inside."""
    while start < cue and masked[start] in _MARKS + ")":
        start += 1
    while end > cue_end and masked[end - 1].isspace():
        end -= 1
    for mark in ("**", "__", "*", '"'):
        if masked.startswith(mark, start) and masked.count(mark, start, end) % 2 and start + len(mark) <= cue:
            start += len(mark)
        if masked.endswith(mark, start, end) and masked.count(mark, start, end) % 2:
            end -= len(mark)
    if masked[start:end].count("(") > masked[start:end].count(")") and masked[start] == "(" and start < cue:
        start += 1
    if masked[start:end].count(")") > masked[start:end].count("(") and masked[end - 1] == ")":
        end -= 1
    return start, end
