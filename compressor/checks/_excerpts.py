"""Lines of a new text that are cited slices of the original: put together by code, and proven by doing it again.

`- Bash: pytest -q […] 3 passed [#12]` is no claim if message 12, with the results of its calls, has all of it, in
this order. Nobody is believed: a line of which one word is another is a claim like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from compressor.checks._terms import squeeze
from compressor.checks._wording import stands
from compressor.model import Part, PartType, Session
from compressor.placeholder import GAP

_LINE: Final = re.compile(r"^- (?P<body>.+) \[#(?P<source>\d{1,9})\]$", re.MULTILINE)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WORD: Final = re.compile(r"\w")
_BETWEEN: Final = f" {GAP} "
_Slot = tuple[Part, str]


def excerpts(text: str, original: Session) -> list[tuple[int, int]]:
    """Where the text has lines that can be worked out from the messages that they cite."""
    if _BETWEEN not in text and "]" not in text:
        return []
    return [m.span() for m in _LINE.finditer(text) if _recomputes(m["body"], int(m["source"]), original)]


def _recomputes(body: str, source: int, original: Session) -> bool:
    if source >= len(original.messages):
        return False
    slots = [(p, _line(p.text)) for p in _unit(source, original) if p.text]
    return any(_in_order(rest.split(_BETWEEN), slots) for rest in _without_label(_line(body), slots))


def _line(text: str) -> str:
    """A text as it stands in a list: no control bytes, no open code span, one space between words."""
    return squeeze(_CONTROL.sub(" ", text).replace("`", ""))


def _unit(source: int, original: Session) -> Iterator[Part]:
    """The parts of a message, and of the results of its calls, in order."""
    group = original.messages[source].group
    near = original.messages[source : source + _MEMBERS]
    members = {source, *(m.index for m in near if group and m.group == group)}
    calls = {p.call for i in members for p in original.messages[i].parts if p.call >= 0}
    for index in sorted(members.union(*(original.calls[c].results for c in calls))):
        yield from original.messages[index].parts


#: The messages of one group stand close together.
_MEMBERS: Final = 64


def _without_label(body: str, slots: list[_Slot]) -> Iterator[str]:
    """The body, and the body behind `Tool: ` or `Tool argument: `, where the tool and the argument are this call's."""
    yield body
    for name in {p.name for p, _ in slots if p.name}:
        if body.startswith(f"{name}: "):
            yield body[len(name) + 2 :]
        for part, text in slots:
            if part.type is PartType.TOOL_CALL and body.startswith(f"{name} {text}: "):
                yield body[len(name) + len(text) + 3 :]


def _in_order(pieces: list[str], slots: list[_Slot]) -> bool:
    """Whether the pieces stand in the slots, in their order."""
    at, slot = 0, 0
    for piece in pieces:
        found = -1
        while piece and slot < len(slots) and (found := _find(piece, slots[slot], at)) < 0:
            at, slot = 0, slot + 1
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _find(piece: str, slot: _Slot, start: int) -> int:
    """Where a piece stands whole: no word is cut; of what somebody said, no clause is."""
    part, text = slot
    if part.type is PartType.TEXT and not stands(piece, text):
        return -1
    at = text.find(piece, start)
    while at >= 0:
        end = at + len(piece)
        if not _joined(text[at - 1 : at], piece[0]) and not _joined(piece[-1], text[end : end + 1]):
            return at
        at = text.find(piece, at + 1)
    return -1


def _joined(left: str, right: str) -> bool:
    return bool(left and right and _WORD.match(left) and _WORD.match(right))
