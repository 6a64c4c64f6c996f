"""Build a session message by message: running ordinals, and calls paired with results.

A builder is fed in file order. Ids may be re-used, so a result belongs to the latest call of its id that
still waits for one; a further result of an answered call is added to that call.

    build = Builder()
    build.start(record=3, line=4, role=Role.ASSISTANT, origin=Origin.AGENT, id="msg_1")
    build.text(("content", 0, "text"), "I look first.")
    build.call("toolu_1", "Bash")
    build.argument(("content", 1, "input", "command"), "command", "ls")
    build.start(record=4, line=5, role=Role.TOOL, origin=Origin.TOOL)
    build.result("toolu_1")
    build.output(("content", 0, "content"), "a.py")
    session = build.session("the session's id")
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compressor.model import (
    Call,
    Finding,
    Level,
    Mark,
    Message,
    Origin,
    Part,
    PartType,
    PathSteps,
    Place,
    Role,
    Session,
)


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    message: int
    results: list[int] = field(default_factory=list)
    error: bool = False
    frame: str = ""
    parts: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Part:
    type: PartType
    path: PathSteps
    text: str
    call: int = -1
    key: str = ""
    name: str = ""


@dataclass(slots=True)
class _Message:
    fields: dict[str, Any]
    parts: list[_Part] = field(default_factory=list)


class Builder:
    """Collects the messages of one session; see the module's docstring for its use."""

    def __init__(self) -> None:
        self._messages: list[_Message] = []
        self._calls: list[_Call] = []
        self._waiting: defaultdict[str, list[int]] = defaultdict(list)
        self._answered: dict[str, int] = {}
        self._current = -1

    def __len__(self) -> int:
        return len(self._messages)

    def start(self, *, record: int, line: int, role: Role, origin: Origin, id: str = "", **flags: Any) -> int:
        """Begin the next message; `flags` are further fields of `Message`. Returns its index."""
        index = len(self._messages)
        name = id or f"#{index}"
        fields = {"record": record, "line": line, "role": role, "origin": origin, "id": name, "group": name, **flags}
        self._messages.append(_Message(fields))
        self._current = -1
        return index

    def change(self, index: int, **flags: Any) -> None:
        """Change fields of a message that has been begun."""
        self._messages[index].fields.update(flags)

    def content(self, index: int) -> tuple[object, ...]:
        """What a message says, whatever its place: for finding the same message again."""
        m = self._messages[index]
        calls = self._calls
        said = ((p.type, p.key, p.text, calls[p.call].id if p.call >= 0 else "") for p in m.parts)
        return (m.fields["role"], *said)

    def same(self, first: Sequence[int], second: Sequence[int]) -> bool:
        """Whether two runs of messages have the same parts."""
        return [self._messages[i].parts for i in first] == [self._messages[i].parts for i in second]

    def text(self, path: PathSteps, text: str) -> None:
        """A text that the model reads."""
        self._add(_Part(PartType.TEXT, path, text))

    def thinking(self, path: PathSteps, text: str) -> None:
        """Reasoning, which later requests do not show the model as text."""
        self._add(_Part(PartType.THINKING, path, text))

    def image(self, path: PathSteps, description: str) -> None:
        """A picture or other embedded file; `path` leads to its block. Inside a result it belongs to the call."""
        self._add(_Part(PartType.IMAGE, path, description, self._current))

    def other(self, path: PathSteps, text: str) -> None:
        """A string that the model does not read."""
        self._add(_Part(PartType.OTHER, path, text))

    def call(self, id: str, name: str) -> int:
        """A tool call in the current message; its string arguments follow. Returns the call's index."""
        self._current = len(self._calls)
        self._calls.append(_Call(id, name, len(self._messages) - 1))
        self._waiting[id].append(self._current)
        return self._current

    def frame(self, text: str) -> None:
        """What the latest call's JSON text holds besides its strings."""
        self._calls[self._current].frame = text

    def argument(self, path: PathSteps, key: str, text: str, *, name: str = "") -> None:
        """One string argument of the latest call; `key` is its dotted name, `name` that of a tool without calls."""
        self._add(_Part(PartType.TOOL_CALL, path, text, self._current, key, name))

    def result(self, id: str, *, name: str = "", error: bool = False) -> int:
        """A result in the current message; its texts follow. Returns the index of the call it belongs to."""
        message = len(self._messages) - 1
        waiting = self._waiting.get(id)
        if waiting:
            found = waiting.pop()
        elif id in self._answered:
            found = self._answered[id]
        else:
            found = len(self._calls)
            self._calls.append(_Call(id, name, -1))
        self._answered[id] = found
        call = self._calls[found]
        if message not in call.results:
            call.results.append(message)
        call.error = call.error or error
        self._current = found
        return found

    def output(self, path: PathSteps, text: str) -> None:
        """One text of the latest result."""
        self._add(_Part(PartType.TOOL_RESULT, path, text, self._current))

    def _add(self, part: _Part) -> None:
        self._messages[-1].parts.append(part)

    def build(self) -> tuple[tuple[Message, ...], tuple[Part, ...], tuple[Call, ...]]:
        """All that was collected."""
        messages: list[Message] = []
        parts: list[Part] = []
        names = [c.name for c in self._calls]
        for index, m in enumerate(self._messages):
            first = len(parts)
            for p in m.parts:
                name = names[p.call] if p.call >= 0 else p.name
                parts.append(Part(len(parts), index, p.type, p.path, p.text, name, p.call, p.key))
            messages.append(Message(index=index, parts=tuple(parts[first:]), **m.fields))
        calls = tuple(
            Call(i, c.id, c.name, c.message, tuple(c.results), c.error, c.frame) for i, c in enumerate(self._calls)
        )
        return tuple(messages), tuple(parts), calls

    def session(
        self, id: str, *, brief: int = -1, mark: Mark | None = None, meta: Mapping[str, Any] | None = None
    ) -> Session:
        """The finished session."""
        messages, parts, calls = self.build()
        return Session(id, messages, parts, calls, brief, mark, meta or {})


