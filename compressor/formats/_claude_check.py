"""Integrity of Claude Code files: pairs, the chain of parents, the compaction's records, references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from compressor.formats._claude_chain import BOUNDARY, Chain
from compressor.formats._pairs import check_pairs, place
from compressor.formats._records import UNREADABLE
from compressor.model import Finding, Level, Place, Session, Transcript


def check(transcript: Transcript) -> Iterator[Finding]:
    """All findings of a file, without order."""
    session = transcript.sessions[0]
    yield from _check_bytes(transcript)
    yield from check_pairs(session, transcript.path)
    if session.meta["document"]:
        return
    yield from _check_parents(transcript, session)
    yield from _check_boundaries(transcript, session)
    yield from _check_references(transcript, session)
    for index in session.meta["stale"]:
        message = session.messages[index]
        yield Finding(
            "E15",
            Level.WARNING,
            "a cleared result stands whole in its copy",
            message.id,
            place(transcript.path, message),
        )
    ids = session.meta["ids"]
    if len(ids) > 1:
        fact = ", ".join(sorted(ids))
        yield Finding("E12", Level.WARNING, "records of several sessions", fact, Place(transcript.path))


def _check_bytes(transcript: Transcript) -> Iterator[Finding]:
    for record in transcript.records:
        if record.kind == UNREADABLE:
            at = Place(transcript.path, record.line)
            yield Finding("W02", Level.WARNING, "line cannot be read, it is passed through", at=at)
    if transcript.dirt.get("no-final-newline") and not transcript.sessions[0].meta["document"]:
        # the tool's next append would be glued to the last record, and both be lost
        yield Finding("E01", Level.WARNING, "no newline after the last record", at=Place(transcript.path))


def _check_parents(transcript: Transcript, session: Session) -> Iterator[Finding]:
    chain: Chain = session.meta["chain"]
    everywhere = {n.uuid for n in chain.nodes}
    seen: Counter[str] = Counter()
    for node in chain.nodes:
        at = Place(transcript.path, transcript.records[node.record].line, node.uuid)
        if node.parent is not None and node.parent not in everywhere:
            yield Finding("E05", Level.ERROR, "parent is not in the file", node.uuid, at)
        elif node.parent is not None and node.parent not in seen:
            yield Finding("E05", Level.ERROR, "parent stands behind its child", node.uuid, at)
        if seen[node.uuid] == 1:
            yield Finding("E05", Level.ERROR, "two records have one uuid", node.uuid, at)
        seen[node.uuid] += 1


def _check_boundaries(transcript: Transcript, session: Session) -> Iterator[Finding]:
    """E10: a boundary is followed by its summary, with nothing between them but attachments."""
    chain: Chain = session.meta["chain"]
    for i, node in enumerate(chain.nodes):
        if node.kind != BOUNDARY:
            continue
        later = (n for n in chain.nodes[i + 1 :] if not n.kind.startswith("attachment"))
        summary = next(later, None)
        if summary is None or not summary.summary:
            at = Place(transcript.path, transcript.records[node.record].line, node.uuid)
            yield Finding("E10", Level.ERROR, "compaction boundary without its summary", node.uuid, at)


def _check_references(transcript: Transcript, session: Session) -> Iterator[Finding]:
    """E11: records and fields that speak of another record."""
    chain: Chain = session.meta["chain"]
    known = {n.uuid for n in chain.nodes}
    for what, uuid, record in session.meta["refs"]:
        if uuid not in known:
            at = Place(transcript.path, transcript.records[record].line)
            yield Finding("E11", Level.WARNING, f"{what} names a record that is not in the file", uuid, at)
