"""Letta agent files (`.af`): agents with their messages, and the ids of those that are in context.

A user's words and a tool's return are packed as JSON text in the message's text; the part is the text inside.
What is not in context is history that the agent no longer sends. A message that leaves goes out of
`in_context_message_ids` too, and what stays is in it; the brief is packed as the agent's own `system_alert`.
Blocks, tools and files are never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from compressor.formats import _document, openai_chat
from compressor.formats._layout import Editor, dump_string
from compressor.formats._lists import Item, Where
from compressor.formats._messages import (
    State,
    check_lists,
    is_list,
    like,
    name_of,
    origin_of,
    parsed_object,
    read_lists,
    time_of,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source
from compressor.model import (
    NESTED,
    Compaction,
    Finding,
    Level,
    Origin,
    PathSteps,
    Place,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE = "Letta agent files"
ORDER = 54
APPENDS = False

_ROLES: Final = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "approval": Role.ASSISTANT,
    "summary": Role.USER,
}
_IN_CONTEXT: Final = "in_context_message_ids"


def is_message(value: Any) -> bool:
    """A message of an agent."""
    return isinstance(value, dict) and word(value, "role") in _ROLES and ("content" in value or "tool_calls" in value)


def find(value: Any) -> Iterator[Where]:
    """The messages of each agent."""
    agents = value.get("agents") if isinstance(value, dict) else None
    for i, agent in enumerate(agents if isinstance(agents, list) else ()):
        if isinstance(agent, dict) and is_list(agent.get("messages"), is_message):
            yield Where(("agents", i, "messages"), name_of(agent.get("id")) or name_of(agent.get("name")))


def sniff(head: Head) -> bool:
    """A document with agents, blocks and tools."""
    value = head.document
    return isinstance(value, dict) and all(isinstance(value.get(k), list) for k in ("agents", "blocks", "tools"))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "letta", find, message)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder."""
    value, at = item.value, item.path
    if not is_message(value):
        return
    role = _ROLES[value["role"]]
    id_ = name_of(value.get("id"))
    listed = state.thread.holder.get(_IN_CONTEXT)
    texts = list(_texts(value, at))
    said = texts[0][1] if texts else ""
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=Origin.HARNESS if _packed(value) in ("system_alert", "heartbeat", "login") else origin_of(role, said),
        id=id_,
        live=not isinstance(listed, list) or id_ in listed,
        generation=1 if value["role"] == "summary" else 0,
        time=time_of(value.get("created_at")),
    )
    if role is Role.TOOL:
        returns = value.get("tool_returns")
        failed = any(
            isinstance(r, dict) and r.get("status") == "error" for r in (returns if isinstance(returns, list) else ())
        )
        build.result(state.answered(value.get("tool_call_id"), name_of(value.get("name"))), error=failed)
    for path, text in texts:
        (build.output if role is Role.TOOL else build.text)(path, text)
    if role is Role.TOOL and texts:
        _returns(item, value, texts[0], state)
    openai_chat.calls(build, at, value, state)
    _note_wrong(build, value, state)


def _blocks(value: dict[str, Any]) -> list[Any]:
    content = value.get("content")
    return content if isinstance(content, list) else []


def _packed(value: dict[str, Any]) -> str:
    """The type of what is packed in a message's first text, or ""."""
    first = next((b.get("text") for b in _blocks(value) if isinstance(b, dict)), value.get("content"))
    inner = parsed_object(first)
    return name_of(inner.get("type")) if isinstance(inner, dict) else ""


def _texts(value: dict[str, Any], at: PathSteps) -> Iterator[tuple[PathSteps, str]]:
    """The texts of a message, and where they stand: inside what is packed, if anything is."""
    found: list[tuple[PathSteps, Any]] = [
        ((*at, "content", i, "text"), b.get("text")) for i, b in enumerate(_blocks(value)) if isinstance(b, dict)
    ]
    if isinstance(value.get("content"), str):
        found.append(((*at, "content"), value["content"]))
    for path, text in found:
        inner = parsed_object(text)
        if isinstance(inner, dict) and isinstance(inner.get("message"), str):
            yield (*path, NESTED, "message"), inner["message"]
        elif isinstance(text, str):
            yield path, text


