"""Write Gemini CLI sessions so that each result is sent once.

The tool sends a result twice when it stands both beside its call (`toolCalls`) and in the user message that answers
it. So calls go into the message's content, where the tool's own compaction has them, and results stand in user
messages alone. A log becomes: its header; one `$set` with the list up to the brief, as the tool writes its own
compaction; then one line for each message that follows.
"""

from __future__ import annotations

import copy
import hashlib
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from compressor.formats import _mark
from compressor.formats._document import replaced_time, seam
from compressor.formats._gemini_log import HEADER, SET
from compressor.formats._gemini_parts import calls, parts_of
from compressor.formats._gemini_read import CLOSING, OPENING, THANKS, Spot
from compressor.formats._layout import Editor
from compressor.formats._messages import name_of
from compressor.formats._records import BLANK, BOM, UNREADABLE, dumps, get_at, loads, set_at
from compressor.model import Compaction, Message, Part, PartType, PathSteps, Role, Session, Transcript, Written

_NAMESPACE: Final = uuid.UUID("5b0c7a0e-93a8-5d1f-8c0b-6d1b5a4f2c77")
_Place = tuple[int, PathSteps]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One message of the output's list; `spot` is None for a new one, `changed` says that it is not as it stood."""

    value: Mapping[str, Any]
    spot: Spot | None
    changed: bool = True

    @property
    def model(self) -> bool:
        """The model speaks."""
        return self.value.get("type") == "gemini"


@dataclass(slots=True)
class _Job:
    """A session and what is to be done with it."""

    transcript: Transcript
    session: Session
    edits: Mapping[_Place, Sequence[tuple[Part, str]]]
    values: dict[int, Any] = field(default_factory=dict)

    def body(self, record: int) -> bytes:
        """A record's bytes without its line end."""
        r = self.transcript.records[record]
        return bytes(self.transcript.raw[r.start : r.end]).removeprefix(BOM).strip()

    def value(self, record: int) -> Any:
        """A record's value; not to be changed."""
        if record not in self.values:
            self.values = {record: loads(self.body(record))}  # they come in order: one is enough
        return self.values[record]

    def entry(self, spot: Spot) -> dict[str, Any]:
        """A message of the tool's list with its new texts, as a copy."""
        value: dict[str, Any] = copy.deepcopy(get_at(self.value(spot.record), spot.path))
        edits = self.edits.get((spot.record, spot.path), ())
        for part, text in edits:
            path = part.path[len(spot.path) :]
            value = set_at(value, path, {"text": text} if part.type is PartType.IMAGE else text)
            if part.type is PartType.TOOL_CALL and path[0] == "content" and isinstance(path[1], int):
                value["content"][path[1]].pop("thoughtSignature", None)  # it signs other words
        if edits:
            value.pop("displayContent", None)
        return value


def _job(transcript: Transcript, texts: Mapping[int, str]) -> _Job:
    session = transcript.sessions[0]
    spots: Sequence[Spot] = session.meta["spots"]
    edits: defaultdict[_Place, list[tuple[Part, str]]] = defaultdict(list)
    for ordinal, text in sorted(texts.items()):
        part = session.parts[ordinal]
        edits[spots[part.message].record, spots[part.message].path].append((part, text))
    return _Job(transcript, session, edits)


def write(transcript: Transcript, change: Compaction) -> Written:
    """The file with one change."""
    job = _job(transcript, change.texts)
    position = seam(job.session, change)
    kept = [m for m in job.session.messages if m.index not in change.dropped and not m.abandoned]
    opening: Spot | None = job.session.meta["opening"]
    head = [_Piece(job.entry(opening), opening, changed=False)] if opening else []
    head += _pieces(job, [m for m in kept if m.index < position])
    rest = list(_pieces(job, [m for m in kept if m.index >= position]))
    brief = _brief(job, change)
    head.append(_Piece(brief, None))
    if not (rest and rest[0].model):
        head.append(
            _Piece({**brief, "id": _id(change, "thanks"), "type": "gemini", "content": [{"text": THANKS}]}, None)
        )
    if job.session.meta["document"]:
        brief[_mark.FIELD] = _mark.as_field(change.mark)
        return Written(_document(job, [*head, *rest], change), _left_out(job, change, [*head, *rest]))
    mark = _mark.as_field(change.mark, brief=brief["id"])
    return Written(_log(job, head, rest, mark, change), _left_out(job, change, [*head, *rest]))


