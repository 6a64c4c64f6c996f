"""Read Codex rollouts: which items the history holds, and which of them the tool would send now.

A `compacted` record replaces the history by its own list of items. What stands before it stays part of the
logical history, but is not live; an item of the list that repeats an earlier one is that one, live again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from compressor.formats import _mark
from compressor.formats._codex_items import Place, start_item, text_of_item, who
from compressor.formats._pairs import Builder
from compressor.formats._records import BLANK, UNREADABLE, Dirt, Source, split
from compressor.model import Mark, Origin, Record, Role, Session, Transcript

#: Where our mark lies in a `compacted` payload.
MARK_KEY: Final = "transcript_compressor"
MARK_FIELDS: Final = ("options", "tokens", "generation", "archive", "messages", "digest")
HISTORY: Final = "replacement_history"
_LEGACY: Final = "legacy"


@dataclass(slots=True)
class _State:
    build: Builder = field(default_factory=Builder)
    places: list[Place] = field(default_factory=list)
    live: list[bool] = field(default_factory=list)
    abandoned: list[bool] = field(default_factory=list)
    typed: list[int] = field(default_factory=list)
    thoughts: list[int] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    mark: Mark | None = None
    brief: int = -1
    text_marks: dict[int, Mark] = field(default_factory=dict)
    faults: list[tuple[str, int]] = field(default_factory=list)
    ordinals: list[tuple[int, int | None]] = field(default_factory=list)
    legacy: bool = False
    paginated: bool = False
    compacted: int = -1


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`); there are no options."""
    dirt = Dirt()
    records: list[Record] = []
    state = _State()
    for raw in split(source.raw, dirt):
        value = raw.value if isinstance(raw.value, dict) else {}
        kind = raw.kind or _kind(value)
        records.append(Record(len(records), raw.line, raw.start, raw.end, kind))
        if kind not in (UNREADABLE, BLANK):
            _take(value, kind, records[-1], state)
    return Transcript(source.path, "codex", source.raw, tuple(records), (_finish(state),), dict(dirt.counts))


def _kind(value: Mapping[str, Any]) -> str:
    kind, payload = value.get("type"), value.get("payload")
    if isinstance(kind, str) and isinstance(payload, dict):
        sub = payload.get("type")
        return f"{kind}/{sub}" if kind in ("event_msg", "response_item") and isinstance(sub, str) else kind
    if isinstance(kind, str):
        return f"{_LEGACY}/{kind}"
    return f"{_LEGACY}/session_meta" if "instructions" in value and "id" in value else "other"


def _take(value: dict[str, Any], kind: str, record: Record, state: _State) -> None:
    payload = value.get("payload")
    ordinal = value.get("ordinal")
    state.ordinals.append((record.index, ordinal if type(ordinal) is int else None))
    time = value.get("timestamp")
    stamp = time if isinstance(time, str) else ""
    if kind.startswith(_LEGACY):
        state.legacy = True
        if kind.endswith("/session_meta"):
            state.ids.append(str(value.get("id")))
        else:
            _item(value, Place(record.index, ()), record.line, stamp, state)
    elif not isinstance(payload, dict):
        return
    elif kind == "session_meta":
        state.ids.append(str(payload.get("id")))
        state.paginated = state.paginated or payload.get("history_mode") == "paginated"
    elif kind.startswith("response_item"):
        index = _item(payload, Place(record.index, ("payload",)), record.line, stamp, state)
        metadata = value.get("metadata")
        if index >= 0 and isinstance(metadata, dict) and metadata.get("compaction_output") is True:
            state.build.change(index, generation=1)
    elif kind == "compacted":
        _compacted(payload, record, stamp, state)
    elif kind == "event_msg/thread_rolled_back":
        _roll_back(payload.get("num_turns"), state)


# -- items -------------------------------------------------------------------------------------------------------


def _item(item: dict[str, Any], place: Place, line: int, time: str, state: _State) -> int:
    """Add one item of the history; -1 if it is none that a model reads."""
    index = start_item(item, place, line, time, state.build)
    if index < 0:
        return -1
    state.places.append(place)
    state.live.append(True)
    state.abandoned.append(False)
    kind = item.get("type")
    if kind == "reasoning":
        state.thoughts.append(index)
        return index
    if kind == "message" and item.get("role") == "user" and who(item) is Origin.PERSON:
        state.typed.append(index)
    if state.thoughts:
        # a thought and the item that it led to are one: neither is accepted without the other
        led_to = kind != "message" or item.get("role") == "assistant"
        for thought in state.thoughts:
            if led_to:
                state.build.change(thought, group=f"#{index}")
            else:
                state.alone.append(thought)
        state.thoughts.clear()
    if place.base == () and kind == "message":
        text = text_of_item(item)
        mark = _mark.split(text)[1]
        if mark is not None:
            state.text_marks[index] = mark
    return index


