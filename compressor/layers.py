"""Which parts may be edited at all: head, tail, requests, conclusions and pinned parts may not.

Everything here is decided from the session alone, before any rule proposes anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from compressor.model import VISIBLE, Layer, Message, Origin, Part, PartType, Role, Session

#: A request longer than this (characters) is prose plus pastes: its pastes count as tool output.
LONG_REQUEST: Final = 2_000

_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_LOGGED: Final = re.compile(
    r"""^\s*(?:
        \d{4}-\d\d-\d\d[T ]\d | \[?\d\d:\d\d:\d\d | (?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b
      | at\s[\w.$<>]+\( | File\s".{1,200}",\sline\s\d | Traceback\s\( | \s*\d+[:|→]\s | [+\-@]{1,3}\s?[\w@{}\[\]"'(] | [$>%]\s
      | [{}\[\]"'<].*[,{}\[\];>]\s*$ | .*[;{}]\s*$ | [|+][-+| ] | (?:import|from|def|class|func|package|const|let|var|return)\b.*
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Layers:
    """What is untouchable in a session.

    Attributes:
        layer: layer of each part, by ordinal.
        turn: number of the request that each message belongs to, by index (0 before and at the first).
        head: indexes of the head's messages.
        tail: indexes of the tail's messages.
        pasted: for a long request, the stretches of its part that count as tool output, by ordinal.
        units: for each message the number of its unit: messages that live or die together.
        members: message indexes of each unit.
    """

    layer: Sequence[Layer]
    turn: Sequence[int]
    head: frozenset[int]
    tail: frozenset[int]
    pasted: dict[int, tuple[tuple[int, int], ...]]
    units: Sequence[int]
    members: Sequence[tuple[int, ...]]


def assign(
    session: Session, counts: Sequence[int], *, tail_calls: int, tail_room: int, pinned: frozenset[int]
) -> Layers:
    """Assign layers.

    Args:
        counts: tokens by part ordinal.
        tail_calls: how many of the newest tool calls belong to the tail.
        tail_room: most tokens that the tail may take.
        pinned: ordinals pinned by `keep` rules or by the user.
    """
    units, members = _units(session)
    head = frozenset(_head(session))
    tail = frozenset(_tail(session, counts, units, members, tail_calls, tail_room))
    conclusions = _conclusions(session)
    pasted: dict[int, tuple[tuple[int, int], ...]] = {}
    layer = [Layer.NOTE] * len(session.parts)
    for m in session.messages:
        for p in m.parts:
            layer[p.ordinal] = _layer(m, p, pinned, conclusions)
            if layer[p.ordinal] is Layer.PINNED and p.ordinal not in pinned and _is_request(m, p):
                spans = pastes(p.text)
                if spans:
                    pasted[p.ordinal] = spans
    return Layers(layer, _turns(session), head, tail, pasted, units, members)


def _is_request(message: Message, part: Part) -> bool:
    return message.origin is Origin.PERSON and part.type is PartType.TEXT and not message.pinned


def _layer(message: Message, part: Part, pinned: frozenset[int], conclusions: frozenset[int]) -> Layer:
    if message.generation > 0:
        return Layer.SUMMARY
    if part.ordinal in pinned or message.pinned or (message.role is Role.SYSTEM and not message.regainable):
        return Layer.PINNED
    if part.type in (PartType.TOOL_RESULT, PartType.IMAGE) or message.origin is Origin.TOOL:
        return Layer.TOOL_RESULT
    if message.abandoned:
        return Layer.NOTE
    if _is_request(message, part):
        return Layer.PINNED
    if part.ordinal in conclusions:
        return Layer.CONCLUSION
    return Layer.NOTE


def _turns(session: Session) -> list[int]:
    turns, now, first = [], 0, True
    for m in session.messages:
        if m.origin is Origin.PERSON and m.role is Role.USER and not m.abandoned:
            now += not first
            first = False
        turns.append(now)
    return turns


def _head(session: Session) -> Iterator[int]:
    """System messages wherever they stand, and all that stands before and at the first request."""
    first = next((m.index for m in session.messages if m.origin is Origin.PERSON and not m.abandoned), -1)
    for m in session.messages:
        if m.role is Role.SYSTEM or (m.index <= first and m.role is Role.USER and not m.abandoned):
            yield m.index


def _conclusions(session: Session) -> frozenset[int]:
    """Ordinals of the last assistant text before each request and before the end."""
    found: set[int] = set()
    last: list[int] = []
    for m in session.messages:
        if m.abandoned or m.sidechain:
            continue
        if m.origin is Origin.PERSON:
            found.update(last)
            last = []
        elif m.role is Role.ASSISTANT:
            texts = [p.ordinal for p in m.parts if p.type is PartType.TEXT and p.text.strip()]
            last = texts or last
    found.update(last)
    return frozenset(found)


def _units(session: Session) -> tuple[list[int], list[tuple[int, ...]]]:
    """Messages of one API message, and calls with their results, live or die together (union-find)."""
    parent = list(range(len(session.messages)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    def join(a: int, b: int) -> None:
        a, b = find(a), find(b)
        parent[max(a, b)] = min(a, b)

    groups: dict[str, int] = {}
    for m in session.messages:
        if m.group:
            join(m.index, groups.setdefault(m.group, m.index))
    for call in session.calls:
        for result in call.results:
            if call.message >= 0:
                join(call.message, result)
    number: dict[int, int] = {}
    units = [number.setdefault(find(i), len(number)) for i in range(len(parent))]
    members: list[list[int]] = [[] for _ in number]
    for i, u in enumerate(units):
        members[u].append(i)
    return units, [tuple(m) for m in members]


def _tail(
    session: Session,
    counts: Sequence[int],
    units: Sequence[int],
    members: Sequence[tuple[int, ...]],
    most_calls: int,
    room: int,
) -> Iterator[int]:
    """The newest calls with their results and the text among them, whole units, as far as there is room."""
    calls_of: dict[int, int] = {}
    for call in session.calls:
        if call.message >= 0:
            calls_of[units[call.message]] = calls_of.get(units[call.message], 0) + 1
    calls = used = 0
    done: set[int] = set()
    for m in reversed(session.messages):
        unit = units[m.index]
        if unit in done or m.abandoned or m.generation:
            continue
        calls += calls_of.get(unit, 0)
        used += sum(counts[p.ordinal] for i in members[unit] for p in session.messages[i].parts if p.type in VISIBLE)
        if calls > most_calls or used > room:
            return
        done.add(unit)
        yield from members[unit]


def pastes(text: str) -> tuple[tuple[int, int], ...]:
    """The fenced, logged and repeated stretches of a long request; () for a short one.

    Whole lines only; a stretch of prose between two pastes stays prose.
    """
    if len(text) <= LONG_REQUEST:
        return ()
    spans: list[tuple[int, int]] = []
    seen: set[str] = set()
    fenced = False
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        fence = _FENCE.match(line) is not None
        bare = line.strip()
        if (
            fenced
            or fence
            or _LOGGED.match(line[:400])
            or len(line) > LONG_REQUEST
            or (len(bare) > 20 and bare in seen)
        ):
            if spans and spans[-1][1] >= start - 1:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        fenced ^= fence
        seen.add(bare)
        start = end + 1
    return tuple(spans)
