"""The audit log: one record per session that was published, sealed into a chain (`chain`).

    <archive>/audit.jsonl      schemas/audit.schema.json

A record names the original, what of it is not in the output and why, what was checked, and by whom the brief was
written. What was recorded once is not recorded again: a run that was killed after the record and before its mark
finds it here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from compressor import __version__
from compressor.archive import Store, state
from compressor.archive._index import Index
from compressor.chain import Chain, Fault, Line
from compressor.model import Dropped
from compressor.result import SessionResult

NAME: Final = "audit.jsonl"
#: Grows when a key changes its meaning or goes.
SCHEMA: Final = 1
#: Findings that are told one by one; the rest are counted.
_FINDINGS: Final = 200


@dataclass(frozen=True, slots=True)
class Published:
    """What all records of one file share.

    Attributes:
        source: path of the input.
        original: sha256 of the original, and its size.
        result: sha256 of the output.
        trigger: who asked: `run`, `nightly`, `api`, or what a hook says.
        options: digest of everything that decided the output.
        redacted: how many secrets were replaced in what is called the original; -1: redaction was not asked for.
        attached: archive key of each file that its tool keeps beside the session, by path.
    """

    source: str
    original: str
    size: int
    result: str
    trigger: str
    options: str
    model: str = ""
    redacted: int = -1
    attached: Mapping[str, str] = field(default_factory=dict)


def record(r: SessionResult, position: int, p: Published) -> dict[str, Any]:
    """The record of one session, without its place in the chain."""
    return {
        "schema": SCHEMA,
        "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "version": __version__,
        "trigger": p.trigger,
        "session": r.session,
        "position": position,
        "format": r.format,
        "parent": r.parent,
        "source": os.path.abspath(p.source) if p.source[:1] != "<" else p.source,  # noqa: PTH100 - links stay
        "output": os.path.abspath(r.output),  # noqa: PTH100 - links stay
        "verdict": r.verdict.value,
        "reason": r.reason,
        "generation": r.generation,
        "original": {"sha256": p.original, "bytes": p.size, "redacted": p.redacted},
        "attached": dict(p.attached),
        "result": {"sha256": p.result, "bytes": r.bytes_after},
        "tokens": {
            "whole_before": r.whole_before,
            "live_before": r.live_before,
            "after": r.after,
            "budget": r.budget,
        },
        "messages": {"before": r.messages_before, "after": r.messages_after},
        "dropped": _grouped(r.dropped),
        "facts": {kind: {"registered": n, "kept": r.facts_kept.get(kind, 0)} for kind, n in r.facts_registered.items()},
        "salient": {"total": r.salient_total, "kept": r.salient_kept},
        "checks": {
            "score": r.score,
            "findings": [
                {"check": f.check, "level": f.level.value, "message": f.message, "fact": f.fact}
                for f in r.findings[:_FINDINGS]
            ],
            "more": max(0, len(r.findings) - _FINDINGS),
        },
        "summarizer": r.summarizer,
        "model": p.model,
        "preset": r.preset,
        "rules_digest": r.rules_digest,
        "options_digest": p.options,
    }


def _grouped(dropped: Sequence[Dropped]) -> list[dict[str, Any]]:
    """Dropped messages, those with the same layer, reason and rule together: sessions drop thousands."""
    groups: dict[tuple[str, str, str], list[Dropped]] = {}
    for d in dropped:
        groups.setdefault((d.layer, d.reason, d.rule), []).append(d)
    return [
        {
            "layer": layer,
            "reason": reason,
            "rule": rule,
            "tokens": sum(d.tokens for d in found),
            "messages": [[d.message, d.line, d.tokens] for d in found],
        }
        for (layer, reason, rule), found in groups.items()
    ]


class Audit:
    """The audit log of one archive."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._chain = Chain(store.folder / NAME, "audit")

    def append(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Record what was published, unless the newest record of that output says the same.

        Raises:
            ArchiveError: it could not be recorded.
        """
        with self._store.writing("audit"):
            index = self._caught_up()
            fresh = [r for r in records if not _is_recorded(index, r)]
            if fresh:
                for line in self._chain.append(fresh):
                    _enter(index, line, line.data())
                index.commit()

    def records(self) -> Iterator[dict[str, Any]]:
        """All records that can be read, oldest first."""
        for line in self._chain.lines():
            try:
                yield line.data()
            except ValueError:
                continue

    def of(self, name: str) -> list[dict[str, Any]]:
        """The records of an output, a source, a session or an original (or the beginning of its key), oldest first."""
        path = os.path.abspath(name)  # noqa: PTH100 - links stay
        return [
            r
            for r in self.records()
            if path in (r.get("output"), r.get("source"))
            or name == r.get("session")
            or (len(name) >= 6 and str(r.get("original", {}).get("sha256", "")).startswith(name))
        ]

    def needed(self) -> frozenset[str]:
        """The keys of all originals that a record names, those of attached files included."""
        return frozenset(str(k) for r in self.records() for k in (r["original"]["sha256"], *r["attached"].values()))

    def verify(self) -> Iterator[Fault]:
        """What is wrong with the chain, and what it names and the archive does not hold."""
        yield from self._chain.verify()
        last = 0
        for line in self._chain.lines():
            last = line.number
            try:
                r = line.data()
                named = [str(r["original"]["sha256"]), *map(str, r["attached"].values())]
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # the chain has said so
            for key in (k for k in named if not self._store.has(k)):
                yield Fault(line.number, line.offset, f"the archive does not hold the original {key[:12]}…")
        known = self._store.index.one("SELECT coalesce(max(number), 0) FROM records")
        if known is not None and known[0] > last:
            yield Fault(last + 1, -1, f"{known[0] - last} records are missing at the end")

    def _caught_up(self) -> Index:
        """The index, with all records entered."""
        index = self._store.index
        number, offset = index.one("SELECT number, offset FROM records ORDER BY number DESC LIMIT 1") or (1, 0)
        for line in self._chain.lines(offset, number):
            try:
                _enter(index, line, line.data())
            except (ValueError, KeyError, TypeError):
                continue
        index.commit()
        return index


def _enter(index: Index, line: Line, r: Mapping[str, Any]) -> None:
    key = bytes.fromhex(r["original"]["sha256"])
    row = (line.number, line.offset, state.place(r["output"]), f"{r['position']} {r['session']}", key, _same(r))
    index.db.execute("INSERT OR REPLACE INTO records VALUES (?,?,?,?,?,?)", row)


def _is_recorded(index: Index, r: Mapping[str, Any]) -> bool:
    found = index.one(
        "SELECT same FROM records WHERE output=? AND session=? ORDER BY number DESC LIMIT 1",
        state.place(r["output"]),
        f"{r['position']} {r['session']}",
    )
    return found is not None and found[0] == _same(r)


def _same(r: Mapping[str, Any]) -> bytes:
    """A digest of what makes two records one."""
    said = (os.fsencode(r["source"]).hex(), r["original"]["sha256"], r["result"]["sha256"], r["options_digest"])
    return hashlib.sha256(orjson.dumps(said)).digest()[:16]
