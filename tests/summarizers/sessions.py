"""Small sessions written for the tests, as a list of plain tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from compressor.brief import Task
from compressor.model import (
    Call,
    Fact,
    Layer,
    Message,
    Origin,
    Part,
    PartType,
    Role,
    Session,
)


def words(text: str) -> int:
    """A stand-in for the token counter."""
    return len(text) // 4 + 1


Row = tuple[Any, ...]


def session(rows: Iterable[Row]) -> Session:
    """Build a session of rows.

    Rows: ("user", text), ("system", text), ("agent", text), ("harness", text),
    ("call", tool, {argument: text}, result[, failed]).
    """
    messages: list[Message] = []
    parts: list[Part] = []
    calls: list[Call] = []

    def add(role: Role, origin: Origin, slots: list[tuple[PartType, str, str, int, str]]) -> int:
        index = len(messages)
        own = []
        for type_, text, name, call, key in slots:
            own.append(Part(len(parts), index, type_, ("x",), text, name, call, key))
            parts.append(own[-1])
        messages.append(Message(index, f"m{index}", role, origin, tuple(own), index, index + 1))
        return index

    speakers = {
        "user": (Role.USER, Origin.PERSON),
        "harness": (Role.USER, Origin.HARNESS),
        "system": (Role.SYSTEM, Origin.HARNESS),
        "agent": (Role.ASSISTANT, Origin.AGENT),
    }
    for row in rows:
        if row[0] != "call":
            role, origin = speakers[row[0]]
            add(role, origin, [(PartType.TEXT, row[1], "", -1, "")])
            continue
        _, tool, arguments, result, *failed = row
        number = len(calls)
        slots = [(PartType.TOOL_CALL, text, tool, number, key) for key, text in arguments.items()]
        called = add(Role.ASSISTANT, Origin.AGENT, slots)
        answered = add(Role.TOOL, Origin.TOOL, [(PartType.TOOL_RESULT, result, tool, number, "")])
        calls.append(Call(number, f"c{number}", tool, called, (answered,), bool(failed and failed[0])))
    return Session("test", tuple(messages), tuple(parts), tuple(calls))


def task(
    of: Session,
    *,
    budget: int = 4000,
    language: str = "en",
    staying: Iterable[int] = (),
    facts: tuple[Fact, ...] = (),
    value: Mapping[str, float] | None = None,
    focus: str = "",
    count: Callable[[str], int] = words,
) -> Task:
    """A task in which every message leaves but those that stay."""
    everything = frozenset(range(len(of.messages)))
    kept = frozenset(staying)
    layers = (Layer.NOTE,) * len(of.parts)
    return Task(of, layers, everything - kept, kept, facts, budget, language, count, focus, value or {})
