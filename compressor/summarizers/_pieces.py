"""The session as a model is shown it: message by message, cut at seams into pieces that fit.

Nothing is cut in silence: what is shortened and what is not shown is listed, part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from compressor.brief import Task
from compressor.model import VISIBLE, Message, Origin, Part, PartType

#: Characters of a part that leaves, and of one that stays and is shown for understanding only.
PART: Final = 8_000
_STAYS: Final = 800
#: A part is not shortened below this to make a session fit.
_LEAST: Final = 600
_GAP: Final = "[…]"
#: Share of a piece that the list of guaranteed passages may take, and characters of one of them.
_GUARANTEED: Final = 0.15
_PASSAGE: Final = 400
#: Tokenizers differ; this much room is left for those that count more than ours.
_SLACK: Final = 1.15
#: Tokens that a message's head line takes.
_HEAD: Final = 16


@dataclass(slots=True)
class Shown:
    """One message as it is shown; `parts` are the ids of its parts, `shortened` those that are not whole."""

    index: int
    head: str
    body: str
    tokens: int
    opens: bool
    attached: bool
    leaves: bool
    parts: list[str] = field(default_factory=list)
    shortened: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the session that fits into one request; `parts` of those that leave are in it."""

    sections: tuple[tuple[str, str], ...]
    parts: int
    shortened: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The whole session in pieces, and the parts that are in none."""

    pieces: tuple[Piece, ...]
    unseen: tuple[str, ...]


def cut(task: Task, room: int, most: int) -> Pieces:
    """Cut the session into pieces of at most `room` tokens; at most `most` of them, else the oldest are not shown.

    Seams, best first: a new request, then the end of a call with its results, then between messages.
    """
    room = int(room / _SLACK)
    facts = int(room * _GUARANTEED)
    limit = PART
    while True:
        groups = _packed(list(_shown(task, limit, room - facts)), room - facts)
        if len(groups) <= most or limit <= _LEAST:
            break
        limit //= 2
    kept = groups[-most:]
    unseen = tuple(p for group in groups[:-most] for s in group for p in s.parts) if len(groups) > most else ()
    return Pieces(tuple(_piece(task, g, facts) for g in kept), unseen)


def _piece(task: Task, group: Sequence[Shown], room: int) -> Piece:
    sections = [(s.head, s.body) for s in group]
    passages = "\n".join(_guaranteed(task, {s.index for s in group if s.leaves}, room))
    if passages:
        sections.append(("guaranteed", passages))
    return Piece(tuple(sections), sum(len(s.parts) for s in group), tuple(p for s in group for p in s.shortened))


def _guaranteed(task: Task, shown: set[int], room: int) -> Iterator[str]:
    told: set[str] = set()
    for fact in task.facts:
        if fact.part < 0 or fact.text in told or task.session.parts[fact.part].message not in shown:
            continue
        told.add(fact.text)
        line = "- " + " ".join(fact.text[:_PASSAGE].split())
        room -= task.count(line) + 1
        if room < 0:
            return
        yield line


def _shown(task: Task, limit: int, room: int) -> Iterator[Shown]:
    session = task.session
    # a summary whose originals are here is told from those
    told_anew = any(not m.live and not m.generation and not m.abandoned for m in session.messages)
    for message in session.messages:
        if message.abandoned or message.index == session.brief or (message.generation and told_anew):
            continue
        shown = _message(task, message, limit)
        if shown is None:
            continue
        while shown.tokens > room and limit > 40:
            # one message that is larger than a piece: nothing but shortening helps
            limit //= 2
            shown = _message(task, message, limit) or shown
        yield shown


def _message(task: Task, message: Message, limit: int) -> Shown | None:
    leaves = message.index in task.leaving
    if not leaves:
        limit = min(limit, _STAYS)
    texts, ids, shortened = [], [], []
    for position, part in enumerate(message.parts):
        if part.type not in VISIBLE or not part.text.strip():
            continue
        name = f"#{message.index}.{position}"
        text = _clipped(part.text, limit)
        ids.append(name)
        if len(text) < len(part.text) and leaves:
            shortened.append(name)
        texts.append(_labelled(part, text))
    if not texts:
        return None
    body = "\n".join(texts)
    role = f"#{message.index} {message.role.value}"
    if message.origin is Origin.HARNESS:
        role += " harness"
    role += "" if leaves else " stays"
    role += " shortened" if shortened else ""
    opens = message.origin is Origin.PERSON
    attached = all(p.type is PartType.TOOL_RESULT for p in message.parts if p.type in VISIBLE)
    parts = ids if leaves else []
    return Shown(message.index, role, body, task.count(body) + _HEAD, opens, attached, leaves, parts, shortened)


def _labelled(part: Part, text: str) -> str:
    if part.type is PartType.TOOL_CALL:
        return f"call {part.name} {part.key}: {text}"
    if part.type is PartType.TOOL_RESULT:
        return f"result {part.name}: {text}"
    return text


def _clipped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 3 // 5
    return f"{text[:head]}\n{_GAP}\n{text[len(text) - (limit - head) :]}"


def _packed(shown: Sequence[Shown], room: int) -> list[list[Shown]]:
    """Groups of at most `room` tokens, cut at the best seams."""
    groups: list[list[Shown]] = []
    for turn in _split(shown, lambda s: s.opens):
        if _fits(groups, turn, room):
            groups[-1] += turn
        elif _size(turn) <= room:
            groups.append(turn)
        else:
            groups += _packed_units(turn, room)
    return groups


def _packed_units(turn: Sequence[Shown], room: int) -> list[list[Shown]]:
    groups: list[list[Shown]] = []
    for unit in _split(turn, lambda s: not s.attached):
        whole = [unit] if _size(unit) <= room else [[s] for s in unit]
        for some in whole:
            if _fits(groups, some, room):
                groups[-1] += some
            else:
                groups.append(list(some))
    return groups


def _split(shown: Sequence[Shown], begins: Callable[[Shown], bool]) -> list[list[Shown]]:
    out: list[list[Shown]] = []
    for s in shown:
        if not out or begins(s):
            out.append([])
        out[-1].append(s)
    return out


def _fits(groups: Sequence[Sequence[Shown]], more: Sequence[Shown], room: int) -> bool:
    return bool(groups) and _size(groups[-1]) + _size(more) <= room


def _size(group: Sequence[Shown]) -> int:
    return sum(s.tokens for s in group)
