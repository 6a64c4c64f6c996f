"""Gemini CLI sessions (`~/.gemini/tmp/<project>/chats/session-*.jsonl`, before that one `.json` document).

A log is replayed into a list: a message with a known id replaces it, `{"$set": {"messages": […]}}` replaces the whole
list (so the tool writes a compaction, and the history again at each resume), `{"$rewindTo": id}` takes messages away.
What the list no longer holds is history that is not live. Notices, commands and the context that the tool writes
anew at each start are no messages: it does not send them again.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.formats import _gemini_read, _gemini_write
from compressor.formats._messages import is_list
from compressor.formats._pairs import check_pairs
from compressor.formats._records import UNREADABLE, Head, Source
from compressor.model import Compaction, Finding, Level, Place, Session, Transcript, Written

TITLE: Final = "Gemini CLI session (JSONL log, older JSON document)"
ORDER: Final = 30
APPENDS: Final = True


def sniff(head: Head) -> bool:
    """A document with the tool's header and messages, or a log that begins with its header or a patch of the list."""
    document = head.document
    if isinstance(document, dict) and {"sessionId", "projectHash", "messages"} <= document.keys():
        return document["messages"] == [] or is_list(document["messages"], _is_message)
    rows = [r for r in head.rows if isinstance(r, dict)]
    return any({"sessionId", "projectHash"} <= r.keys() or _patches(r) for r in rows[:3])


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str) and isinstance(value.get("type"), str)


def _patches(row: Mapping[str, Any]) -> bool:
    change = row.get("$set")
    return isinstance(change, dict) and is_list(change.get("messages"), _is_message)


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    return _gemini_read.read(source, options)


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    change = changes.get(0)
    return Written(bytes(transcript.raw)) if change is None else _gemini_write.write(transcript, change)


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10-E12, E15; W02."""
    session = transcript.sessions[0]
    for record in transcript.records:
        if record.kind == UNREADABLE:
            at = Place(transcript.path, record.line)
            yield Finding("W02", Level.WARNING, "line cannot be read, it is passed through", at=at)
    if transcript.dirt.get("no-final-newline") and not session.meta["document"]:
        # the tool's next append would be glued to the last record, and both be lost
        yield Finding("E01", Level.WARNING, "no newline after the last record", at=Place(transcript.path))
    yield from check_pairs(session, transcript.path, adjacent=True)
    yield from _check_copies(transcript, session)
    for line in session.meta["faulty"]:
        yield Finding("E10", Level.WARNING, "mark of a compaction cannot be read", at=Place(transcript.path, line))
    for name, line in session.meta["lost"]:
        text = "rewind to a message that is not in the list: the tool drops the whole list"
        yield Finding("E11", Level.WARNING, text, name, Place(transcript.path, line, name))
    ids = session.meta["ids"]
    if len(ids) > 1:
        fact = ", ".join(sorted(ids))
        yield Finding("E12", Level.WARNING, "records of several sessions", fact, Place(transcript.path))


def _check_copies(transcript: Transcript, session: Session) -> Iterator[Finding]:
    for message, call, line in session.meta["echoes"]:
        at = Place(transcript.path, line, message)
        yield Finding("E04", Level.WARNING, "tool result is recorded a second time", call, at)
    for message, call, line in session.meta["differ"]:
        at = Place(transcript.path, line, message)
        yield Finding("E15", Level.WARNING, "result beside the call differs from the answer to it", call, at)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original, grown by what the tool appended (see `compressor.formats`)."""
    return _gemini_write.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """The tool takes a session from any file, and goes on under a new id."""
    return f"gemini --session-file {shlex.quote(output)}" if transcript.sessions[0].id else ""
