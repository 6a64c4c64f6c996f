"""Read Claude Code session files: one record a line, or a web export with all of them in `loglines`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compressor.formats._claude_chain import BOUNDARY, MARK_KEY, Chain, Node, make_node, resolve
from compressor.formats._claude_who import context, who
from compressor.formats._mark import from_fields
from compressor.formats._pairs import Builder
from compressor.formats._records import BLANK, UNREADABLE, Dirt, Source, leaves, loads, split
from compressor.model import Mark, Origin, PathSteps, Record, Role, Session, Transcript

DOCUMENT: Final = "document"
MARK_FIELDS: Final = ("options", "tokens", "generation", "archive", "messages", "digest")

#: How a cleared result begins.
_CLEARED: Final = "[cleared: "
_ATTACHED: Final = frozenset({"content", "text", "prompt"})
#: Fields that name another record's uuid, by the kind of record that has them.
_REFERENCES: Final = {
    "file-history-snapshot": "messageId",
    "summary": "leafUuid",
    "last-prompt": "leafUuid",
    "user": "sourceToolAssistantUUID",
}
_RESULT_TEXT: Final = frozenset({"text", "title", "url", "content"})


@dataclass(frozen=True, slots=True)
class Row:
    """One record's value, and where its steps begin (a row of a document lies deeper, in record `holder`)."""

    value: Any
    record: int
    holder: int
    line: int
    kind: str
    base: PathSteps = ()


@dataclass(slots=True)
class _State:
    build: Builder = field(default_factory=Builder)
    nodes: list[Node] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)
    ids: dict[str, None] = field(default_factory=dict)
    refs: list[tuple[str, str, int]] = field(default_factory=list)
    stale: list[int] = field(default_factory=list)
    marks: dict[int, Mark] = field(default_factory=dict)
    rows: dict[int, list[int]] = field(default_factory=dict)
    summaries: list[int] = field(default_factory=list)
    boundary: int = -1


