"""OpenTelemetry traces with GenAI messages (OTLP-JSON, one document or one export a line).

A call of a model carries its whole prompt: `gen_ai.system_instructions`, `gen_ai.input.messages` and
`gen_ai.output.messages`, each JSON text in an attribute of a span, of an event of a span, or of a log record. Calls
of one conversation (`gen_ai.conversation.id`, else one trace with the same first message) repeat each other. The
session is the call with the longest input; what the other calls repeat of it changes with it, and of a message that
leaves an earlier answer keeps a `[…]`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from compressor.formats import _document
from compressor.formats._lists import Item, Lines, Thread, Where, load
from compressor.formats._messages import (
    State,
    arguments,
    check_lists,
    describe,
    name_of,
    origin_of,
    parsed_object,
    session,
    texts,
    word,
)
from compressor.formats._pairs import Builder
from compressor.formats._records import Head, Source, leaves
from compressor.model import (
    NESTED,
    Compaction,
    Finding,
    Level,
    Part,
    PathSteps,
    Place,
    Record,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE = "OpenTelemetry GenAI traces (OTLP-JSON)"
ORDER = 56
APPENDS = False

_SYSTEM: Final = "gen_ai.system_instructions"
_INPUT: Final = "gen_ai.input.messages"
_OUTPUT: Final = "gen_ai.output.messages"
_CONVERSATION: Final = "gen_ai.conversation.id"
_ROLES: Final = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}
#: Where OTLP keeps its spans and logs: lists below each other, by key.
_NESTS: Final = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))


@dataclass(slots=True)
class _Call:
    """One call of a model: where its messages stand (path to the list), and what they are."""

    record: Record
    conversation: str
    lists: dict[str, tuple[PathSteps, list[Any]]]

    def length(self) -> int:
        return len(self.lists.get(_INPUT, ((), []))[1])


@dataclass(slots=True)
class _Conversation:
    id: str
    calls: list[_Call] = field(default_factory=list)

    def main(self) -> _Call:
        """The call with the longest input, of several the latest."""
        return max(reversed(self.calls), key=_Call.length)


def _carriers(value: Any) -> Iterator[tuple[PathSteps, str, list[Any]]]:
    """The attribute lists of spans, of their events and of log records, with the trace they belong to."""
    for outer, middle, inner in _NESTS:
        for i, resource in enumerate(_list(value, outer)):
            for j, scope in enumerate(_list(resource, middle)):
                for k, span in enumerate(_list(scope, inner)):
                    path: PathSteps = (outer, i, middle, j, inner, k)
                    trace = name_of(span.get("traceId")) if isinstance(span, dict) else ""
                    yield (*path, "attributes"), trace, _list(span, "attributes")
                    for n, event in enumerate(_list(span, "events")):
                        yield (*path, "events", n, "attributes"), trace, _list(event, "attributes")


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _calls(record: Record, value: Any) -> Iterator[_Call]:
    """The calls of models in a record."""
    for path, trace, attributes in _carriers(value):
        lists: dict[str, tuple[PathSteps, list[Any]]] = {}
        conversation = ""
        for n, attribute in enumerate(attributes):
            key = attribute.get("key") if isinstance(attribute, dict) else None
            held = attribute.get("value") if isinstance(attribute, dict) else None
            text = held.get("stringValue") if isinstance(held, dict) else None
            if key == _CONVERSATION:
                conversation = name_of(text)
            elif key in (_SYSTEM, _INPUT, _OUTPUT) and isinstance(found := parsed_object(text), list):
                lists[key] = ((*path, n, "value", "stringValue", NESTED), found)
        if any(is_message(m) for key in (_INPUT, _OUTPUT) for m in lists.get(key, ((), []))[1]):
            first = next(iter(lists.get(_INPUT, ((), []))[1]), None)
            yield _Call(record, conversation or f"{trace}\n{_same(first)}", lists)


def is_message(value: Any) -> bool:
    """A message of a call."""
    return isinstance(value, dict) and word(value, "role") in _ROLES and isinstance(value.get("parts"), list)


def _same(value: Any) -> str:
    """What two tellings of one message have in common."""
    kept = {k: value.get(k) for k in ("role", "parts", "name")} if isinstance(value, dict) else value
    try:
        return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # numbers that JSON does not have, broken characters
        return repr(kept)


def sniff(head: Head) -> bool:
    """Exports in which a span or log record carries messages."""
    values = (head.document,) if head.document is not None else head.rows
    here = Record(0, 1, 0, 0, "")
    return any(True for value in values for _ in _calls(here, value))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    file = load(source)
    found: dict[str, _Conversation] = {}
    for record, value in zip(file.records, file.values, strict=True):
        for call in _calls(record, value):
            key = call.conversation
            found.setdefault(key, _Conversation(key if "\n" not in key else key.partition("\n")[0])).calls.append(call)
    lines: dict[int, Lines] = {}
    sessions = []
    for conversation in found.values():
        thread = _thread(source.raw, conversation, lines)
        sessions.append(session(thread, message, _repeated))
    return Transcript(
        source.path, "otel", source.raw, file.records, tuple(s for s in sessions if s.messages), file.dirt
    )


def _thread(raw: Any, conversation: _Conversation, lines: dict[int, Lines]) -> Thread:
    call = conversation.main()
    record = call.record
    if record.index not in lines:
        lines[record.index] = Lines(raw, record)
    items = []
    if _SYSTEM in call.lists:
        path, parts = call.lists[_SYSTEM]
        items.append(Item({"role": "system", "parts": parts}, record.index, path, lines[record.index].of(path)))
    for path, messages in _both(call):
        items += [Item(m, record.index, (*path, i), lines[record.index].of(path)) for i, m in enumerate(messages)]
    where = next(path for path, _ in _both(call))
    return Thread(Where(where, conversation.id), tuple(items), conversation)


def _both(call: _Call) -> Iterable[tuple[PathSteps, list[Any]]]:
    return [call.lists[key] for key in (_INPUT, _OUTPUT) if key in call.lists]


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder."""
    value = item.value
    if not is_message(value):
        return
    role = _ROLES[value["role"]]
    at = item.path if item.path[-1] == NESTED else (*item.path, "parts")
    first = next((p.get("content") for p in value["parts"] if isinstance(p, dict) and p.get("type") == "text"), "")
    origin = origin_of(role, first if isinstance(first, str) else "")
    build.start(record=item.record, line=item.line, role=role, origin=origin)
    state.notes.setdefault("same", {}).setdefault(_same(value), []).append((len(build) - 1, item))
    for i, part in enumerate(value["parts"]):
        if isinstance(part, dict):
            _part(build, (*at, i), part, state)


