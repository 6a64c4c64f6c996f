"""Read Gemini CLI sessions: a log that is replayed into a list of messages, or one document with that list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from compressor.formats._gemini_log import LIVE, REWOUND, Entry, Log, kept_calls, kind_of, replay
from compressor.formats._gemini_parts import (
    answers,
    calls,
    holds_data,
    parts_of,
    put_answer,
    put_call,
    put_content,
    put_data,
    said,
    texts_of,
)
from compressor.formats._lists import DOCUMENT, Lines, load
from compressor.formats._messages import name_of, origin_of, time_of
from compressor.formats._pairs import Builder
from compressor.formats._records import BLANK, UNREADABLE, Source
from compressor.model import Origin, PathSteps, Record, Role, Session, Transcript

#: What the tool lets the model answer to a summary; it belongs to the summary.
THANKS: Final = "Got it. Thanks for the additional context!"
#: The tags of a summary; as parts of their own they stand around a brief.
OPENING, CLOSING = "<state_snapshot>\n", "\n</state_snapshot>"
#: How a text begins that the tool does not send again: commands, and what it writes anew at each start.
_IGNORED: Final = ("/", "?", "<session_context>", "<hook_context>")
_SUMMARY: Final = re.compile(r"\s*(?:<scratchpad>|<state_snapshot>)")


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a message of the session stands.

    Attributes:
        record: index of its record.
        path: to the entry of the tool's list.
        answer: the message is the results that the entry keeps with its calls.
    """

    record: int
    path: PathSteps
    answer: bool = False


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`); there are no options."""
    file = load(source)
    log = Log()
    records = []
    for record, value in zip(file.records, file.values, strict=True):
        kind = record.kind if record.kind in (BLANK, UNREADABLE) else kind_of(value)
        records.append(Record(record.index, record.line, record.start, record.end, kind))
        replay(value, kind, Lines(source.raw, record), log)
    session = _session(log, document=any(r.kind == DOCUMENT for r in records))
    return Transcript(source.path, "gemini-cli", source.raw, tuple(records), (session,), file.dirt)


# -- messages ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reading:
    """The session while its messages are put together.

    Attributes:
        answered: by call id, the texts of the answer that has an entry of its own.
        spots: place of each message.
        thanks: the summary's thanks, by index of the summary.
        echoes: answers that stand a second time (message, call id, line).
        differ: calls whose two answers differ (call id, line).
        opening: the entry with the tool's own context, which stands first.
    """

    build: Builder = field(default_factory=Builder)
    answered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    given: Counter[tuple[str, str]] = field(default_factory=Counter)
    spots: list[Spot] = field(default_factory=list)
    thanks: dict[int, Spot] = field(default_factory=dict)
    echoes: list[tuple[str, str, int]] = field(default_factory=list)
    differ: list[tuple[str, str, int]] = field(default_factory=list)
    opening: Spot | None = None
    summary: int = -1


def _session(log: Log, *, document: bool) -> Session:
    reading = _Reading()
    for entry in log.order:
        for _, answer in answers(entry.value.get("content")):
            reading.answered.setdefault(name_of(answer.get("id")), texts_of(answer))
    for entry in log.order:
        _message(entry, reading)
    session = reading.build.session(next(iter(log.ids), ""))
    brief, mark = -1, None
    known = {m.id: m.index for m in session.messages}
    for name, found, _ in log.marks:
        if found is not None and name in known:
            brief, mark = known[name], found
    if mark is not None:
        reading.build.change(brief, generation=mark.generation, origin=Origin.HARNESS)
    meta = {
        "spots": tuple(reading.spots),
        "thanks": reading.thanks,
        "opening": reading.opening,
        "echoes": tuple(reading.echoes),
        "differ": tuple(reading.differ),
        "lost": tuple(log.lost),
        "faulty": tuple(line for _, found, line in log.marks if found is None),
        "ids": tuple(log.ids),
        "document": document,
    }
    return reading.build.session(session.id, brief=brief, mark=mark, meta=meta)


def _message(entry: Entry, reading: _Reading) -> None:
    kind, content = entry.value.get("type"), entry.value.get("content")
    summary, reading.summary = reading.summary, -1
    if kind == "user":
        if any(True for _ in answers(content)):
            _results(entry, reading)
        elif said(content).lstrip().startswith(_IGNORED):
            if not reading.spots and reading.opening is None and entry.state == LIVE:
                reading.opening = Spot(entry.record, entry.path)
        else:
            _request(entry, reading)
    elif kind == "gemini":
        if summary >= 0 and said(content) == THANKS:
            reading.thanks[summary] = Spot(entry.record, entry.path)
        else:
            _answer(entry, reading)


def _start(entry: Entry, reading: _Reading, role: Role, origin: Origin, suffix: str = "", **flags: Any) -> None:
    reading.build.start(
        record=entry.record,
        line=entry.line,
        role=role,
        origin=origin,
        id=f"{entry.id}{suffix}" if entry.id else "",
        **({"group": entry.id} if entry.id else {}),
        live=entry.state == LIVE,
        abandoned=entry.state == REWOUND,
        time=time_of(entry.value.get("timestamp")),
        **flags,
    )
    reading.spots.append(Spot(entry.record, entry.path, suffix == "_response"))


def _request(entry: Entry, reading: _Reading) -> None:
    content = entry.value.get("content")
    text = said(content)
    if _SUMMARY.match(text) and "<state_snapshot>" in text:
        reading.summary = len(reading.spots)
        _start(entry, reading, Role.USER, Origin.HARNESS, generation=1)
        put_content(reading.build, (*entry.path, "content"), content, skip=_is_tag)
        return
    _start(entry, reading, Role.USER, origin_of(Role.USER, text))
    put_content(reading.build, (*entry.path, "content"), content)


def _is_tag(part: Any) -> bool:
    return isinstance(part, dict) and part.get("text") in (OPENING, CLOSING)


def _results(entry: Entry, reading: _Reading) -> None:
    """The answers of an entry; texts beside them are another voice, data belongs to the answers."""
    content = entry.value.get("content")
    found = list(answers(content))
    fresh = [(i, a) for i, a in found if not _is_echo(entry, a, reading)]
    if not fresh:
        return
    _start(entry, reading, Role.TOOL, Origin.TOOL)
    path = (*entry.path, "content")
    whole = isinstance(content, dict)
    put = dict(fresh)
    for i, part in enumerate(parts_of(content)):
        place = path if whole else (*path, i)
        if i in put:
            put_answer(reading.build, (*place, "functionResponse"), put[i])
        elif holds_data(part):
            put_data(reading.build, place, part)
    if said(content):
        _start(entry, reading, Role.USER, origin_of(Role.USER, said(content)), "#text")
        put_content(reading.build, path, content, skip=holds_data)


def _is_echo(entry: Entry, answer: Mapping[str, Any], reading: _Reading) -> bool:
    """Whether the answer stood before: the tool writes it a second time when it resumes."""
    key = (entry.state, name_of(answer.get("id")))
    reading.given[key] += bool(key[1])
    if reading.given[key] < 2:
        return False
    reading.echoes.append((entry.id, key[1], entry.line))
    return True


def _answer(entry: Entry, reading: _Reading) -> None:
    """The model's own message, and the results of its calls if they have no entry of their own."""
    value, build = entry.value, reading.build
    _start(entry, reading, Role.ASSISTANT, Origin.AGENT)
    thoughts = value.get("thoughts")
    for i, thought in enumerate(thoughts if isinstance(thoughts, list) else ()):
        for key in ("subject", "description"):
            if isinstance(thought, dict) and isinstance(thought.get(key), str) and thought[key]:
                build.thinking((*entry.path, "thoughts", i, key), thought[key])
    content = value.get("content")
    put_content(build, (*entry.path, "content"), content)
    known = {name_of(c.get("id")) for c in calls(content)}
    for i, call in enumerate(value["toolCalls"] if kept_calls(value) else ()):
        if isinstance(call, dict) and name_of(call.get("id")) not in known:
            put_call(build, (*entry.path, "toolCalls", i), call)
    _kept_results(entry, reading)


def _kept_results(entry: Entry, reading: _Reading) -> None:
    """The results inside an entry: results of their own where no other entry answers the calls."""
    begun = False
    for i, call in enumerate(entry.value["toolCalls"] if kept_calls(entry.value) else ()):
        result = call.get("result") if isinstance(call, dict) else None
        if result in (None, []):
            continue
        name = name_of(call.get("id"))
        if name in reading.answered:
            _compare(entry, name, result, reading)
            continue
        if not begun:
            begun = True
            _start(entry, reading, Role.TOOL, Origin.TOOL, "_response")
        _put_result(reading.build, (*entry.path, "toolCalls", i, "result"), call, result)


def _put_result(build: Builder, at: PathSteps, call: Mapping[str, Any], result: Any) -> None:
    error = call.get("status") in ("error", "cancelled")
    if isinstance(result, str):
        build.result(name_of(call.get("id")), name=name_of(call.get("name")), error=error)
        build.output(at, result)
        return
    for j, part in enumerate(parts_of(result)):
        place = at if isinstance(result, dict) else (*at, j)
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("functionResponse"), dict):
            put_answer(
                build, (*place, "functionResponse"), {"id": call.get("id"), **part["functionResponse"]}, error=error
            )
        elif holds_data(part):
            put_data(build, place, part)


def _compare(entry: Entry, id: str, result: Any, reading: _Reading) -> None:
    """Whether the result beside a call says what the answer's own entry says."""
    inner = {name_of(a.get("id")): texts_of(a) for _, a in answers(result)}
    if id in inner and inner[id] != reading.answered[id]:
        reading.differ.append((entry.id, id, entry.line))