def _pieces(job: _Job, messages: Sequence[Message]) -> Iterator[_Piece]:
    """The entries of these messages, results out of their calls; the thanks follow a summary that stays."""
    spots: Sequence[Spot] = job.session.meta["spots"]
    thanks: Mapping[int, Spot] = job.session.meta["thanks"]
    last: Spot | None = None
    for i, m in enumerate(messages):
        spot = spots[m.index]
        if spot == last:
            continue  # another voice in the same entry
        last = spot
        value = job.entry(spot)
        if spot.answer:
            yield _Piece(_answer(value, m), spot)
            continue
        changed = _flatten(value) or bool(job.edits.get((spot.record, spot.path)))
        yield _Piece(value, spot, changed)
        if m.index in thanks and (i + 1 == len(messages) or messages[i + 1].role is not Role.ASSISTANT):
            yield _Piece(job.entry(thanks[m.index]), thanks[m.index], changed=False)


def _flatten(value: dict[str, Any]) -> bool:
    """Move the calls of a message into its content; whether there was anything to move."""
    if "toolCalls" not in value:
        return False
    kept = value.pop("toolCalls")
    content = value.get("content")
    known = {name_of(c.get("id")) for c in calls(content)}
    parts = [{"text": content}] if isinstance(content, str) and content else list(parts_of(content))
    for call in kept if isinstance(kept, list) else ():
        if isinstance(call, dict) and name_of(call.get("id")) not in known:
            parts.append({"functionCall": {k: call[k] for k in ("id", "name", "args") if k in call}})
    value["content"] = parts
    return True


def _answer(value: Mapping[str, Any], message: Message) -> dict[str, Any]:
    """The results that stood beside the calls, as the user message that answers them."""
    parts: list[Any] = []
    for call in value["toolCalls"]:
        result = call.get("result") if isinstance(call, dict) else None
        head = {k: call[k] for k in ("id", "name") if k in call} if isinstance(call, dict) else {}
        if isinstance(result, str):
            parts.append({"functionResponse": {**head, "response": {"output": result}}})
            continue
        for part in parts_of(result):
            whole = isinstance(part, dict) and isinstance(part.get("functionResponse"), dict)
            parts.append({**part, "functionResponse": {**head, **part["functionResponse"]}} if whole else part)
    return {"id": message.id, "timestamp": value.get("timestamp"), "type": "user", "content": parts}


def _brief(job: _Job, change: Compaction) -> dict[str, Any]:
    times = (m.time for m in reversed(job.session.messages) if m.time)
    return {
        "id": _id(change, "brief"),
        "timestamp": replaced_time(job.session, change) or next(times, ""),
        "type": "user",
        "content": [{"text": OPENING}, {"text": change.brief or _mark.CLEARED}, {"text": CLOSING}],
    }


def _id(change: Compaction, what: str) -> str:
    seed = "\0".join([change.new_id or change.session.id, change.brief, *map(str, asdict(change.mark).values())])
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()
    return str(uuid.uuid5(_NAMESPACE, f"{what} {digest}"))


def _left_out(job: _Job, change: Compaction, pieces: Sequence[_Piece]) -> dict[str, int]:
    """Lines that are not in the output, apart from those of messages that were dropped by name."""
    if job.session.meta["document"]:
        return {}
    named = {m.record for m in job.session.messages if m.index in change.dropped}
    named |= {p.spot.record for p in pieces if p.spot is not None}
    named |= {r.index for r in job.transcript.records if r.kind == HEADER and r.index == _header(job)}
    kinds = (r.kind for r in job.transcript.records if r.index not in named and r.kind not in (BLANK, UNREADABLE))
    return dict(Counter(kinds))


# -- logs --------------------------------------------------------------------------------------------------------


def _header(job: _Job) -> int:
    return next((r.index for r in job.transcript.records if r.kind == HEADER), -1)


