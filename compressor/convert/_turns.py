"""From a session to turns: who says what, and every call together with its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compressor.formats._records import get_at, loads
from compressor.model import NESTED, Call, Message, Part, PartType, PathSteps, Role, Session, Transcript
from compressor.selection import retold

Losses = Counter[str]

_ARGUMENTS: Final = ("input", "args", "arguments")


@dataclass(frozen=True, slots=True)
class Asked:
    """A call with its results: `arguments` is an object, `result` text."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    result: str
    error: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side says; only the assistant calls."""

    role: Role
    text: str
    time: str = ""
    calls: Sequence[Asked] = ()


@dataclass(slots=True)
class _State:
    transcript: Transcript
    session: Session
    losses: Losses
    used: set[str] = field(default_factory=set)
    record: int = -1
    value: Any = None

    def value_of(self, record: int) -> Any:
        if record != self.record:
            r = self.transcript.records[record]
            self.record, self.value = (
                record,
                loads(bytes(self.transcript.raw[r.start : r.end]).strip(b"\xef\xbb\xbf \r\n\t")),
            )
        return self.value


def turns(transcript: Transcript, session: Session, losses: Losses, *, live: bool) -> list[Turn]:
    """The turns of a conversation, in order; messages of one side that follow each other stay apart."""
    state = _State(transcript, session, losses)
    hidden = retold(session) if not live else frozenset()
    by_message: dict[int, list[Call]] = {}
    for call in session.calls:
        by_message.setdefault(call.message, []).append(call)
    found: list[Turn] = []
    for m in session.messages:
        if reason := _left_out(m, hidden, live=live):
            losses[reason] += 1
            continue
        calls, lonely = _calls(state, by_message.get(m.index, ()), by_assistant=m.role is Role.ASSISTANT)
        text = "\n\n".join([*_texts(state, m), *lonely])
        if text or calls:
            found.append(Turn(Role.USER if m.role is Role.TOOL else m.role, text, m.time, calls))
    return found


def _left_out(m: Message, hidden: frozenset[int], *, live: bool) -> str:
    if m.abandoned:
        return "messages of abandoned branches"
    if m.sidechain:
        return "inner steps of sub-agents"
    if m.index in hidden:
        return "summaries whose originals are told"
    return "messages that the tool does not send any more" if live and not m.live else ""


def _texts(state: _State, m: Message) -> Iterator[str]:
    """What the message says in words; results go with their calls, unless they have none."""
    for part in m.parts:
        call = state.session.calls[part.call] if part.call >= 0 else None
        if part.type is PartType.TEXT and part.text:
            yield part.text
        elif part.type is PartType.THINKING and part.text:
            state.losses["reasoning"] += 1
        elif part.type is PartType.OTHER and part.text:
            state.losses["texts that the model does not read"] += 1
        elif part.type is PartType.IMAGE:
            state.losses["pictures (a description stays)"] += 1
            if call is None or call.message < 0:
                yield f"[{part.text}]"
        elif part.type is PartType.TOOL_RESULT and part.text and (call is None or call.message < 0):
            state.losses["results without their call (told as text)"] += 1
            yield f"[result of a call that is not here]\n{part.text}"
        elif part.type is PartType.TOOL_CALL and part.call < 0 and part.text:
            yield part.text


def _calls(state: _State, calls: Sequence[Call], *, by_assistant: bool) -> tuple[list[Asked], list[str]]:
    """The calls of a message that have results, and those without as text: endpoints refuse them."""
    asked: list[Asked] = []
    lonely: list[str] = []
    for call in calls:
        arguments = _arguments(state, call)
        if not call.results:
            state.losses["calls without a result (told as text)"] += 1
            lonely.append(f"[called {call.name} with {arguments}; no result]")
            continue
        if not by_assistant:
            state.losses["calls of the user's side (told as text)"] += 1
            lonely.append(f"[called {call.name} with {arguments}]\n{_result(state, call)}")
            continue
        if call.error:
            state.losses["marks of failed results"] += 1
        asked.append(Asked(_free_id(state, call), call.name or "tool", arguments, _result(state, call), call.error))
    return asked, lonely


def _free_id(state: _State, call: Call) -> str:
    """The call's own id, as far as endpoints take it; a new one where it is missing or used before."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in call.id)[:60]
    if not name or name in state.used:
        state.losses["ids of calls (used twice or missing)"] += bool(name)
        name = f"call_{len(state.used) + 1}_{call.index}"
    elif name != call.id:
        state.losses["ids of calls (characters that endpoints refuse)"] += 1
    state.used.add(name)
    return name


def _result(state: _State, call: Call) -> str:
    parts: list[Part] = [
        p
        for i in call.results
        for p in state.session.messages[i].parts
        if p.call == call.index and p.type is not PartType.TOOL_CALL
    ]
    texts = [p.text if p.type is PartType.TOOL_RESULT else f"[{p.text}]" for p in parts if p.text]
    return "\n".join(texts)


def _arguments(state: _State, call: Call) -> Mapping[str, Any]:
    """The arguments as an object, from the record itself: the model holds only their strings."""
    message = state.session.messages[call.message]
    parts = [p for p in message.parts if p.call == call.index and p.type is PartType.TOOL_CALL]
    found = _named(state.value_of(message.record), call.id) if call.id else None
    if found is None and parts:
        prefix = _prefix(parts[0])
        found = get_at(state.value_of(message.record), prefix) if prefix is not None else None
    if isinstance(found, str):
        found = _object(found)
    if isinstance(found, dict):
        return found
    if parts:
        return {p.key or "input": p.text for p in parts}
    return {} if found is None else {"input": found}


def _named(value: Any, id_: str) -> Any:
    """The arguments of the call with this id, somewhere in a record."""
    stack = [value]
    while stack:
        v = stack.pop()
        if isinstance(v, dict):
            if any(v.get(k) == id_ for k in ("id", "call_id", "callID", "toolCallId", "tool_call_id", "callId")):
                function = v.get("function")
                holder = function if isinstance(function, dict) else v
                for key in _ARGUMENTS:
                    if key in holder:
                        return holder[key]
            stack += v.values()
        elif isinstance(v, list):
            stack += v
    return None


def _prefix(part: Part) -> PathSteps | None:
    """The path of the arguments that a string of them belongs to."""
    for n in range(1, len(part.path) + 1):
        if ".".join(map(str, part.path[-n:])) == part.key:
            rest = part.path[:-n]
            return rest[:-1] if rest and rest[-1] == NESTED else rest
    return part.path if not part.key else None


def _object(text: str) -> Any:
    try:
        value = loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return {"input": text}
    return value if isinstance(value, dict) else {"input": value}