# -- what changes the history ------------------------------------------------------------------------------------


def _compacted(payload: dict[str, Any], record: Record, time: str, state: _State) -> None:
    items = payload.get(HISTORY)
    fault = _fault(payload)
    if fault:
        state.faults.append((fault, record.index))
        return
    state.compacted = record.index
    state.alone += state.thoughts
    state.thoughts.clear()
    state.live = [False] * len(state.live)
    if not isinstance(items, list):
        for index in state.typed:
            state.live[index] = not state.abandoned[index]
        _summary(payload, record, time, state)
        return
    mark, brief = _marked(payload)
    earlier = _by_content(state)
    found: dict[int, int] = {}
    for i, item in enumerate(items):
        if isinstance(item, dict):
            place = Place(record.index, ("payload", HISTORY, i))
            found[i] = _again(item, place, earlier, state)
            if found[i] < 0:
                found[i] = _item(item, place, record.line, time, state)
    if mark is not None:
        state.mark, state.brief = mark, found.get(brief, -1)
        if state.brief >= 0:
            state.build.change(state.brief, generation=mark.generation, origin=Origin.HARNESS)


def _fault(payload: Mapping[str, Any]) -> str:
    """Why the tool passes over a `compacted` record in silence, or ""."""
    if not isinstance(payload.get("message"), str):
        return "compacted record without a message, the tool ignores it"
    items, metadata = payload.get(HISTORY), payload.get(f"{HISTORY}_metadata")
    if (
        isinstance(items, list)
        and metadata is not None
        and (not isinstance(metadata, list) or len(metadata) != len(items))
    ):
        return "compacted record whose lists differ in length, the tool ignores it"
    return ""


def _marked(payload: Mapping[str, Any]) -> tuple[Mark | None, int]:
    fields = payload.get(MARK_KEY)
    if not isinstance(fields, dict):
        return None, -1
    item = fields.get("item")
    return _mark.from_fields([fields.get(k) for k in MARK_FIELDS]), item if type(item) is int else -1


def _summary(payload: Mapping[str, Any], record: Record, time: str, state: _State) -> None:
    """The oldest form of a compaction: the summary is the record's own message."""
    state.build.start(
        record=record.index, line=record.line, role=Role.USER, origin=Origin.HARNESS, time=time, generation=1
    )
    state.build.text(("payload", "message"), payload["message"])
    state.places.append(Place(record.index, ("payload", "message")))
    state.live.append(True)
    state.abandoned.append(False)


def _by_content(state: _State) -> defaultdict[tuple[object, ...], list[int]]:
    found: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for index in range(len(state.build)):
        if not state.abandoned[index]:
            found[state.build.content(index)].append(index)
    return found


def _again(item: dict[str, Any], place: Place, earlier: dict[tuple[object, ...], list[int]], state: _State) -> int:
    """The latest earlier message that an item repeats, live again; -1 if there is none."""
    scratch = Builder()
    if start_item(item, place, 0, "", scratch) < 0:
        return -1
    waiting = earlier.get(scratch.content(0))
    if not waiting:
        return -1
    index = waiting.pop()
    state.live[index] = True
    return index


def _roll_back(turns: Any, state: _State) -> None:
    """The last `turns` live requests and all after them were taken back."""
    open_turns = [i for i in state.typed if state.live[i]]
    if type(turns) is not int or turns <= 0 or not open_turns:
        return
    first = open_turns[max(0, len(open_turns) - turns)]
    for index in range(first, len(state.live)):
        if state.live[index]:
            state.live[index], state.abandoned[index] = False, True


def _finish(state: _State) -> Session:
    for index, (live, abandoned) in enumerate(zip(state.live, state.abandoned, strict=True)):
        if not live or abandoned:
            state.build.change(index, live=live, abandoned=abandoned)
    meta = {
        "places": tuple(state.places),
        "faults": tuple(state.faults),
        "ordinals": tuple(state.ordinals),
        "alone": tuple(state.alone + state.thoughts),
        "legacy": state.legacy,
        "paginated": state.paginated,
        "compacted": state.compacted,
    }
    mark, brief = state.mark, state.brief
    name = state.ids[0] if state.ids else ""
    if state.text_marks and mark is None:
        session = state.build.session(name)
        brief = _mark.choose(session, state.text_marks)
        mark = state.text_marks[brief]
        state.build.change(brief, generation=mark.generation, origin=Origin.HARNESS)
    return state.build.session(name, brief=brief, mark=mark, meta=meta)