def kind_of(value: Any) -> str:
    """The record's own name for what it is."""
    if not isinstance(value, dict):
        return "other"
    kind, sub = value.get("type"), value.get("subtype")
    if not isinstance(kind, str):
        return "other"
    if kind == "attachment" and isinstance(value.get("attachment"), dict):
        sub = value["attachment"].get("type")
    return f"{kind}/{sub}" if isinstance(sub, str) and kind in ("system", "attachment") else kind


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`); there are no options."""
    dirt = Dirt()
    document = _document(source)
    records: list[Record] = []
    state = _State()
    for row in _document_rows(source, document, records) if document is not None else _rows(source, dirt, records):
        _take(row, state)
    session = _finish(state, document=document is not None)
    return Transcript(source.path, "claude-code", source.raw, tuple(records), (session,), dict(dirt.counts))


def _document(source: Source) -> Any:
    """The document of a web export, or None for a file of lines."""
    head = bytes(source.raw[:400]).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"{") or b'"loglines"' not in head:
        return None
    try:
        return loads(bytes(source.raw).removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
        return None


def _document_rows(source: Source, document: Any, records: list[Record]) -> Iterator[Row]:
    raw = source.raw
    start = 3 if raw[:3] == b"\xef\xbb\xbf" else 0
    if start:
        records.append(Record(0, 1, 0, 3, BLANK))
    holder = len(records)
    records.append(Record(holder, 1, start, len(raw), DOCUMENT))
    for i, value in enumerate(document["loglines"]):
        yield Row(value, i, holder, 1, kind_of(value), ("loglines", i))


def _rows(source: Source, dirt: Dirt, records: list[Record]) -> Iterator[Row]:
    for raw in split(source.raw, dirt):
        kind = raw.kind or kind_of(raw.value)
        record = Record(len(records), raw.line, raw.start, raw.end, kind)
        records.append(record)
        if kind not in (UNREADABLE, BLANK):
            yield Row(raw.value, record.index, record.index, raw.line, kind)


def _take(row: Row, state: _State) -> None:
    value = row.value
    if not isinstance(value, dict):
        return
    session = value.get("sessionId")
    if isinstance(session, str):
        state.ids.setdefault(session)
    if row.kind == BOUNDARY:
        state.boundary = row.record
        mark = _mark(value)
        if mark is not None:
            state.marks[row.record] = mark
    first = len(state.build)
    if row.kind in ("user", "assistant") and isinstance(value.get("message"), dict):
        _message(row, state)
    elif row.kind.startswith("attachment"):
        _attachment(row, state)
    indexes = list(range(first, len(state.build)))
    if indexes:
        state.rows[row.record] = indexes
    node = make_node(value, row.record, row.kind)
    if node is None:
        state.loose += indexes
    else:
        node.messages = indexes
        state.nodes.append(node)
    _reference(row, state)


def _reference(row: Row, state: _State) -> None:
    """Note which other record a record speaks of."""
    key = _REFERENCES.get(row.kind)
    if key is not None and isinstance(row.value.get(key), str):
        state.refs.append((f"{row.kind}.{key}", row.value[key], row.record))


def _mark(value: Mapping[str, Any]) -> Mark | None:
    metadata = value.get("compactMetadata")
    fields = metadata.get(MARK_KEY) if isinstance(metadata, dict) else None
    return from_fields([fields.get(k) for k in MARK_FIELDS]) if isinstance(fields, dict) else None


def _message(row: Row, state: _State) -> None:
    message = row.value["message"]
    content = message.get("content")
    base = (*row.base, "message", "content")
    if row.kind == "assistant":
        api = message.get("id")
        state.build.start(**_common(row, Role.ASSISTANT, _agent(row.value), group=api))
        _contents(content, base, state.build)
        return
    results = [b for b in content if _is(b, "tool_result")] if isinstance(content, list) else []
    if results:
        state.build.start(**_common(row, Role.TOOL, Origin.TOOL))
        _contents(content, base, state.build, only="tool_result")
        if _is_stale(row.value, results):
            state.stale.append(len(state.build) - 1)
        if len(results) == len(content):
            return
    origin = who(row.value, content)
    flags: dict[str, Any] = {}
    if row.value.get("isCompactSummary") is True:
        flags["generation"] = 1
        state.summaries.append(len(state.build))
    # what stands beside a result is another voice: a message of its own in the same record
    more = "#text" if results else ""
    added = context(content) if origin is Origin.PERSON and not results else frozenset[int]()
    if added:
        # so is what the harness adds to what a person typed
        state.build.start(**_common(row, Role.USER, Origin.HARNESS, suffix="#context"))
        _contents(content, base, state.build, among=added)
    state.build.start(**_common(row, Role.USER, origin, suffix=more), **flags)
    _contents(content, base, state.build, without="tool_result", but=added)


def _is_stale(value: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> bool:
    """The display's copy of a result still says what was cleared in the result itself."""
    copy = value.get("toolUseResult")
    cleared = any(isinstance(r.get("content"), str) and r["content"].startswith(_CLEARED) for r in results)
    return cleared and copy is not None and not (isinstance(copy, str) and _CLEARED in copy)


def _common(row: Row, role: Role, origin: Origin, *, group: Any = None, suffix: str = "") -> dict[str, Any]:
    uuid, time = row.value.get("uuid"), row.value.get("timestamp")
    named = isinstance(uuid, str) and uuid != ""
    fields: dict[str, Any] = {
        "record": row.holder,
        "line": row.line,
        "role": role,
        "origin": origin,
        "id": f"{uuid}{suffix}" if named else "",
        "time": time if isinstance(time, str) else "",
    }
    if isinstance(group, str) and group:
        fields["group"] = group
    elif named and suffix:
        fields["group"] = uuid
    return fields


def _is(block: Any, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def _agent(value: Mapping[str, Any]) -> Origin:
    return Origin.HARNESS if value.get("isApiErrorMessage") is True else Origin.AGENT


def _contents(
    content: Any,
    base: PathSteps,
    build: Builder,
    *,
    only: str = "",
    without: str = "",
    among: Collection[int] | None = None,
    but: Collection[int] = (),
) -> None:
    """Add the blocks of a record: of one kind, without one kind, `among` some or all `but` some."""
    if isinstance(content, str):
        build.text(base, content)
        return
    for i, block in enumerate(content if isinstance(content, list) else ()):
        if i in but or (among is not None and i not in among):
            continue
        path = (*base, i)
        if isinstance(block, str):
            if not only:
                build.text(path, block)
        elif isinstance(block, dict) and (not only or _is(block, only)) and not (without and _is(block, without)):
            _block(block, path, build)


def _block(block: dict[str, Any], path: PathSteps, build: Builder) -> None:
    kind = block.get("type")
    text = block.get(kind) if kind in ("text", "thinking") else None
    if kind == "text" and isinstance(text, str):
        build.text((*path, "text"), text)
    elif kind == "thinking" and isinstance(text, str):
        build.thinking((*path, "thinking"), text)
    elif kind in ("image", "document"):
        build.image(path, describe(block))
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        build.call(str(block.get("id") or ""), str(block.get("name") or ""))
        for steps, key, leaf in leaves(block.get("input"), (*path, "input")):
            build.argument(steps, key, leaf)
    elif isinstance(kind, str) and kind.endswith("tool_result"):
        build.result(str(block.get("tool_use_id") or ""), error=block.get("is_error") is True)
        _output(block.get("content"), (*path, "content"), build)
    elif kind == "redacted_thinking" and isinstance(block.get("data"), str):
        build.other((*path, "data"), block["data"])


def _output(content: Any, path: PathSteps, build: Builder) -> None:
    if isinstance(content, str):
        build.output(path, content)
        return
    for i, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, str):
            build.output((*path, i), block)
        elif _is(block, "image") or _is(block, "document"):
            build.image((*path, i), describe(block))
        elif isinstance(block, dict):
            for key, text in block.items():
                if key in _RESULT_TEXT and isinstance(text, str):
                    build.output((*path, i, key), text)


def describe(block: Mapping[str, Any]) -> str:
    """A picture or document in a few words."""
    source = block.get("source")
    if not isinstance(source, dict):
        return str(block.get("type"))
    data = source.get("data")
    size = len(data) * 3 // 4 if isinstance(data, str) else 0
    what = source.get("media_type") or block.get("type")
    return f"{what}, {size:,} bytes" if size else f"{what}"


def _attachment(row: Row, state: _State) -> None:
    """What the harness added for the model: its rendered text, else (older versions) the texts it was made from."""
    value = row.value
    found: list[tuple[PathSteps, str]] = []
    rendered = value.get("rendered")
    if isinstance(rendered, list):
        for steps, key, text in leaves(rendered, (*row.base, "rendered")):
            if key.endswith(("content", "text")):
                found.append((steps, text))
    elif row.kind != "attachment/prompt_snapshot":
        for steps, key, text in leaves(value.get("attachment"), (*row.base, "attachment")):
            if key.rsplit(".", 1)[-1] in _ATTACHED:
                found.append((steps, text))
    if not found:
        return
    queued = row.kind == "attachment/queued_command"
    role = Role.SYSTEM if value.get("renderedRole") == "system" else Role.USER
    origin = Origin.PERSON if queued else Origin.HARNESS
    state.build.start(**_common(row, role, origin), regainable=not queued)
    for steps, text in found:
        state.build.text(steps, text)


def _finish(state: _State, *, document: bool) -> Session:
    chain = resolve(state.nodes)
    flag = _flag_chain if chain.nodes else _flag_plain
    flag(state, chain)
    mark, brief = _ours(state, chain)
    meta = {
        "chain": chain,
        "rows": state.rows,
        "refs": tuple(state.refs),
        "stale": tuple(state.stale),
        "ids": tuple(state.ids),
        "document": document,
        "loose": tuple(state.loose),
    }
    return state.build.session(next(iter(state.ids), ""), brief=brief, mark=mark, meta=meta)


def _flag_chain(state: _State, chain: Chain) -> None:
    for i, node in enumerate(chain.nodes):
        side = node.side and not chain.side_only
        flags = {"live": i in chain.live, "sidechain": side, "abandoned": not side and i not in chain.active}
        for index in node.messages:
            state.build.change(index, **flags)
    for index in state.loose:
        state.build.change(index, live=False)
    _flag_copies(state, chain)


def _flag_copies(state: _State, chain: Chain) -> None:
    """Of a record that stands twice (the tool writes a lost line again) the last one counts."""
    last: dict[str, Node] = {}
    for node in reversed(chain.nodes):
        twin = last.setdefault(node.uuid, node)
        if twin is not node and state.build.same(node.messages, twin.messages):
            for index in node.messages:
                state.build.change(index, abandoned=True, live=False)


def _flag_plain(state: _State, chain: Chain) -> None:
    """Records without ids: what stands before the newest compaction is not live."""
    start = next(
        (i for r, indexes in state.rows.items() if r > state.boundary >= 0 for i in indexes[:1]),
        state.summaries[-1] if state.summaries and state.boundary < 0 else 0,
    )
    for index in range(start):
        state.build.change(index, live=False)


def _ours(state: _State, chain: Chain) -> tuple[Mark | None, int]:
    """The newest boundary with our mark, and the message of its summary; summaries count their generation."""
    if not state.marks:
        return None, -1
    record = max(state.marks)
    mark = state.marks[record]
    records = {i: r for r, indexes in state.rows.items() for i in indexes}
    later = [i for i in state.summaries if records[i] > record]
    if not later:
        return mark, -1
    state.build.change(later[0], generation=mark.generation)
    for index in later[1:]:
        # behind a boundary of the tool's own it tells of our brief; else it is an older one that we carried along
        newer = records[index] > state.boundary > record
        state.build.change(index, generation=mark.generation + 1 if newer else max(1, mark.generation - 1))
    return mark, later[0]
