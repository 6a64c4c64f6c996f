"""Codex CLI rollouts (`~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`), old files of bare items too.

The history that the tool sends when it resumes is the newest `compacted` record's `replacement_history` and the
`response_item` records after it. A compaction is such a record: it holds the kept items before the brief and the
brief; the kept items after it follow as the records that they were. The mark is a further field of its payload.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.formats import _codex_check, _codex_items, _codex_read, _codex_write
from compressor.formats._records import Head, Source, loads
from compressor.model import Compaction, Finding, Transcript, Written

TITLE: Final = "Codex CLI rollout (JSONL)"
ORDER: Final = 30
APPENDS: Final = True

_TYPES: Final = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record"}
)
_STAMP: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)")


def sniff(head: Head) -> bool:
    """A session's metadata first, two records of known types, or the bare items of an old file."""
    rows = [r for r in head.rows if isinstance(r, dict)]
    if not rows:
        return False
    wrapped = sum(r.get("type") in _TYPES and isinstance(r.get("payload"), dict) for r in rows if _named(r))
    if wrapped >= 2 or (wrapped and any(r.get("type") == "session_meta" for r in rows)):
        return True
    old = {"id", "timestamp", "instructions"} <= rows[0].keys()
    return old and any(_named(r) and r["type"] in _codex_items.ITEMS for r in rows[1:])


def _named(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("type"), str)


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    return _codex_read.read(source, options)


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    change = changes.get(0)
    if change is None:
        return Written(bytes(transcript.raw))
    return _codex_write.write(transcript, change)


def check(transcript: Transcript) -> Iterator[Finding]:
    """Integrity of a file (see `compressor.formats`)."""
    return _codex_check.check(transcript)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original, grown by what the tool appended (see `compressor.formats`)."""
    return _codex_write.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """Put the output where the tool looks for it, under the name it wants, and resume it there."""
    first = next((r for r in transcript.records if r.kind == "session_meta"), None)
    if first is None:
        return ""
    payload = loads(bytes(transcript.raw[first.start : first.end]).strip())["payload"]
    stamp = _STAMP.match(str(payload.get("timestamp")))
    session = transcript.sessions[0].id
    if stamp is None or not session:
        return ""
    year, month, day, *time = stamp.groups()
    name = f"{year}/{month}/{day}/rollout-{year}-{month}-{day}T{'-'.join(time)}-{session}.jsonl"
    place = f"~/.codex/sessions/{shlex.quote(name)}"
    folder = f"~/.codex/sessions/{year}/{month}/{day}"
    copy = f"mkdir -p {folder} && cp {shlex.quote(output)} {place}"
    return f"{copy} && codex resume {shlex.quote(session)}"