def _part(build: Builder, at: PathSteps, part: dict[str, Any], state: State) -> None:
    kind, content = part.get("type"), part.get("content")
    if kind == "text" and isinstance(content, str):
        build.text((*at, "content"), content)
    elif kind in ("reasoning", "thinking") and isinstance(content, str):
        build.thinking((*at, "content"), content)
    elif kind == "tool_call":
        state.called(name_of(part.get("id")))
        build.call(name_of(part.get("id")), name_of(part.get("name")))
        arguments(build, (*at, "arguments"), part.get("arguments"))
    elif kind == "tool_call_response":
        build.result(state.answered(part.get("id")))
        key = next((k for k in ("response", "result") if k in part), "response")
        texts(part.get(key), (*at, key), build.output)
    elif kind in ("blob", "file", "uri"):
        data = next((part[k] for k in ("content", "uri", "file_id") if isinstance(part.get(k), str)), None)
        build.image(at, describe(data, part.get("mime_type") or kind))


def _repeated(build: Builder, state: State) -> None:
    """Where the other calls of the conversation repeat the messages of the session."""
    ours: dict[str, list[tuple[int, Item]]] = state.notes.pop("same", {})
    conversation: _Conversation = state.thread.holder
    main = conversation.main()
    for call in conversation.calls:
        if call is main:
            continue
        last = -1
        if _SYSTEM in call.lists and _SYSTEM in main.lists:
            path, parts = call.lists[_SYSTEM]
            _tie(state, ours, {"role": "system", "parts": parts}, call.record.index, path, -1)
        for key in (_INPUT, _OUTPUT):
            path, messages = call.lists.get(key, ((), []))
            for i, value in enumerate(messages):
                index = _tie(state, ours, value, call.record.index, (*path, i), last)
                if index >= 0 and key == _INPUT:
                    state.also.setdefault(index, []).append((call.record.index, (*path, i)))
                last = max(last, index)


