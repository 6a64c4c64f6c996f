"""Write a compaction the way the tool writes its own: boundary, summary, and the kept records hung below it."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from compressor.formats._claude_chain import MARK_KEY, Chain, Node
from compressor.formats._claude_read import read
from compressor.formats._layout import Editor
from compressor.formats._line import Line
from compressor.formats._records import BLANK, BOM, UNREADABLE, Source, dumps, leaves, loads
from compressor.model import Compaction, Message, Part, PartType, PathSteps, Session, Transcript, Written

#: What stands in the summary's place when the history before the kept records was cleared without a brief.
CLEARED: Final = "The conversation before this point was cleared."

#: Records that the tool writes for itself and does not need to go on.
_NOISE: Final = frozenset(
    {
        "progress", "queue-operation", "api-request", "api-request-blob", "api-request-shape", "atis-latch",
        "tools-used", "cost-state", "content-replacement",
    }
)  # fmt: skip
#: Records that speak of another one, and the field in which they do.
_REFERS: Final = {"file-history-snapshot": "messageId", "summary": "leafUuid", "last-prompt": "leafUuid"}
#: Fields that the new records take over from the session's newest one.
_ENVELOPE: Final = (
    "isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "agentId",
)  # fmt: skip
_NAMESPACE: Final = uuid.UUID("0b8d7a52-6f0e-5e0c-9d53-3f4f6c1f2b11")
_PARENT: Final = re.compile(rb'"parentUuid"\s*:\s*(null|"[^"\\]*")')
#: Longer strings of an attachment are copies of the text that was rendered from it.
_COPY: Final = 80
_KNOWN: Final = frozenset({"user", "assistant", "system", "attachment", "progress"})


@dataclass(frozen=True, slots=True)
class _Job:
    """What is settled before anything is written.

    Attributes:
        kept: rows (records; in a document its list's elements) that stay because of their messages.
        edits: new texts by row, as (part, text).
        copies: new `toolUseResult` by row: what stands in an edited result, or answers an edited call.
        parents: for each node that stays, the `parentUuid` that it gets.
        uuids: of the nodes that stay.
        boundary: uuid of the new boundary.
        summary: uuid of the new summary.
        time: time stamp of both.
        last: uuid of the last message that leaves.
    """

    transcript: Transcript
    session: Session
    change: Compaction
    chain: Chain
    kept: frozenset[int]
    edits: Mapping[int, Sequence[tuple[Part, str]]]
    copies: Mapping[int, str]
    parents: Mapping[int, str | None]
    uuids: frozenset[str]
    boundary: str
    summary: str
    time: str
    last: str | None


def write(transcript: Transcript, change: Compaction) -> Written:
    """The file with one change."""
    job = _prepare(transcript, change)
    if job.session.meta["document"]:
        return Written(_document(job))
    left: Counter[str] = Counter()
    return Written(b"".join(_lines(job, left)), dict(left))


def _prepare(transcript: Transcript, change: Compaction) -> _Job:
    session = transcript.sessions[0]
    row_of = {index: row for row, indexes in session.meta["rows"].items() for index in indexes}
    edits: defaultdict[int, list[tuple[Part, str]]] = defaultdict(list)
    for ordinal, text in sorted(change.texts.items()):
        part = session.parts[ordinal]
        edits[row_of[part.message]].append((part, text))
    kept = frozenset(row_of[m.index] for m in session.messages if m.index not in change.dropped and not m.abandoned)
    boundary, summary = _new_ids(session, change)
    replaced = _last_replaced(session, change)
    chain: Chain = session.meta["chain"]
    stays = [_stays(n, kept, active=i in chain.active) for i, n in enumerate(chain.nodes)]
    return _Job(
        transcript=transcript,
        session=session,
        change=change,
        chain=chain,
        kept=kept,
        edits=edits,
        copies=_copies(session, change, row_of),
        parents=_parents(chain, stays, summary),
        uuids=frozenset(n.uuid for n, kept_node in zip(chain.nodes, stays, strict=True) if kept_node),
        boundary=boundary,
        summary=summary,
        time=next((m.time for m in (replaced, *reversed(session.messages)) if m and m.time), ""),
        last=replaced.id.removesuffix("#text") if replaced and not replaced.id.startswith("#") else None,
    )


def _new_ids(session: Session, change: Compaction) -> tuple[str, str]:
    seed = "\0".join([change.new_id or session.id, change.brief, *map(str, asdict(change.mark).values())])
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()
    return str(uuid.uuid5(_NAMESPACE, f"boundary {digest}")), str(uuid.uuid5(_NAMESPACE, f"summary {digest}"))


def _last_replaced(session: Session, change: Compaction) -> Message | None:
    """The last message that leaves, else the last that is edited, else the last."""
    messages = session.messages
    gone = [m for m in messages if m.index in change.dropped and not m.abandoned and not m.sidechain]
    if gone:
        return gone[-1]
    touched = [session.parts[ordinal].message for ordinal in change.texts]
    return messages[max(touched)] if touched else messages[-1] if messages else None


def _copies(session: Session, change: Compaction, row_of: Mapping[int, int]) -> dict[int, str]:
    """The display's copy of a result says what the result says, once that or its call was edited."""
    touched: set[int] = set()
    for ordinal in change.texts:
        part = session.parts[ordinal]
        if part.call >= 0:
            touched.update(session.calls[part.call].results)
        else:
            touched.add(part.message)
    copies: defaultdict[int, list[str]] = defaultdict(list)
    for index in sorted(touched):
        for part in session.messages[index].parts:
            if part.type is PartType.TOOL_RESULT or part.ordinal in change.texts:
                copies[row_of[index]].append(change.texts.get(part.ordinal, part.text))
    return {row: "\n".join(texts) for row, texts in copies.items()}


def _stays(node: Node, kept: frozenset[int], *, active: bool) -> bool:
    """A message's record stays with the message; a link of unknown kind stays if it is on the way."""
    if node.messages:
        return node.record in kept
    return active and node.kind.split("/", 1)[0] not in _KNOWN


def _parents(chain: Chain, stays: Sequence[bool], summary: str) -> dict[int, str | None]:
    """The nearest record above that stays and stands before; at the top the summary.

    A sub-agent's inline tree does not hang on the main one. Where a parent stands behind its child (a cycle, records
    written out of order), the way is a straight one in file order: else it would pass the parent by.
    """
    nodes = chain.nodes
    disordered = any(n.up >= i for i, n in enumerate(nodes))
    above: list[int] = []
    parents: dict[int, str | None] = {}
    last = -1
    for i, node in enumerate(nodes):
        up = last if disordered else node.up
        if up >= 0 and not chain.side_only and nodes[up].side != node.side:
            up = -1
        near = up if up < 0 or stays[up] else above[up]
        above.append(near)
        if not stays[i]:
            continue
        inline = node.side and not chain.side_only
        parents[i] = nodes[near].uuid if near >= 0 else None if inline else summary
        if not inline:
            last = i
    return parents


# -- files of lines ----------------------------------------------------------------------------------------------


def _lines(job: _Job, left: Counter[str]) -> Iterator[bytes]:
    end = b"\r\n" if 2 * job.transcript.dirt.get("crlf", 0) > len(job.transcript.records) else b"\n"
    nodes = {n.record: i for i, n in enumerate(job.chain.nodes)}
    rows = job.session.meta["rows"]
    begun = False
    for record in job.transcript.records:
        body = bytes(job.transcript.raw[record.start : record.end])
        own_end = b"\r\n" if body.endswith(b"\r\n") else end
        if record.kind in (BLANK, UNREADABLE):
            yield body if body == BOM or body.endswith(b"\n") else body + own_end
            continue
        at = nodes.get(record.index, -1)
        chained = at >= 0 or record.index in rows
        if chained and not begun:
            begun = True
            yield from (line + end for line in _compaction(job))
        if at in job.parents or (at < 0 and _loose_stays(job, record.index, record.kind, body)):
            yield _line(job, body.strip(), record.index, at) + own_end
        elif not any(i in job.change.dropped for i in rows.get(record.index, ())):
            left[record.kind] += 1
    if not begun:
        yield from (line + end for line in _compaction(job))


def _loose_stays(job: _Job, row: int, kind: str, body: bytes) -> bool:
    """Whether a record outside the chain has a meaning in the output."""
    if row in job.session.meta["rows"]:
        return row in job.kept
    if kind in _NOISE or kind.split("/", 1)[0] in _KNOWN:
        return False
    field = _REFERS.get(kind)
    if field is None:
        return True
    # a prompt that was edited must not live on in its copy
    return loads(body.strip()).get(field) in job.uuids and not (kind == "last-prompt" and job.change.texts)


def _line(job: _Job, body: bytes, row: int, at: int) -> bytes:
    edited = row in job.edits or row in job.copies
    if not edited and not job.change.new_id and b'"sourceToolAssistantUUID"' not in body:
        return body if at < 0 else _spliced(body, job.parents[at])
    line = Line(body)
    if at >= 0:
        line.set(("parentUuid",), job.parents[at])
        _drop_lost_source(job, line)
    if job.change.new_id and isinstance(line.value, dict) and "sessionId" in line.value:
        line.set(("sessionId",), job.change.new_id)
    if edited:
        _edit(job, row, line, (), line.value)
    return line.changed()


def _spliced(body: bytes, parent: str | None) -> bytes:
    """The record with another parent, byte for byte the same but for that."""
    found = list(_PARENT.finditer(body))
    if len(found) == 1:
        return body[: found[0].start(1)] + dumps(parent) + body[found[0].end(1) :]
    editor = Editor(body.decode("utf-8", "surrogateescape"))
    editor.set(("parentUuid",), parent)
    return editor.text().encode("utf-8", "surrogateescape")


def _drop_lost_source(job: _Job, line: Line) -> None:
    key = "sourceToolAssistantUUID"
    if key in line.value and line.value[key] not in job.uuids:
        line.delete((key,))


def _edit(job: _Job, row: int, editor: Editor | Line, base: PathSteps, value: Any) -> None:
    """Put the new texts in, in each place that holds a copy of them."""
    edits = job.edits.get(row, ())
    for part, text in edits:
        editor.set(part.path, {"type": "text", "text": text} if part.type is PartType.IMAGE else text)
    if row in job.copies and "toolUseResult" in value:
        editor.set((*base, "toolUseResult"), job.copies[row])
    if edits and "rendered" in value:
        for path, _, copy in list(leaves(value.get("attachment"), (*base, "attachment"))):
            if len(copy) > _COPY:
                editor.set(path, edits[0][1])


# -- the new records ---------------------------------------------------------------------------------------------


def _compaction(job: _Job) -> Iterable[bytes]:
    """The boundary and the summary, as lines without their end."""
    return [dumps(value) for value in _compaction_values(job, _newest(job))]


def _newest(job: _Job) -> dict[str, Any]:
    """The record whose circumstances (version, folder, branch) the new records take over."""
    rows = [n.record for n in job.chain.nodes if job.chain.side_only or not n.side] or list(job.session.meta["rows"])
    if not rows or job.session.meta["document"]:
        return {}
    record = job.transcript.records[rows[-1]]
    value = loads(bytes(job.transcript.raw[record.start : record.end]).strip())
    return value if isinstance(value, dict) else {}


def _compaction_values(job: _Job, newest: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    envelope = {key: newest[key] for key in _ENVELOPE if key in newest}
    if "sessionId" in envelope:
        envelope["sessionId"] = job.change.new_id or job.session.id
    metadata = {
        "trigger": "manual",
        "preTokens": job.change.mark.tokens,
        MARK_KEY: {"version": 1, **asdict(job.change.mark)},
    }
    boundary = {
        "parentUuid": None,
        "logicalParentUuid": job.last,
        **envelope,
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "isMeta": False,
        "timestamp": job.time,
        "uuid": job.boundary,
        "level": "info",
        "compactMetadata": metadata,
    }
    summary = {
        "parentUuid": job.boundary,
        **envelope,
        "type": "user",
        "message": {"role": "user", "content": job.change.brief or CLEARED},
        "isVisibleInTranscriptOnly": True,
        "isCompactSummary": True,
        "uuid": job.summary,
        "timestamp": job.time,
    }
    if job.chain.nodes:
        return boundary, summary
    # a file without ids stays one
    tree = ("parentUuid", "logicalParentUuid", "uuid")
    first, second = ({k: v for k, v in r.items() if k not in tree} for r in (boundary, summary))
    return first, second


# -- documents ---------------------------------------------------------------------------------------------------


def _document(job: _Job) -> bytes:
    record = job.transcript.records[-1]
    text = bytes(job.transcript.raw[record.start : record.end]).decode("utf-8", "surrogateescape")
    editor = Editor(text)
    rows = loads(text.encode("utf-8", "surrogateescape"))["loglines"]
    nodes = {n.record: i for i, n in enumerate(job.chain.nodes)}
    for value in _compaction_values(job, {}):
        editor.insert(("loglines",), 0, value)
    for row in job.session.meta["rows"]:
        if row not in job.kept:
            editor.delete(("loglines", row))
            continue
        base = ("loglines", row)
        if nodes.get(row, -1) in job.parents:
            editor.set((*base, "parentUuid"), job.parents[nodes[row]])
        _edit(job, row, editor, base, rows[row])
    before = bytes(job.transcript.raw[: record.start])
    return before + editor.text().encode("utf-8", "surrogateescape")


# -- growing -----------------------------------------------------------------------------------------------------


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the grown file's records from message `first_new` on, hung below its own leaf."""
    session = grown.sessions[0]
    if first_new >= len(session.messages):
        return original
    old = read(Source("", original), {}).sessions[0]
    first = next(row for row, indexes in session.meta["rows"].items() if first_new in indexes)
    if session.meta["document"]:
        return _join_document(original, grown, first)
    chain: Chain = old.meta["chain"]
    known = {n.uuid for n in chain.nodes}
    leaf = next((n.uuid for n in reversed(chain.nodes) if chain.side_only or not n.side), None)
    nodes = {n.record: n for n in session.meta["chain"].nodes}
    pieces = [original if original.endswith(b"\n") or not original else original + b"\n"]
    for record in grown.records[first:]:
        body = bytes(grown.raw[record.start : record.end])
        node = nodes.get(record.index)
        if node is not None:
            if node.parent is not None and node.parent not in known:
                body = _spliced(body, leaf)
            known.add(node.uuid)
        if old.id and old.id != session.id:
            body = _renamed(body, old.id)
        pieces.append(body if body.endswith(b"\n") else body + b"\n")
    return b"".join(pieces)


def _renamed(body: bytes, session: str) -> bytes:
    editor = Editor(body.decode("utf-8", "surrogateescape"))
    if body.lstrip().startswith(b"{") and "sessionId" in editor.children(()):
        editor.set(("sessionId",), session)
    return editor.text().encode("utf-8", "surrogateescape")


def _join_document(original: bytes, grown: Transcript, first: int) -> bytes:
    record = grown.records[-1]
    new = Editor(bytes(grown.raw[record.start : record.end]).decode("utf-8", "surrogateescape"))
    old = Editor(original.removeprefix(BOM).decode("utf-8", "surrogateescape"))
    count = len(old.children(("loglines",)))
    for row in range(first, len(new.children(("loglines",)))):
        old.insert_source(("loglines",), count, new.source(("loglines", row)))
    return original[: len(BOM) if original.startswith(BOM) else 0] + old.text().encode("utf-8", "surrogateescape")
