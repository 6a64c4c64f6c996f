"""What is sent of an OpenCode export, and whether its ids, parents and compactions hold together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from compressor.formats import _mark
from compressor.formats._lists import Item
from compressor.formats._messages import State, name_of
from compressor.formats._opencode_ids import parts, ticks
from compressor.formats._pairs import Builder, check_pairs
from compressor.model import Finding, Level, Place, Transcript

#: How a cleared result begins.
_CLEARED: Final = "[cleared: "


@dataclass(frozen=True, slots=True)
class Info:
    """What a message says of itself."""

    id: str
    role: str
    parent: str | None
    created: Any
    summary: bool
    finish: bool
    provider: str
    model: str
    tail: str | None


def info_of(item: Any) -> Info | None:
    """What a message says of itself, if it is one."""
    info = item.get("info") if isinstance(item, dict) else None
    if not isinstance(info, dict):
        return None
    parent, time = info.get("parentID"), info.get("time")
    asks = next((p for p in parts(item) if p.get("type") == "compaction"), None)
    return Info(
        id=name_of(info.get("id")),
        role=name_of(info.get("role")),
        parent=parent if isinstance(parent, str) else None,
        created=time.get("created") if isinstance(time, dict) else None,
        summary=info.get("summary") is True,
        finish=bool(info.get("finish")) and not info.get("error"),
        provider=name_of(info.get("providerID")),
        model=name_of(info.get("modelID")),
        tail=None if asks is None else name_of(asks.get("tail_start_id")),
    )


def infos_of(items: Sequence[Any]) -> dict[int, Info]:
    """What the messages of a list say of themselves, by place."""
    return {i: info for i, item in enumerate(items) if (info := info_of(item)) is not None}


def finish(build: Builder, state: State) -> None:
    """Flag what the newest compaction cuts off, and note what is wrong."""
    items = state.thread.items
    infos = infos_of([item.value for item in items])
    start, tail = _cut(infos)
    for place, made in state.notes.pop("made", {}).items():
        if place < start and (tail is None or place < tail):
            for index in made:
                build.change(index, live=False)
    state.notes.pop("request", None)
    state.notes["faults"] = (*_of_messages(items, infos), *_of_parts(items, infos, state.thread.where.id))


def _cut(infos: Mapping[int, Info]) -> tuple[int, int | None]:
    """The place of the newest valid compaction, and that of the first message that it keeps before it."""
    start, tail = 0, None
    for request in _summaries(infos).values():
        named = infos[request].tail
        start, tail = request, next((p for p, i in infos.items() if named and i.id == named), None)
    return start, tail


def _summaries(infos: Mapping[int, Info]) -> dict[int, int]:
    """The summaries that the tool knows as such, with the requests for them."""
    requests: dict[str, int] = {}
    found = {}
    for place, info in infos.items():
        if info.tail is not None:
            requests[info.id] = place
        elif info.summary and info.finish and info.parent in requests:
            found[place] = requests[info.parent]
    return found


def _of_messages(items: Sequence[Item], infos: Mapping[int, Info]) -> Iterator[Finding]:
    """E04, E05, E10 and E16 of the messages."""
    ids = {info.id for info in infos.values()}
    answered = set(_summaries(infos).values())
    seen: set[str] = set()
    last = -1
    for place, info in infos.items():
        at = Place("", items[place].line, info.id)
        if info.id in seen:
            yield Finding("E04", Level.WARNING, "two messages have one id", info.id, at)
        seen.add(info.id)
        if info.role == "assistant" and info.parent not in ids:
            yield Finding("E05", Level.ERROR, "message answers one that is not in the file", info.parent or "", at)
        if info.tail is not None and place not in answered:
            text = "compaction without its summary: the tool sends the whole history"
            yield Finding("E10", Level.WARNING, text, info.id, at)
        if info.tail and info.tail not in ids:
            yield Finding(
                "E10", Level.ERROR, "compaction keeps from a message on that is not in the file", info.tail, at
            )
        number = ticks(info.id, None)
        if 0 < number < last:
            yield Finding("E16", Level.WARNING, "messages do not stand in the order of their ids", info.id, at)
        last = number or last


def _of_parts(items: Sequence[Item], infos: Mapping[int, Info], session: str) -> Iterator[Finding]:
    """E04, E10, E11, E12 and E15 of the parts."""
    seen: set[str] = set()
    strange: set[str] = set()
    for place, info in infos.items():
        at = Place("", items[place].line, info.id)
        strange.add(name_of(items[place].value["info"].get("sessionID")) or session)
        for part in parts(items[place].value):
            name = name_of(part.get("id"))
            if name and name in seen:
                yield Finding("E04", Level.WARNING, "two parts have one id", name, at)
            seen.add(name)
            if name_of(part.get("messageID")) not in ("", info.id):
                yield Finding("E11", Level.WARNING, "part belongs to another message", name, at)
            strange.add(name_of(part.get("sessionID")) or session)
            yield from (Finding(code, Level.WARNING, text, name, at) for code, text in _of_part(part))
    if strange - {session}:
        yield Finding("E12", Level.WARNING, "messages of another session", ", ".join(sorted(strange - {session})))


def _of_part(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    state, metadata = part.get("state"), part.get("metadata")
    if isinstance(metadata, dict) and _mark.FIELD in metadata and _mark.from_field(metadata[_mark.FIELD]) is None:
        yield "E10", "mark of a compaction cannot be read"
    output = state.get("output") if isinstance(state, dict) else None
    if isinstance(output, str) and output.startswith(_CLEARED) and isinstance(state, dict):
        shown = state.get("metadata")
        copy = shown.get("output") if isinstance(shown, dict) else None
        if isinstance(copy, str) and copy != output:
            yield "E15", "a cleared result stands whole in its copy"


def check(transcript: Transcript) -> Iterator[Finding]:
    """All findings of a file, without order."""
    for session in transcript.sessions:
        yield from check_pairs(session, transcript.path, unique=False)
        for fault in session.meta["faults"]:
            yield replace(fault, at=replace(fault.at, file=transcript.path))
