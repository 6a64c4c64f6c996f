"""Sums over a run that is too long to be kept in memory, and its report, line by line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from compressor import __version__, disk, report
from compressor.errors import ConfigError, Location, WriteError
from compressor.jobs import Outcome
from compressor.model import Level, Verdict
from compressor.result import SessionResult

_FAILED: Final = frozenset({Verdict.REVERTED, Verdict.QUARANTINED})


class Tally:
    """What a run has come to so far.

    Args:
        fail_on: level of finding from which the exit code is 1, or `never`.
    """

    def __init__(self, fail_on: str) -> None:
        self._fail_on = fail_on
        self.verdicts: Counter[str] = Counter()
        self.levels: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.left = 0
        self.bugs: list[str] = []
        self._asked: dict[str, Any] = {}
        self._failed = False

    def add(self, outcome: Outcome, *, known: bool) -> None:
        """Add what became of one file.

        Args:
            known: it is as an earlier run left it. What was wrong with it then is no news, and fails no run.
        """
        if outcome.bug:
            self.bugs.append(outcome.bug)
        for i, r in enumerate(outcome.results):
            self._add(r, first=i == 0, known=known)
        if not known and self._fails(outcome.results):
            self._failed = True

    def _add(self, r: SessionResult, *, first: bool, known: bool) -> None:
        self.verdicts[r.verdict.value] += 1
        self.levels.update(f.level.value for f in r.findings)
        self.tokens.update(whole_before=r.whole_before, live_before=r.live_before, after=r.after)
        if r.usage:
            self._asked = report.asked([u for u in (self._asked, r.usage) if u])
        if first:
            self.bytes.update(before=r.bytes_before, after=r.bytes_after)
        if known:
            self.known[r.verdict.value] += 1
        elif r.verdict is Verdict.IGNORED and r.reason.startswith("left for the next run"):
            self.left += 1

    def _fails(self, results: Sequence[SessionResult]) -> bool:
        if self._fail_on == "never":
            return False
        order = list(Level)
        bad = set(order[order.index(Level(self._fail_on)) :])
        return any(r.verdict in _FAILED or any(f.level in bad for f in r.findings) for r in results)

    def exit_code(self) -> int:
        """0 fine, 1 something new failed, 3 a bug."""
        return 3 if self.bugs else int(self._failed)

    def totals(self) -> dict[str, Any]:
        """As in the report of any run (`report.totals`)."""
        return {
            "sessions": self.verdicts.total(),
            "verdicts": {v.value: self.verdicts[v.value] for v in Verdict if self.verdicts[v.value]},
            "findings": {level.value: self.levels[level.value] for level in Level},
            "tokens": {k: self.tokens[k] for k in ("whole_before", "live_before", "after")},
            "bytes": {k: self.bytes[k] for k in ("before", "after")},
            "model": self._asked,
        }

    def line(self) -> str:
        """In one line: what was done, what was as before, what is wrong."""
        shown = [v for v in Verdict if v not in {Verdict.IGNORED, Verdict.OWN_OUTPUT}]
        fresh = {v: self.verdicts[v.value] - self.known[v.value] for v in shown}
        parts = [f"{n:,} {v.value}" for v, n in fresh.items() if n] or ["nothing new"]
        before = sum(self.known[v.value] for v in shown)
        if before:
            broken = self.known[Verdict.QUARANTINED.value]
            parts.append(f"{before:,} as before" + (f" ({broken:,} of them quarantined)" if broken else ""))
        if self.left:
            parts.append(f"{self.left:,} left for the next run")
        whole, after = self.tokens["whole_before"], self.tokens["after"]
        ratio = f"{whole / after:.1f}x" if after else "1.0x"
        return f"{', '.join(parts)}; {whole:,} -> {after:,} tokens ({ratio})"


class Lines:
    """A report that is written while the run goes on: one session a line, the totals in the last.

    Raises:
        WriteError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            disk.make_folder(path.parent)
            if path.exists() and not path.is_file():
                raise ConfigError(f'"{path}" is not a regular file', hint="name another --report")
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        except OSError as error:
            raise self._wrong(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)

    def add(self, results: Sequence[SessionResult]) -> None:
        """Write the sessions of one file."""
        self._write(b"".join(report.line(report.session(r)) for r in results))

    def close(self, totals: dict[str, Any], seconds: float) -> None:
        """Write the last line."""
        head = {"tool": report.TOOL, "version": __version__, "schema": report.SCHEMA}
        self._write(report.line({**head, "totals": totals, "timing": {"seconds": round(seconds, 3)}}))

    def _write(self, data: bytes) -> None:
        try:
            disk.write("report", self._file, data)
        except OSError as error:
            raise self._wrong(error) from error

    def _wrong(self, error: OSError) -> WriteError:
        reason = (error.strerror or str(error)).lower()
        return WriteError(f"the report cannot be written: {reason}", at=Location(str(self._path)))
