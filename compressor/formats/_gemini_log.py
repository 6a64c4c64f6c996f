"""Replay the log of a Gemini CLI session into the tool's list of messages, and what the list once held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from compressor.formats import _mark
from compressor.formats._gemini_parts import answers, calls, said
from compressor.formats._lists import DOCUMENT, Lines
from compressor.formats._messages import name_of, word
from compressor.model import Mark, PathSteps

#: The kinds of the log's lines.
HEADER, MESSAGE, SET, REWIND = "header", "message", "set", "rewind"
#: Whether a message is in the list, was replaced by a compaction, or was taken back.
LIVE, PAST, REWOUND = "live", "past", "rewound"


@dataclass(slots=True)
class Entry:
    """A message of the tool's list: where its newest version stands, and whether it is still in the list."""

    id: str
    value: Mapping[str, Any]
    record: int
    path: PathSteps
    line: int
    state: str = LIVE


@dataclass(slots=True)
class Log:
    """The replay: all entries in the order of the history, those of the list by id."""

    order: list[Entry] = field(default_factory=list)
    present: dict[str, Entry] = field(default_factory=dict)
    marks: list[tuple[str, Mark | None, int]] = field(default_factory=list)
    ids: dict[str, None] = field(default_factory=dict)
    lost: list[tuple[str, int]] = field(default_factory=list)

    def put(self, entry: Entry) -> None:
        """A message: new, or a new version of one that is in the list."""
        known = self.present.get(entry.id)
        if known is None:
            self.order.append(entry)
            self.present[entry.id] = entry
        else:
            known.value, known.record, known.path, known.line = entry.value, entry.record, entry.path, entry.line

    def rewind(self, id: str, line: int) -> None:
        """The message of this id and all after it leave; of an unknown id: all."""
        names = list(self.present)
        if id not in self.present:
            self.lost.append((id, line))
        for name in names[names.index(id) if id in self.present else 0 :]:
            self.present.pop(name).state = REWOUND

    def restate(self, entries: list[Entry]) -> None:
        """A whole list takes the place of the list: of what it tells again the new version counts, the rest is past.

        When it resumes the tool first empties the list, and then tells all of it again: so what is past counts, too.
        """
        again = self._told_again(entries)
        self.order = [e for i, e in enumerate(self.order) if i not in again]
        for entry in self.present.values():
            entry.state = PAST
        self.present = {}
        for entry in entries:
            self.put(entry)

    def _told_again(self, entries: list[Entry]) -> set[int]:
        """Places in the history of what stands among `entries`, under the same id or another."""
        named: dict[str, int] = {}
        known: defaultdict[object, list[int]] = defaultdict(list)
        # what is in the list is looked at before what was
        for i, entry in sorted(enumerate(self.order), key=lambda pair: pair[1].state != LIVE):
            named.setdefault(entry.id, i)
            known[_content(entry.value)].append(i)
        again = {named[e.id] for e in entries if e.id in named}
        for entry in entries:
            if entry.id not in named:
                same = (i for i in known[_content(entry.value)] if i not in again)
                again.update([i for i in (next(same, -1),) if i >= 0])
        return again


def _content(value: Mapping[str, Any]) -> object:
    """What a message is known by under another id: its calls, its answers, else its words."""
    content = value.get("content")
    named = [name_of(c.get("id")) for c in (*calls(content), *kept_calls(value))]
    named += [name_of(a.get("id")) for _, a in answers(content)]
    return (word(value, "type"), tuple(dict.fromkeys(named)) or said(content))


def kept_calls(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = value.get("toolCalls")
    return [c for c in found if isinstance(c, dict)] if isinstance(found, list) else []


def kind_of(value: Any) -> str:
    """What a record is, in the order in which the tool asks."""
    if not isinstance(value, dict):
        return "other"
    if isinstance(value.get("$rewindTo"), str):
        return REWIND
    if isinstance(value.get("id"), str):
        return MESSAGE
    if isinstance(value.get("$set"), dict):
        return SET
    if isinstance(value.get("sessionId"), str):
        return DOCUMENT if isinstance(value.get("messages"), list) else HEADER
    return "other"


def replay(value: Any, kind: str, lines: Lines, log: Log) -> None:
    record = lines.record
    if kind == REWIND:
        log.rewind(value["$rewindTo"], record.line)
    elif kind == MESSAGE:
        log.put(Entry(value["id"], value, record.index, (), record.line))
    elif kind in (HEADER, DOCUMENT):
        log.ids.setdefault(value["sessionId"])
        entries = list(_entries(value.get("messages"), ("messages",), lines))
        for entry in entries:
            log.put(entry)
        _note_marks(entries, log)
    elif kind == SET:
        change = value["$set"]
        if isinstance(change.get("messages"), list):
            entries = list(_entries(change["messages"], ("$set", "messages"), lines))
            log.restate(entries)
            _note_marks(entries, log)
        _note_mark(change, "", record.line, log)


def _note_marks(entries: Iterable[Entry], log: Log) -> None:
    for entry in entries:
        _note_mark(entry.value, entry.id, entry.line, log)


def _note_mark(value: Mapping[str, Any], id: str, line: int, log: Log) -> None:
    """A mark stands in the log's metadata, with the brief's id, or in the brief's own message."""
    found = value.get(_mark.FIELD)
    if found is not None:
        brief = name_of(found.get("brief")) if isinstance(found, dict) else ""
        log.marks.append((id or brief, _mark.from_field(found), line))


def _entries(values: Any, path: PathSteps, lines: Lines) -> Iterator[Entry]:
    for i, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            place = (*path, i)
            yield Entry(value["id"], value, lines.record.index, place, lines.of(place))
