"""OpenAI Responses items: request bodies (`input`), responses (`output`), arrays, or one item a line.

Each item is a message of its own. A reasoning item belongs to the items that the same answer brings after it:
they stay or leave together, and its encrypted content is never touched. A stored reference
(`item_reference`, `previous_response_id`) points to the server: it is carried as it is. The brief is a user
message in the shape of the session's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from compressor.formats import _document
from compressor.formats._lists import Item, Where
from compressor.formats._messages import (
    State,
    arguments,
    belonging,
    check_lists,
    describe,
    first_text,
    is_list,
    like,
    name_of,
    origin_of,
    read_lists,
    row_id,
    step,
    texts,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source, get_at, loads
from compressor.model import (
    Compaction,
    Finding,
    Level,
    Origin,
    Part,
    PathSteps,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE = "OpenAI Responses items (request bodies, responses, arrays, lines)"
ORDER = 70
APPENDS = False

_LISTS: Final[Sequence[PathSteps]] = (
    ("input",),
    ("body", "input"),
    ("request", "input"),
    ("output",),
    ("response", "output"),
    ("items",),
)
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}
#: Types of calls that a later item answers, by `call_id`, with the key of their arguments.
_CALLS: Final = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "tool_search_call": "arguments",
}
_OUTPUTS: Final = frozenset({f"{kind}_output" for kind in _CALLS} | {"tool_search_output"})
#: Types that the server runs by itself: call and result are one item.
_SERVER: Final = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
    }
)
_SEALED: Final = frozenset(
    {"compaction", "context_compaction", "compaction_summary", "item_reference", "compaction_trigger"}
)
_TELLING: Final = frozenset(_CALLS) | _OUTPUTS | _SERVER | _SEALED | {"reasoning"}
_PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
_SECRET: Final = re.compile(r"[A-Za-z0-9+/_=\-]+")


def is_item(value: Any) -> bool:
    """An item of this format, whatever else it holds."""
    if not isinstance(value, dict) or "tool_calls" in value:
        return False
    kind = value.get("type", "message") or "message"
    if not isinstance(kind, str):
        return False
    return (kind in _TELLING and _has_its_key(kind, value)) or (
        kind == "message" and word(value, "role") in _ROLES and "content" in value
    )


def _has_its_key(kind: str, value: dict[str, Any]) -> bool:
    """Other tools have records of the same type: an item of this format has this key besides."""
    if kind in _SERVER:
        return "id" in value
    if kind in _CALLS or kind in _OUTPUTS:
        return "call_id" in value
    return {"reasoning": "summary", "item_reference": "id", "compaction_trigger": "type"}.get(
        kind, "encrypted_content"
    ) in value


def find(value: Any) -> Iterator[Where]:
    """The list of a record's value: of a log of request and response the request's."""
    if isinstance(value, dict) and is_item(value):
        yield Where(None)
    elif isinstance(value, list) and not is_list(value, is_item):
        for i, row in enumerate(value):
            yield from _below(row, (i,))
    elif isinstance(value, list):
        yield Where(())
    else:
        yield from _below(value, ())


def _below(row: Any, path: PathSteps) -> Iterator[Where]:
    key = next((k for k in _LISTS if is_list(step(row, k), is_item)), None)
    if key is not None:
        system = (*key[:-1], "instructions")
        before = ((*path, *system),) if isinstance(step(row, system), str) else ()
        yield Where((*path, *key), row_id(row), before)


def sniff(head: Head) -> bool:
    """Items of types that only this interface has."""
    values = (head.document,) if head.document is not None else head.rows
    rows = [row for value in values for row in (value if isinstance(value, list) else [value])]
    return any(_telling(row) or any(_telling(i) for k in _LISTS for i in _list(step(row, k))) for row in rows[:500])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _telling(item: Any) -> bool:
    if not is_item(item):
        return False
    parts = item.get("content")
    blocks = [b for b in parts if isinstance(b, dict)] if isinstance(parts, list) else []
    return word(item, "type") in _TELLING or any(word(b, "type") in _PARTS for b in blocks)


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "responses", find, message)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one item into the builder."""
    value, at = item.value, item.path
    if at[-1:] == ("instructions",):
        build.start(record=item.record, line=item.line, role=Role.SYSTEM, origin=Origin.HARNESS)
        build.text(at, value)
        return
    if not is_item(value):
        return
    kind = value.get("type") or "message"
    role = _ROLES[value["role"]] if kind == "message" else Role.TOOL if kind in _OUTPUTS else Role.ASSISTANT
    group = _group(build, state, kind, role)
    flags = {"group": group} if group else {}
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=origin_of(role, first_text(value.get("content"))),
        id=name_of(value.get("id")),
        pinned=value.get("pinned") is True,
        opaque=kind in _SEALED or (kind == "reasoning" and "encrypted_content" in value),
        generation=1 if kind in ("compaction", "context_compaction", "compaction_summary") else 0,
        **flags,
    )
    _body(build, at, value, kind, state)