def _tie(
    state: State, ours: dict[str, list[tuple[int, Item]]], value: Any, record: int, path: PathSteps, last: int
) -> int:
    """Tie a message to the one of the session that it repeats, the next after `last`; the index of that, or -1."""
    found = ours.get(_same(value), [])
    at = bisect_right(found, last, key=lambda entry: entry[0])
    if at == len(found):
        return -1
    index, item = found[at]
    for steps in _slots(value["parts"]):
        inner = steps if item.path[-1] == NESTED else ("parts", *steps)
        state.copies.setdefault((item.record, (*item.path, *inner)), []).append((record, (*path, *inner)))
    return index


def _slots(parts: list[Any]) -> Iterator[PathSteps]:
    """The places below a message's parts that may become parts of the session: strings, also those inside JSON text."""
    for path, _, text in leaves(parts):
        yield path
        inner = parsed_object(text) if path[-1] == "arguments" else None
        if isinstance(inner, dict):
            yield from ((*path, NESTED, *p) for p, _, _ in leaves(inner))
    yield from ((i,) for i, part in enumerate(parts) if isinstance(part, dict))


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note, picture, _document.leave_a_sign)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief: a user message."""
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def picture(part: Part, text: str) -> Any:
    """What stands for an embedded file whose text was set."""
    return {"type": "text", "content": text}


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10; in every call of a model, not only in the one that the session is read from."""
    yield from check_lists(transcript)
    source = Source(transcript.path, transcript.raw)
    file = load(source)
    for record, value in zip(file.records, file.values, strict=True):
        lines = Lines(transcript.raw, record)
        for call in _calls(record, value):
            for key in (_INPUT, _OUTPUT):
                path, messages = call.lists.get(key, ((), []))
                for code, what, fact in _faults(messages, whole=key == _INPUT):
                    yield Finding(code, Level.ERROR, what, fact, Place(transcript.path, lines.of(path)))


def _faults(messages: list[Any], *, whole: bool) -> Iterator[tuple[str, str, str]]:
    """What is wrong with the messages of one request; the calls of an answer wait for theirs in the next one."""
    waiting: dict[str, str] = {}
    answered: set[str] = set()
    for m in messages:
        if not is_message(m):
            role = str(m.get("role")) if isinstance(m, dict) else ""
            yield "S01", "a message of a request has no known role, or no parts", role[:60]
            continue
        kinds = {word(part, "type") for part in m["parts"]}
        if waiting and whole and not kinds & {"tool_call", "tool_call_response"}:
            yield "E03", "a request holds a message between a tool call and its result", next(iter(waiting))
        for part in m["parts"]:
            if isinstance(part, dict) and _is_part(part):
                yield from _paired(part, waiting, answered, whole=whole)
            else:
                kind = str(part.get("type")) if isinstance(part, dict) else ""
                yield "S01", "a part of a request's message lacks what its type needs", kind[:60]
    for id_ in waiting if whole else ():
        yield "E02", "a request holds a tool call without a result", id_


def _paired(
    part: dict[str, Any], waiting: dict[str, str], answered: set[str], *, whole: bool
) -> Iterator[tuple[str, str, str]]:
    """Calls wait until they are answered."""
    id_ = name_of(part.get("id"))
    if part["type"] == "tool_call" and id_:
        if id_ in waiting or id_ in answered:
            yield "E04", "a request holds a tool call twice", id_
        waiting[id_] = name_of(part.get("name"))
    elif part["type"] == "tool_call_response" and id_:
        if waiting.pop(id_, None) is None and whole:
            yield "E02", "a request holds a tool result without its call", id_
        answered.add(id_)


def _is_part(part: dict[str, Any]) -> bool:
    """A part of a known type has what that type needs."""
    kind = part.get("type")
    if kind in ("text", "reasoning"):
        return isinstance(part.get("content"), str)
    if kind == "tool_call":
        return isinstance(part.get("name"), str)
    return isinstance(kind, str)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """Nothing resumes a trace."""
    return ""
