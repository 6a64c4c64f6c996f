"""The laws that every reader and writer of an agent's session files keeps, and a rough compaction to try them on."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from compressor import plugins
from compressor.formats._records import Source
from compressor.model import (
    Compaction,
    Mark,
    Message,
    Origin,
    PartType,
    Role,
    Session,
    Transcript,
    digest_messages,
)
from compressor.reading import open_source, read

FIXTURES = Path(__file__).parents[2] / "fixtures"
BRIEF = "# Handover\n\nGoal: mend the parser. Decision: keep the grammar, because two tools read it.\n未完成:测试"
MARK = Mark("0f" * 8, 1234, 1, "0" * 64, 0, "cd" * 8)


def corpus(*folders: str) -> list[Path]:
    """The real transcripts below `COMPRESS_CORPUS`, if it is set."""
    root = os.environ.get("COMPRESS_CORPUS")
    if not root:
        return []
    return sorted(p for f in folders for p in (Path(root) / f).rglob("*") if p.is_file())


def fixtures(*patterns: str) -> list[Path]:
    found = sorted(p for pattern in patterns for p in FIXTURES.glob(pattern))
    return [p for p in found if ".expected." not in p.name and ".report." not in p.name]


def name(path: Path) -> str:
    return "/".join(path.parts[-4:])


def whole(session: Session, dropped: set[int]) -> frozenset[int]:
    """`dropped` grown until calls, results and the records of one API message leave together."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for m in session.messages:
        groups[m.group].append(m.index)
    near: defaultdict[int, set[int]] = defaultdict(set)
    for call in session.calls:
        ends = {i for i in (call.message, *call.results) if i >= 0}
        for i in ends:
            near[i] |= ends
    gone: set[int] = set()
    queue = list(dropped)
    while queue:
        index = queue.pop()
        if index not in gone:
            gone.add(index)
            queue += groups[session.messages[index].group] + list(near[index])
    return frozenset(gone)


def compaction(session: Session, *, brief: str = BRIEF, new_id: str = "") -> Compaction:
    """Of what stands between the first request and the last 20 messages every 7th group stays, with its results cleared."""
    typed = [m.index for m in session.messages if m.origin is Origin.PERSON and m.role is Role.USER]
    first = typed[0] if typed else 0
    tail = max(len(session.messages) - 20, first + 1)
    keys = list(dict.fromkeys(m.group for m in session.messages))
    seventh = set(keys[::7])
    middle = {m.index for m in session.messages[first + 1 : tail] if m.group not in seventh or m.generation}
    gone = {m.index for m in session.messages if m.abandoned} | {m.index for m in session.messages if m.generation}
    keep = {m.index for m in session.messages if m.opaque}
    dropped = frozenset(whole(session, middle | gone) - keep)
    texts = {
        p.ordinal: f"[cleared: {p.name or 'tool'}, {len(p.text):,} characters]"
        for p in session.parts
        if p.message < tail and p.message not in dropped and p.type in (PartType.TOOL_RESULT, PartType.IMAGE)
    }
    at = next((i for i in range(first + 1, len(session.messages)) if i not in dropped), len(session.messages))
    return Compaction(session, texts, dropped, brief, at, MARK, new_id)


def kept(change: Compaction) -> list[Message]:
    """The messages that a compaction leaves, with their new texts."""
    out = []
    for m in change.session.messages:
        if m.index in change.dropped:
            continue
        parts = tuple(
            replace(
                p,
                text=change.texts.get(p.ordinal, p.text),
                type=PartType.TEXT if p.type is PartType.IMAGE and p.ordinal in change.texts else p.type,
            )
            for p in m.parts
        )
        out.append(replace(m, parts=parts))
    return out


def assert_unchanged(transcript: Transcript) -> None:
    """No change, no byte; and the records are the file."""
    raw = bytes(transcript.raw)
    module = plugins.load("formats", transcript.format)
    assert module.write(transcript, {}).data == raw
    assert b"".join(raw[r.start : r.end] for r in transcript.records) == raw
    for session in transcript.sessions:
        assert [p.ordinal for p in session.parts] == list(range(len(session.parts)))
        assert [m.index for m in session.messages] == list(range(len(session.messages)))


def texts(message: Message) -> list[tuple[str, str]]:
    # a text in a picture's place may read back as a result's text
    return [("visible" if p.type is not PartType.THINKING else "thinking", p.text) for p in message.parts]


def findings(transcript: Transcript) -> set[tuple[str, str, str]]:
    module = plugins.load("formats", transcript.format)
    return {(f.check, f.message, f.fact) for f in module.check(transcript)}


def rewrite(transcript: Transcript, change: Compaction) -> Transcript:
    """What a reader finds in the compaction's bytes."""
    module = plugins.load("formats", transcript.format)
    data = module.write(transcript, {0: change}).data
    return read(Source("written", data), format=transcript.format)


def assert_compacted(transcript: Transcript, change: Compaction) -> Transcript:
    """The compaction reads back whole, and is no less valid than the original."""
    out = rewrite(transcript, change)
    session = out.sessions[0]
    assert session.brief >= 0
    brief = session.messages[session.brief]
    assert brief.live
    assert brief.generation == change.mark.generation
    assert session.mark is not None
    # the writer may complete the count and the digest, nothing else
    assert replace(session.mark, messages=0, digest="") == replace(change.mark, messages=0, digest="")
    assert [p.text for p in brief.parts] == [change.brief]
    expected = kept(change)
    found = [m for m in session.messages if m.index != session.brief]
    assert [texts(m) for m in found] == [texts(m) for m in expected]
    assert [m.role for m in found] == [m.role for m in expected]
    assert all(m.live or m.sidechain for m in session.messages)
    assert not any(m.abandoned for m in found)
    assert findings(out) <= findings(transcript)
    again = read(Source("written", bytes(out.raw)), format=transcript.format)
    assert digest_messages(again.sessions[0].messages) == digest_messages(session.messages)
    return out


def load(path: Path) -> Transcript:
    return read(open_source(path))


def invalid(transcript: Transcript) -> set[str]:
    """What the format's schema says against the records, as words without places."""
    import json

    from jsonschema import Draft202012Validator

    from compressor.data import resource
    from compressor.formats._records import loads

    schema = json.loads(resource(f"schemas/{transcript.format}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    found = set()
    for record in transcript.records:
        if record.kind not in ("blank", "unreadable", "other"):
            value = loads(bytes(transcript.raw[record.start : record.end]).strip())
            found.update(f"{record.kind}: {e.message[:200]}" for e in validator.iter_errors(value))
    return found