def _group(build: Builder, state: State, kind: str, role: Role) -> str:
    """A reasoning item and the assistant's items after it are one answer."""
    if kind == "reasoning":
        state.notes.setdefault("answer", f"answer:{len(build)}")
    elif role is not Role.ASSISTANT:
        state.notes.pop("answer", None)
    return str(state.notes.get("answer", ""))


def _body(build: Builder, at: PathSteps, value: dict[str, Any], kind: str, state: State) -> None:
    if kind == "message":
        _content(build, (*at, "content"), value.get("content"), result=False)
    elif kind == "reasoning":
        for key in ("summary", "content"):
            for i, block in enumerate(_list(value.get(key))):
                if isinstance(block, dict) and isinstance(block.get("text"), str):
                    build.thinking((*at, key, i, "text"), block["text"])
    elif kind in _CALLS:
        id_ = name_of(value.get("call_id"))
        state.called(id_)
        build.call(id_, name_of(value.get("name")) or kind.removesuffix("_call"))
        key = _CALLS[kind]
        arguments(build, (*at, key), value.get(key))
    elif kind in _OUTPUTS:
        build.result(state.answered(value.get("call_id")), error=value.get("status") == "failed")
        key = "output" if "output" in value else "tools"
        _content(build, (*at, key), value.get(key), result=True)
    elif kind in _SERVER:
        _server(build, at, value, kind)


def _content(build: Builder, at: PathSteps, content: Any, *, result: bool) -> None:
    put = build.output if result else build.text
    if isinstance(content, str):
        put(at, content)
    for i, block in enumerate(_list(content)):
        if not isinstance(block, dict):
            continue
        key = next((k for k in ("text", "refusal") if isinstance(block.get(k), str)), "")
        if key:
            put((*at, i, key), block[key])
        elif word(block, "type") in ("input_image", "computer_screenshot", "input_file", "input_audio"):
            data = next((block[k] for k in ("image_url", "file_data", "file_url", "file_id") if block.get(k)), None)
            build.image((*at, i), describe(data, "file" if block["type"] == "input_file" else None))


def _server(build: Builder, at: PathSteps, value: dict[str, Any], kind: str) -> None:
    """A call that the server answered itself: its texts are the model's own view of call and result."""
    if kind == "mcp_call":
        build.call(name_of(value.get("id")), name_of(value.get("name")))
        arguments(build, (*at, "arguments"), value.get("arguments"))
        build.result(name_of(value.get("id")), error=bool(value.get("error")))
        texts(value.get("output"), (*at, "output"), build.output)
        return
    for key in ("action", "queries", "code", "results", "outputs"):
        texts(value.get(key), (*at, key), build.other)


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note, picture)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief as a user message."""
    blocks = isinstance(near, dict) and isinstance(near.get("content"), list)
    fields: dict[str, Any] = {"role": "user", "content": [{"type": "input_text", "text": text}] if blocks else text}
    if not isinstance(near, dict) or "type" in near or near.get("role") not in _ROLES:
        fields = {"type": "message", **fields}
    return like(near, {**fields, **belonging(near)})


def picture(part: Part, text: str) -> Any:
    """What stands for an image whose text was set."""
    return {"type": "input_text", "text": text}


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, E02, E04, E07 (encrypted content), E09 (reasoning and its item), E10."""
    yield from check_lists(transcript, adjacent=False)
    parsed, value = -1, None
    for session in transcript.sessions:
        waiting = None
        for m in session.messages:
            if m.record != parsed:
                record = transcript.records[m.record]
                parsed, value = m.record, loads(bytes(transcript.raw[record.start : record.end]))
            item = get_at(value, session.meta["at"][m.index])
            kind = item.get("type") if isinstance(item, dict) else None
            if waiting is not None and (m.role is not Role.ASSISTANT):
                yield Finding("E09", Level.ERROR, "reasoning without the item it belongs to", at=waiting)
            waiting = place(transcript.path, m) if kind == "reasoning" else None
            secret = item.get("encrypted_content") if isinstance(item, dict) else None
            if secret is not None and not (isinstance(secret, str) and _SECRET.fullmatch(secret)):
                yield Finding("E07", Level.WARNING, f"{kind} item with damaged content", at=place(transcript.path, m))
        if waiting is not None:
            yield Finding("E09", Level.ERROR, "reasoning without the item it belongs to", at=waiting)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
