"""Little sessions for the tests of the guard kinds."""

from __future__ import annotations

from compressor import plugins
from compressor.model import Call, Message, Origin, Part, PartType, Role, Session, View

PERSON = (Role.USER, Origin.PERSON)
HARNESS = (Role.USER, Origin.HARNESS)
SYSTEM = (Role.SYSTEM, Origin.HARNESS)
AGENT = (Role.ASSISTANT, Origin.AGENT)


def said(*texts: tuple[tuple[Role, Origin], str], pinned: bool = False) -> View:
    """A session of plain texts, in order; each is a turn of its own."""
    messages, parts = [], []
    for index, ((role, origin), text) in enumerate(texts):
        part = Part(index, index, PartType.TEXT, (), text)
        parts.append(part)
        messages.append(Message(index, f"#{index}", role, origin, (part,), index, index + 1, pinned=pinned))
    return View(Session("s", tuple(messages), tuple(parts)), parts, (), list(range(len(parts))))


def ran(*runs: tuple[str, str, bool]) -> View:
    """A session of command runs: command, result, whether the tool called it an error."""
    messages, parts, calls = [], [], []
    for n, (command, result, error) in enumerate(runs):
        call = Part(len(parts), 2 * n, PartType.TOOL_CALL, (), command, "Bash", n, "command")
        answer = Part(len(parts) + 1, 2 * n + 1, PartType.TOOL_RESULT, (), result, "Bash", n)
        parts += [call, answer]
        messages.append(Message(2 * n, f"#{2 * n}", Role.ASSISTANT, Origin.AGENT, (call,), 2 * n, 1))
        messages.append(Message(2 * n + 1, f"#{2 * n + 1}", Role.TOOL, Origin.TOOL, (answer,), 2 * n + 1, 1))
        calls.append(Call(n, f"c{n}", "Bash", 2 * n, (2 * n + 1,), error))
    session = Session("s", tuple(messages), tuple(parts), tuple(calls))
    return View(session, [p for p in parts if p.type is PartType.TOOL_RESULT])


def found(kind: str, view: View, **options: object) -> list[tuple[str, str]]:
    """Texts and labels of what a kind finds; every match lies in its part, in order."""
    matches = list(plugins.load("kinds", kind).find(view, options))
    assert all(0 <= m.start < m.end <= len(view.session.parts[m.part].text) for m in matches)
    assert [m.part for m in matches] == sorted(m.part for m in matches)
    return [(view.session.parts[m.part].text[m.start : m.end], m.label) for m in matches]
