"""The integrity codes that need two files: what a compaction must leave as it was in its original."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final

import orjson

from compressor.formats._lists import load
from compressor.formats._records import Source
from compressor.model import VISIBLE, Finding, Level, Place, Session, Transcript, requests

#: What a benchmark's file needs for re-scoring, by format: keys whose values are never touched, in the whole file or
#: below a key of the document (`trajectory.action`).
PAYLOAD: Final = {
    "tau-bench": ("reward", "info", "task_id", "trial"),
    "tau2-bench": ("reward_info", "tasks", "task_id", "trial", "seed", "tool_calls"),
    "swe-agent": ("info", "trajectory.action", "replay_config", "environment"),
    "mini-swe-agent": ("info",),
    "inspect": ("scores", "target", "results"),
    "atif": ("final_metrics",),
}
#: Formats that spread a message over records and keep their ids.
_SPREAD: Final = frozenset({"claude-code", "openhands-events"})
_USAGE: Final = ("usage", "usage_metadata", "total_token_usage", "last_token_usage", "tokens")


def check(before: Transcript, after: Transcript) -> Iterator[Finding]:
    """E06, E08, E14 and W01."""
    old, new = _values(before), _values(after)
    if before.format == after.format:
        yield from _payload(before.format, old, new, after)
    known = set(_found(old, _USAGE))
    # a number alone is a mark's, not a tool's usage; a summary of ours has cost nothing
    counts = (text for text in _found(new, _USAGE) if text.startswith("{") and re.search("[1-9]", text))
    strange = [text for text in counts if text not in known]
    if strange:
        message = f"{len(strange):,} token counts that the original does not have"
        yield Finding("W01", Level.WARNING, message, strange[0][:120], Place(after.path, 1))
    for was, now in _paired(before, after):
        yield from _last_turn(was, now, after.path)
        if after.format in _SPREAD:
            yield from _groups(was, now, after.path)


def _values(transcript: Transcript) -> list[Any]:
    return list(load(Source(transcript.path, transcript.raw)).values)


def _paired(before: Transcript, after: Transcript) -> Iterator[tuple[Session, Session]]:
    if len(before.sessions) == len(after.sessions):
        yield from zip(before.sessions, after.sessions, strict=True)


def _payload(name: str, old: list[Any], new: list[Any], after: Transcript) -> Iterator[Finding]:
    for key in PAYLOAD.get(name, ()):
        missing = Counter(_found(*_below(old, key))) - Counter(_found(*_below(new, key)))
        if missing:
            fact = next(iter(missing))[:120]
            message = f'"{key}" is not as it was in the original'
            yield Finding("E14", Level.ERROR, message, fact, Place(after.path, 1))


def _below(values: list[Any], key: str) -> tuple[list[Any], tuple[str, ...]]:
    """The values to look into, and the key."""
    outer, dot, inner = key.rpartition(".")
    return ([v.get(outer) for v in values if isinstance(v, dict)], (inner,)) if dot else (values, (key,))


def _found(values: list[Any], keys: tuple[str, ...]) -> Iterator[str]:
    """The values under these keys, as text that compares."""
    stack = list(reversed(values))
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            for key in keys:
                if value.get(key) not in (None, "", [], {}):
                    yield orjson.dumps(value[key], option=orjson.OPT_SORT_KEYS, default=str).decode("utf-8", "replace")
            stack.extend(reversed(list(value.values())))
        elif isinstance(value, list):
            stack.extend(reversed(value))


def _last_turn(was: Session, now: Session, path: str) -> Iterator[Finding]:
    """E08: what the person asked last stands in the compaction, word for word or cut where it was pasted."""
    asked = requests(was)
    if not asked or not now.messages:
        return
    there = "\n".join(p.text for p in now.parts if p.type in VISIBLE)
    for part in asked[-1].parts:
        lines = [line for line in part.text.splitlines() if line.strip()] if part.type in VISIBLE else []
        if lines and not any(line in there for line in lines):
            at = Place(path, now.messages[-1].line)
            yield Finding("E08", Level.ERROR, "the last request is not in the compaction", lines[0][:120], at)
            return


def _groups(was: Session, now: Session, path: str) -> Iterator[Finding]:
    """E06: of a message that is spread over several records all are kept, or none."""
    members: defaultdict[str, set[str]] = defaultdict(set)
    for m in was.messages:
        if m.group != m.id and not m.id.startswith("#"):
            members[m.group].add(m.id)
    kept = {m.id: m.line for m in now.messages}
    for group, ids in members.items():
        here = ids & kept.keys()
        if here and here != ids:
            at = Place(path, min(kept[i] for i in here))
            yield Finding("E06", Level.ERROR, f"{len(ids) - len(here)} records of a message are missing", group, at)