def _log(
    job: _Job, head: Sequence[_Piece], rest: Sequence[_Piece], mark: Mapping[str, Any], change: Compaction
) -> bytes:
    out: list[bytes] = []
    junk = [r for r in job.transcript.records if r.kind in (BLANK, UNREADABLE)]
    if job.transcript.raw[: len(BOM)] == BOM:
        out.append(BOM)
        junk = junk[1:]
    header = _header(job)
    if header >= 0:
        out.append(_renamed(job.body(header), change.new_id) + b"\n")
    state = _metadata(job, change.new_id)
    last = state.pop("lastUpdated", None)
    base: dict[str, Any] = {**state, "messages": [p.value for p in head]}
    if last is not None:
        base["lastUpdated"] = last
    out.append(dumps({"$set": {**base, _mark.FIELD: mark}}) + b"\n")
    for piece in rest:
        while junk and piece.spot is not None and junk[0].index < piece.spot.record:
            out.append(_as_it_is(job, junk.pop(0).index))
        out.append(_line(job, piece) + b"\n")
    out += [_as_it_is(job, r.index) for r in junk]
    return b"".join(out)


def _as_it_is(job: _Job, record: int) -> bytes:
    r = job.transcript.records[record]
    body = bytes(job.transcript.raw[r.start : r.end])
    return body if body.endswith(b"\n") else body + b"\n"


def _line(job: _Job, piece: _Piece) -> bytes:
    if piece.spot is not None and not piece.changed and not piece.spot.path:
        return job.body(piece.spot.record)
    return dumps(piece.value)


def _metadata(job: _Job, new_id: str) -> dict[str, Any]:
    """What the log's patches say of the session besides its messages."""
    state: dict[str, Any] = {}
    for record in job.transcript.records:
        if record.kind == SET:
            state |= job.value(record.index)["$set"]
    if new_id and "sessionId" in state:
        state["sessionId"] = new_id
    return {k: v for k, v in state.items() if k not in ("messages", _mark.FIELD)}


def _renamed(body: bytes, new_id: str) -> bytes:
    if not new_id:
        return body
    editor = Editor(body.decode("utf-8", "surrogateescape"))
    editor.set(("sessionId",), new_id)
    return editor.text().encode("utf-8", "surrogateescape")


# -- documents ---------------------------------------------------------------------------------------------------


def _document(job: _Job, pieces: Sequence[_Piece], change: Compaction) -> bytes:
    """The document with another list; messages that did not change keep their text."""
    raw = job.transcript.raw
    record = job.transcript.records[-1]
    editor = Editor(bytes(raw[record.start : record.end]).decode("utf-8", "surrogateescape"))
    if change.new_id:
        editor.set(("sessionId",), change.new_id)
    stays: set[PathSteps] = set()
    for at, piece in enumerate(pieces):
        spot = piece.spot
        if spot is not None and not spot.answer:
            stays.add(spot.path)
            if piece.changed:
                editor.set(spot.path, piece.value)
            continue
        behind = next((p.spot.path[-1] for p in pieces[at + 1 :] if p.spot and not p.spot.answer), None)
        index = len(editor.children(("messages",))) if behind is None else int(behind)
        editor.insert(("messages",), index, piece.value)
    for i in editor.children(("messages",)):
        if ("messages", i) not in stays:
            editor.delete(("messages", i))
    return bytes(raw[: record.start]) + editor.text().encode("utf-8", "surrogateescape")


# -- growing -----------------------------------------------------------------------------------------------------


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on, each result once."""
    job = _job(grown, {})
    new = [m for m in job.session.messages[first_new:] if not m.abandoned]
    pieces = list(_pieces(job, new))
    if not pieces:
        return original
    text = original.removeprefix(BOM)
    if _is_document(text):
        editor = Editor(text.decode("utf-8", "surrogateescape"))
        count = len(editor.children(("messages",)))
        for piece in pieces:
            editor.insert(("messages",), count, piece.value)
        return original[: len(original) - len(text)] + editor.text().encode("utf-8", "surrogateescape")
    lines = b"".join(_line(job, p) + b"\n" for p in pieces)
    return original + (b"" if original.endswith(b"\n") or not original else b"\n") + lines


def _is_document(text: bytes) -> bool:
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("messages"), list)
