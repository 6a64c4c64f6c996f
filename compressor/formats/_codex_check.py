"""Integrity of Codex rollouts: pairs, thoughts, the compaction's record, ordinals, identity."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from compressor.formats._pairs import check_pairs, place
from compressor.formats._records import BLANK, UNREADABLE
from compressor.model import Finding, Level, Place, Session, Transcript


def check(transcript: Transcript) -> Iterator[Finding]:
    """All findings of a file, without order."""
    session = transcript.sessions[0]
    yield from _check_bytes(transcript, session)
    yield from check_pairs(session, transcript.path)
    for index in session.meta["alone"]:
        message = session.messages[index]
        # its words make the finding the same one when the file has been rewritten
        fact = message.parts[0].text[:80] if message.parts else ""
        at = place(transcript.path, message)
        yield Finding("E09", Level.WARNING, "reasoning without the item that it led to", fact, at)
    for fault, record in session.meta["faults"]:
        at = Place(transcript.path, transcript.records[record].line)
        yield Finding("E10", Level.ERROR, fault, at=at)
    yield from _check_context(transcript, session)
    yield from _check_ordinals(transcript, session)


def _check_bytes(transcript: Transcript, session: Session) -> Iterator[Finding]:
    first = next((r for r in transcript.records if r.kind not in (BLANK, UNREADABLE)), None)
    if first is not None and not first.kind.endswith("session_meta"):
        at = Place(transcript.path, first.line)
        yield Finding(
            "E12", Level.ERROR, "the first record is not the session's metadata, the tool refuses the file", at=at
        )
    for record in transcript.records:
        if record.kind == UNREADABLE:
            at = Place(transcript.path, record.line)
            yield Finding("W02", Level.WARNING, "line cannot be read, it is passed through", at=at)
    if transcript.dirt.get("no-final-newline"):
        # the tool's next append would be glued to the last record, and both be lost
        yield Finding("E01", Level.WARNING, "no newline after the last record", at=Place(transcript.path))


def _check_context(transcript: Transcript, session: Session) -> Iterator[Finding]:
    """E10: after a compaction the tool looks for the turn's settings."""
    compacted = session.meta["compacted"]
    if compacted >= 0 and not any(r.kind == "turn_context" for r in transcript.records[compacted + 1 :]):
        at = Place(transcript.path, transcript.records[compacted].line)
        yield Finding("E10", Level.WARNING, "no turn_context after the compaction", at=at)


def _check_ordinals(transcript: Transcript, session: Session) -> Iterator[Finding]:
    """E16: in a file that counts its records every record has a number, and numbers grow."""
    counted = [(record, ordinal) for record, ordinal in session.meta["ordinals"] if ordinal is not None]
    if counted and session.meta["paginated"]:
        for record, ordinal in session.meta["ordinals"]:
            if ordinal is None:
                at = Place(transcript.path, transcript.records[record].line)
                yield Finding("E16", Level.ERROR, "record without an ordinal", at=at)
    for (_, before), (record, ordinal) in pairwise(counted):
        if ordinal <= before:
            at = Place(transcript.path, transcript.records[record].line)
            yield Finding("E16", Level.ERROR, "ordinal does not grow", at=at)