def _returns(item: Item, value: dict[str, Any], part: tuple[PathSteps, str], state: State) -> None:
    """A return is told once more beside the content."""
    returns = value.get("tool_returns")
    for i, told in enumerate(returns if isinstance(returns, list) else ()):
        if isinstance(told, dict):
            for key in ("func_response", "tool_return"):
                path: PathSteps = (*item.path, "tool_returns", i, key)
                inner = parsed_object(told.get(key))
                if isinstance(inner, dict) and "message" in inner:
                    state.copy(item, part[0], (*path, NESTED, "message"), part[1], inner["message"])
                else:
                    state.copy(item, part[0], path, part[1], told.get(key))


def _note_wrong(build: Builder, value: dict[str, Any], state: State) -> None:
    """What does not fit the agent: ids in context that no message has, a context that does not begin with the system."""
    agent = state.thread.holder
    if "lost" not in state.notes:
        ids = {m.get("id") for m in agent["messages"] if isinstance(m, dict) and isinstance(m.get("id"), str)}
        given = agent.get(_IN_CONTEXT)
        listed = [i for i in (given if isinstance(given, list) else ()) if isinstance(i, str)]
        state.notes["lost"] = tuple(i for i in listed if i not in ids)
        state.notes["first"] = listed[0] if listed else ""
    if value.get("id") == state.notes["first"] and value["role"] != "system":
        state.notes["headless"] = len(build) - 1


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note, more=_context)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief: a user message with a packed alert, in context."""
    time = _document.replaced_time(session, change)
    packed = (
        '{"type": "system_alert", "message": '
        + dump_string(text)
        + (f', "time": {dump_string(time)}' if time else "")
        + "}"
    )
    fields: dict[str, Any] = {
        "type": "message",
        "role": "user",
        "content": [{"type": "text", "text": packed}],
        "id": _new_id(session),
    }
    for key in ("agent_id", "model", "group_id"):
        if key in near and (near[key] is None or isinstance(near[key], str)):
            fields[key] = near[key]
    if "created_at" in near and time:
        fields["created_at"] = time
    for key in ("name", "otid", "sender_id", "tool_calls", "tool_call_id"):
        if key in near:
            fields[key] = None
    if "tool_returns" in near:
        fields["tool_returns"] = []
    return like(near, fields)


def _new_id(session: Session) -> str:
    """The next free id of this agent's messages; the id of a brief that it replaces."""
    if session.brief >= 0:
        return session.messages[session.brief].id
    ids = [*(m.id for m in session.messages), *session.meta["lost"]]
    heads = [i.rsplit("-", 1) for i in ids if "-" in i]
    taken = [int(n) for _, n in heads if n.isdigit() and len(n) < 9]
    return f"{heads[0][0] if heads else 'message'}-{max(taken, default=-1) + 1}"


def _context(session: Session, change: Compaction, editor: Callable[[int], Editor]) -> None:
    """What stays is in context, in order, the brief among it: the file holds no other history any more."""
    agent: PathSteps = session.meta["list"][:-1]
    edit = editor(session.messages[0].record)
    if not _has_list(edit, agent):
        return
    position = _document.seam(session, change)
    kept = [m for m in session.messages if m.index not in change.dropped]
    before = [m.id for m in kept if m.index < position]
    after = [m.id for m in kept if m.index >= position]
    edit.set((*agent, _IN_CONTEXT), [*before, _new_id(session), *after])


def _has_list(edit: Editor, agent: PathSteps) -> bool:
    return _IN_CONTEXT in edit.children(agent) and edit.source((*agent, _IN_CONTEXT)).startswith("[")


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10, E11 (ids in context), E13 (the context begins with the system)."""
    yield from check_lists(transcript, adjacent=False)
    for session in transcript.sessions:
        for id_ in session.meta["lost"]:
            at = Place(transcript.path, session.messages[0].line)
            yield Finding("E11", Level.ERROR, "id in context that no message has", id_, at)
        if "headless" in session.meta:
            m = session.messages[session.meta["headless"]]
            yield Finding(
                "E13", Level.WARNING, "context does not begin with the system message", at=place(transcript.path, m)
            )


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on, in context as they are there."""
    joined = _document.join(original, grown, first_new)
    session = grown.sessions[0]
    path = (*session.meta["list"][:-1], _IN_CONTEXT)
    edit = Editor(joined.decode("utf-8", "surrogateescape"))
    if not _has_list(edit, path[:-1]):
        return joined
    count = len(edit.children(path))
    for m in session.messages[first_new:]:
        if m.live:
            edit.insert(path, count, m.id)
    return edit.text().encode("utf-8", "surrogateescape")


def resume_command(transcript: Transcript, output: str) -> str:
    """The server imports the file by its own interface."""
    return ""