def place(path: str, message: Message | None) -> Place:
    """Where a finding about a message is."""
    return Place(path) if message is None else Place(path, message.line, message.id)


def check_pairs(session: Session, path: str, *, adjacent: bool = False, unique: bool = True) -> Iterator[Finding]:
    """The integrity rules that hold for calls and results in every format.

    E02: a call has a result, a result has its call. E03 (only if `adjacent`): nothing stands between a call's
    message and its results but results of the same message's calls. E04 (only if `unique`): a call id is used once.
    The wording holds no position, so that findings of an original and of its compaction compare equal.
    """
    seen: set[str] = set()
    for call in session.calls:
        if call.message < 0:
            at = place(path, session.messages[call.results[0]])
            yield Finding("E02", Level.ERROR, "tool result without its call", call.id, at)
            continue
        at = place(path, session.messages[call.message])
        if not call.results:
            yield Finding("E02", Level.ERROR, f'call of tool "{call.name}" without a result', call.id, at)
        for again in call.results[1:]:
            at_again = place(path, session.messages[again])
            yield Finding("E04", Level.WARNING, "call has a further result", call.id, at_again)
        if unique and call.id and call.id in seen:
            yield Finding("E04", Level.WARNING, "tool call id is used twice", call.id, at)
        seen.add(call.id)
    if adjacent:
        yield from _check_adjacent(session, path)


def _check_adjacent(session: Session, path: str) -> Iterator[Finding]:
    for call in session.calls:
        if call.message < 0 or not call.results:
            continue
        own = session.messages[call.message].group
        between = session.messages[call.message + 1 : max(call.results)]
        if any(m.role is not Role.TOOL and m.group != own for m in between):
            at = place(path, session.messages[call.message])
            yield Finding("E03", Level.ERROR, f'result of tool "{call.name}" does not follow its call', call.id, at)
