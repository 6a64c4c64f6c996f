"""ShareGPT and LLaMA-Factory rows: `conversations` of `from` and `value`, in an array or one row a line.

Trainers want the two sides in turn (human and observation; gpt and function_call). Where the input keeps to that,
the output does: the brief speaks for the side whose turn it is, or as the system if no turn is missing and there
is no system yet; a turn that is missing elsewhere is put back with an empty text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from compressor.formats import _document
from compressor.formats._layout import Editor
from compressor.formats._lists import Item, Where
from compressor.formats._messages import (
    State,
    arguments,
    check_lists,
    finder,
    holds_media,
    like,
    name_of,
    origin_of,
    parsed_object,
    read_lists,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source, get_at, loads
from compressor.model import (
    NESTED,
    Compaction,
    Finding,
    Level,
    Message,
    Origin,
    PathSteps,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE = "ShareGPT and LLaMA-Factory rows"
ORDER = 58
APPENDS = False

_SPEAKERS: Final = {
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bing": Role.ASSISTANT,
    "bard": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "function_call": Role.ASSISTANT,
    "observation": Role.TOOL,
    "tool": Role.TOOL,
    "function_response": Role.TOOL,
}
#: The sides that take turns.
_ASKS: Final = frozenset({Role.USER, Role.TOOL})


def is_turn(value: Any) -> bool:
    """A turn of a conversation."""
    return isinstance(value, dict) and word(value, "from") in _SPEAKERS and isinstance(value.get("value"), str)


_rows = finder(is_turn, (("conversations",), ("conversation",)))


def find(value: Any) -> Iterator[Where]:
    """The conversations of a record's value, each with the system prompt beside it; single turns are no rows."""
    for where in _rows(value):
        if where.path is None or where.path == ():
            continue
        system: PathSteps = (*where.path[:-1], "system")
        holder = get_at(value, where.path[:-1])
        beside = isinstance(holder.get("system"), str) and bool(holder["system"])
        yield replace(where, before=(system,) if beside else ())


def sniff(head: Head) -> bool:
    """Rows with turns of `from` and `value`."""
    values = (head.document,) if head.document is not None else head.rows
    return any(True for value in values for _ in find(value))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "sharegpt", find, turn)


def turn(build: Builder, item: Item, state: State) -> None:
    """Put one turn, or the system prompt, into the builder."""
    value, at = item.value, item.path
    if at[-1:] == ("system",):
        build.start(record=item.record, line=item.line, role=Role.SYSTEM, origin=Origin.HARNESS)
        build.text(at, value)
        return
    if not is_turn(value):
        return
    speaker, text = value["from"], value["value"]
    role = _SPEAKERS[speaker]
    names = state.notes.setdefault("names", {})
    if speaker not in ("function_call", "observation"):
        names.setdefault(role, speaker)
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=origin_of(role, text),
        pinned=value.get("pinned") is True or holds_media(state, text),
    )
    path = (*at, "value")
    if speaker == "function_call":
        _call(build, path, text, state)
    elif role is Role.TOOL:
        build.result(state.answered(None, name_of(value.get("name"))))
        build.output(path, text)
    else:
        build.text(path, text)


def _call(build: Builder, path: PathSteps, text: str, state: State) -> None:
    """A call, or several at once that one observation answers: JSON text with names and arguments."""
    calls = parsed_object(text)
    found = [c for c in (calls if isinstance(calls, list) else [calls]) if isinstance(c, dict) and "name" in c]
    state.called("")
    build.call("", ", ".join(str(c["name"]) for c in found))
    if not found:
        build.argument(path, "", text)
    for i, call in enumerate(found):
        inner = (*path, NESTED, *((i,) if isinstance(calls, list) else ()))
        arguments(build, (*inner, "arguments"), call.get("arguments"))


@dataclass(frozen=True, slots=True)
class _Turns:
    """Where the brief stands, for whom it speaks, and which empty turns keep the two sides in turn."""

    at: int
    role: Role
    empty: tuple[tuple[int, Role], ...] = ()


def _turns(session: Session, change: Compaction) -> _Turns:
    position = _document.seam(session, change)
    broken = {m.index for m in _breaks(session.messages)}
    empty: list[tuple[int, Role]] = []
    brief: Role | None = None
    asks = True
    stay = [m for m in session.messages if m.index not in change.dropped]
    kept = [m for m in stay if m.role is not Role.SYSTEM]
    ends = [(m.index, m.role in _ASKS) for m in kept] + [(len(session.messages), True)]
    placed = False
    for index, next_asks in ends:
        here = not placed and index >= position
        if here and next_asks != asks:
            brief = Role.USER if asks else Role.ASSISTANT
        elif next_asks != asks and index < len(session.messages) and index not in broken:
            empty.append((index, Role.USER if asks else Role.ASSISTANT))
        placed = placed or here
        asks = not next_asks
    if brief is not None:
        return _Turns(position, brief, tuple(empty))
    if len(kept) == len(stay):
        return _Turns(0, Role.SYSTEM, tuple(empty))
    after = next((m.role in _ASKS for m in kept if m.index >= position), True)
    sides = (Role.USER, Role.ASSISTANT) if after else (Role.ASSISTANT, Role.USER)
    return _Turns(position, sides[0], (*empty, (position, sides[1])))


def _breaks(messages: tuple[Message, ...]) -> Iterator[Message]:
    """The messages that speak out of turn."""
    asks = True
    for m in messages:
        if m.role is Role.SYSTEM:
            continue
        if (m.role in _ASKS) is not asks:
            yield m
        asks = m.role not in _ASKS


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    plans = {i: _turns(transcript.sessions[i], c) for i, c in changes.items()}
    placed = {i: replace(c, brief_at=plans[i].at) for i, c in changes.items()}
    by_session = {id(transcript.sessions[i]): plan for i, plan in plans.items()}

    def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
        return _turn(session, by_session[id(session)].role, text, near)

    def put_empty(session: Session, change: Compaction, editor: Callable[[int], Editor]) -> None:
        places = session.meta["at"]
        path: PathSteps = session.meta["list"]
        record = editor(session.messages[0].record)
        for index, role in by_session[id(session)].empty:
            later = next((int(p[-1]) for p in places[index:] if p[:-1] == path), len(record.children(path)))
            near = loads(record.source((*path, 0)).encode("utf-8", "surrogatepass"))
            record.insert(path, later, _turn(session, role, "", near))

    return _document.write(transcript, placed, note, more=put_empty)


def _turn(session: Session, role: Role, text: str, near: Any) -> Any:
    usual = {Role.USER: "human", Role.ASSISTANT: "gpt", Role.SYSTEM: "system"}
    return like(near, {"from": session.meta["names"].get(role, usual[role]), "value": text})


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E03, E10, E13 (the two sides in turn)."""
    yield from check_lists(transcript, unique=False)
    for session in transcript.sessions:
        for m in _breaks(session.messages):
            yield Finding("E13", Level.WARNING, "speaks out of turn", at=place(transcript.path, m))


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
