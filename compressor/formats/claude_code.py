"""Claude Code session files (`~/.claude/projects/<folder>/<session id>.jsonl`, and `loglines` web exports).

A file is a tree of records; what the tool sends when it resumes is the way from the newest record up to a root. A
compaction is the tool's own: a `compact_boundary` record, the brief in an `isCompactSummary` record below it, and
the kept records re-parented so that the way from the leaf ends there.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.formats import _claude_check, _claude_read, _claude_write
from compressor.formats._records import Head, Source, loads
from compressor.model import Compaction, Finding, Transcript, Written

TITLE: Final = "Claude Code session (JSONL tree, web export)"
ORDER: Final = 40
APPENDS: Final = True

_CHAIN: Final = frozenset({"user", "assistant", "system", "progress", "attachment"})
_LOOSE: Final = frozenset(
    {
        "summary", "file-history-snapshot", "queue-operation", "pr-link", "custom-title", "ai-title", "agent-name",
        "agent-color", "tag", "last-prompt", "permission-mode", "mode", "frame-link", "content-replacement",
        "api-request", "api-request-blob", "api-request-shape", "atis-latch", "cost-state", "tools-used",
    }
)  # fmt: skip


def sniff(head: Head) -> bool:
    """Records of the chain with their own fields, or mostly records that only this tool writes."""
    if isinstance(head.document, dict) and isinstance(head.document.get("loglines"), list):
        return True
    rows = [r for r in head.rows if isinstance(r, dict)]
    if any(_is_chain(row) for row in rows):
        return not any("provenance" in r or _has_parts(r) for r in rows)
    own = sum(_is_own(row) for row in rows)
    return own > 0 and own * 2 > len(rows)


def _is_chain(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    return isinstance(kind, str) and kind in _CHAIN and {"uuid", "parentUuid", "sessionId"} <= row.keys()


def _has_parts(row: dict[str, Any]) -> bool:
    message = row.get("message")
    return isinstance(message, dict) and "parts" in message


def _is_own(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    if not isinstance(kind, str):
        return False
    message = row.get("message")
    bare = (
        kind in ("user", "assistant") and isinstance(message, dict) and "content" in message and "parts" not in message
    )
    named = kind in _LOOSE and ("sessionId" in row or "leafUuid" in row or "messageId" in row)
    return named or bare


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    return _claude_read.read(source, options)


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    change = changes.get(0)
    if change is None:
        return Written(bytes(transcript.raw))
    return _claude_write.write(transcript, change)


def check(transcript: Transcript) -> Iterator[Finding]:
    """Integrity of a file (see `compressor.formats`)."""
    return _claude_check.check(transcript)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original, grown by what the tool appended (see `compressor.formats`)."""
    return _claude_write.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """Put the output where the tool looks for it, and resume it there."""
    session = transcript.sessions[0]
    first = next((r for r in transcript.records if r.kind in _CHAIN), None)
    if not session.id or first is None or session.meta["chain"].side_only or session.meta["document"]:
        return ""
    value = loads(bytes(transcript.raw[first.start : first.end]).strip())
    cwd = value.get("cwd")
    if not isinstance(cwd, str) or not cwd:
        return f"claude --resume {shlex.quote(session.id)}"
    # the tool's own name for a project's folder; a longer name gets a hash, but ids are found in any folder
    folder = "".join(c if c.isascii() and c.isalnum() else "-" for c in cwd)[:200]
    place = f"{folder}/{session.id}.jsonl"
    copy = f"cp {shlex.quote(output)} ~/.claude/projects/{shlex.quote(place)}"
    return f"{copy} && cd {shlex.quote(cwd)} && claude --resume {shlex.quote(session.id)}"
