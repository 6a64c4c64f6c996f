"""One file through all stages: read, plan, summarize, write, verify on what was written (`transaction` publishes)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from compressor import plugins, reading, verify
from compressor.archive import Store
from compressor.errors import WaitError
from compressor.formats._records import Source
from compressor.model import Compaction, Finding, Level, Place, Transcript
from compressor.redact import redacted
from compressor.regrowth import already_done, originals
from compressor.result import ABSENT, SessionResult
from compressor.settings import Clock, Settings
from compressor.work import Work, shown

__all__ = ["FileOutcome", "Settings", "compact"]


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """A file after all stages, before anything is written.

    Attributes:
        data: the output's bytes; None: the input's bytes are the output.
        originals: what the archive must hold before the output is published.
        written: the output as it was read back.
        source: the input's bytes as they were read.
        redacted: how many secrets were replaced in them; -1: that was not asked for.
    """

    transcript: Transcript
    data: bytes | None
    results: tuple[SessionResult, ...]
    originals: tuple[Any, ...] = ()
    written: Transcript | None = None
    source: Any = None
    redacted: int = -1


def compact(source: Source, settings: Settings, store: Store | None = None) -> FileOutcome:
    """Read and compact one file; nothing is written.

    Args:
        source: the bytes.
        store: where the originals of a file that was compacted before may be found.

    Raises:
        ReadError: the file cannot be read (the caller quarantines it).
        ConfigError: an option does not fit the file.
    """
    clock = Clock()
    with clock.stage("redact"):
        clean, secrets = redacted(source, settings)
    with clock.stage("read"):
        given = reading.read(clean, format=settings.format, options=settings.format_options)
    transcript = originals(given, settings, store)
    kept = already_done(given, settings) if transcript is given else False
    works = [Work(transcript, i, settings, clock) for i in range(len(transcript.sessions))]
    changes = {} if kept else _proposed(works)
    data, changes, written = _write_and_verify(transcript, works, changes, settings, clock)
    if data is None and transcript is not given:
        data = bytes(transcript.raw)
    results = _with_absent(works, tuple(w.result(given, data, changes.get(i), kept=kept) for i, w in enumerate(works)))
    kept_originals = (given.raw,) if transcript is given else (given.raw, transcript.raw)
    return FileOutcome(given, data, results, () if kept else kept_originals, written, source.raw, secrets)


def _with_absent(works: list[Work], results: tuple[SessionResult, ...]) -> tuple[SessionResult, ...]:
    """Notes, with the first session, of what the user asked to keep and no session of the file has."""
    looked = [w.ledger.absent for w in works if w.target and (w.settings.pins or w.settings.facts_file)]
    if not looked:
        return results
    nowhere = [f for f in looked[0] if all(f in others for others in looked[1:])]
    notes = tuple(Finding(f.rule, Level.NOTE, ABSENT, shown(f.text), Place(results[0].path)) for f in nowhere)
    return (replace(results[0], findings=(*results[0].findings, *notes)), *results[1:])


def _proposed(works: list[Work]) -> dict[int, Compaction]:
    """The first change of each session; when one has to wait, the others still say what they need."""
    changes: dict[int, Compaction] = {}
    waiting: WaitError | None = None
    for i, work in enumerate(works):
        try:
            if (change := work.propose()) is not None:
                changes[i] = change
        except WaitError as error:
            waiting = error
    if waiting is not None:
        raise waiting
    return changes


def _write_and_verify(
    transcript: Transcript, works: list[Work], changes: dict[int, Compaction], settings: Settings, clock: Clock
) -> tuple[bytes | None, dict[int, Compaction], Transcript | None]:
    """Write, read back, verify; repair or take back what fails, until all that is written is proven."""
    fmt = plugins.load("formats", transcript.format)
    baseline: list[Finding] | None = None
    proven: set[int] = set()
    while changes:
        with clock.stage("write"):
            data: bytes = fmt.write(transcript, changes).data
        with clock.stage("verify"):
            source = Source(transcript.path, data)
            again = reading.read(source, format=transcript.format, options=settings.format_options)
            if baseline is None:
                baseline = list(fmt.check(transcript))
            integrity = list(fmt.check(again))
            wrong = {
                i: found
                for i in changes
                if i not in proven and (found := _wrong(works[i], again, i, baseline, integrity)) is not None
            }
        proven |= changes.keys() - wrong.keys()
        if not wrong:
            return data, changes, again
        for i, found in wrong.items():
            change = works[i].again(found) if found else None
            if change is not None:
                changes[i] = change
                continue
            del changes[i]
            if found:
                works[i].revert(found)
    return None, changes, None


def _wrong(
    work: Work, again: Transcript, position: int, baseline: list[Finding], integrity: list[Finding]
) -> list[Finding] | None:
    """The errors of a session's output; empty if it is right but saves nothing; None if it may be published."""
    if position >= len(again.sessions):
        return [Finding("mark", Level.ERROR, "the session is not in the output")]
    found = work.compare(again.sessions[position], baseline, integrity)
    if errors := verify.errors(found):
        return errors
    if work.saves_nothing():
        return []
    work.findings = found
    return None
