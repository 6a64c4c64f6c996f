"""Many files: the work list through an engine, one outcome per file, in input order.

One bad file never stops the rest: what is wrong with it is its outcome. Only what is wrong with the run itself
(`ConfigError`) and an interrupt get through; what was finished by then stays finished.
"""

from __future__ import annotations

import gc
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from compressor import plugins, report
from compressor.engines import Lost
from compressor.errors import CompressError, ConfigError, LimitError, Location, WaitError, WriteError
from compressor.homes import parent_of
from compressor.inputs import ARCHIVE_NAME, STDIN, Job, Work, archives_near, is_own, settled
from compressor.model import Finding, Level, Place, Verdict
from compressor.reading import NotATranscript, open_source, read
from compressor.result import SessionResult

if TYPE_CHECKING:
    from compressor.archive import Store
    from compressor.formats import Source
    from compressor.pipeline import FileOutcome, Settings


@dataclass(frozen=True, slots=True)
class Orders:
    """What every worker is told, once.

    Attributes:
        write: publish outputs and reports; otherwise only say what would be.
        diff: also render the difference.
    """

    settings: Settings
    write: bool = True
    diff: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file.

    Attributes:
        complaint: the message for the user, with its hint, or "".
        bug: traceback of an unexpected error, or "".
        usage: an option does not fit this file.
        data: the output, when it goes to standard output.
        diff: the difference, when it was asked for.
    """

    results: tuple[SessionResult, ...]
    complaint: str = ""
    bug: str = ""
    usage: bool = False
    data: bytes | None = None
    diff: str = ""


def run(work: Sequence[Work], orders: Orders, jobs: int = 1) -> Iterator[Outcome]:
    """Yield one outcome per entry of the work list, in its order.

    Raises:
        ConfigError: the options do not fit; found before or at the first file.
    """
    files = [w for w in work if isinstance(w, Job)]
    engine, workers = crew(orders, jobs)
    with closing(engine.run(partial(do, orders), files, min(workers, len(files)))) as outcomes:
        for w in work:
            if isinstance(w, SessionResult):
                yield Outcome((w,), complaint=_told(w))
                continue
            got = next(outcomes)
            yield quarantine(w, CompressError(got.reason, at=Location(w.name))) if isinstance(got, Lost) else got


def crew(orders: Orders, jobs: int) -> tuple[Any, int]:
    """The engine that suits the summarizer, and how many workers it has: what waits for a model waits in threads."""
    from compressor.asked import waits

    if waits(orders.settings.summarizer):
        workers = orders.settings.terms.concurrency
        return plugins.load("engines", "threads" if workers > 1 else "serial"), workers
    return plugins.load("engines", "processes" if jobs > 1 else "serial"), jobs


#: When the garbage collector looks for cycles: after so many new values, and older ones every so many times.
_COLLECT: Final = (100_000, 20, 20)


def do(orders: Orders, job: Job) -> Outcome:
    """Compact one file and publish the result."""
    # a session is a million small values that live to its end and hold no cycles: looking for cycles all the time,
    # as is the default, costs a tenth of a run
    gc.set_threshold(*_COLLECT)
    orders = replace(orders, settings=_with_answers(orders.settings, job))
    try:
        source = open_source(job.name)
        if not job.named and is_own(source):
            return Outcome((settled(job.name, Verdict.OWN_OUTPUT, "our own output or report"),))
        return _compact(orders, job, source)
    except ConfigError as error:
        if error.at is None or error.at.file != job.name:
            raise
        return replace(quarantine(job, error), usage=True)
    except CompressError as error:
        return _without_result(job, error)
    except MemoryError:
        return quarantine(job, CompressError("not enough memory for this file", at=Location(job.name)))
    except Exception as error:  # noqa: BLE001 - a bug met in one file must not stop the others
        return _bug(job, error)


def _without_result(job: Job, error: CompressError) -> Outcome:
    if isinstance(error, WaitError):
        return _left_waiting(job, error)
    if not job.named:
        if isinstance(error, NotATranscript):
            return Outcome((settled(job.name, Verdict.IGNORED, error.message),))
        if not Path(job.name).exists():
            return Outcome((settled(job.name, Verdict.IGNORED, "vanished since it was listed"),))
    return quarantine(job, error)


def _with_answers(settings: Settings, job: Job) -> Settings:
    """Answers of models lie in the archive, wherever that is for this file."""
    if settings.archive is None and job.output is None:
        return settings
    folder = settings.archive or Path(job.output or "").parent / ARCHIVE_NAME
    return replace(settings, terms=replace(settings.terms, answers=folder / "answers"))


def _left_waiting(job: Job, error: WaitError) -> Outcome:
    """The file is as it was; the run goes on with what needs nothing that is lacking."""
    result = settled(job.name, Verdict.WAITING, error.message)
    if not isinstance(error, LimitError):
        return Outcome((result,))
    found = Finding("limit", Level.ERROR, error.message, at=Place(job.name))
    return Outcome((replace(result, findings=(found,)),), complaint=f"{job.name}: {error}")


#: One file at a time is published, also where threads are at work.
_publishing = threading.Lock()


def _compact(orders: Orders, job: Job, source: Source) -> Outcome:
    from compressor.pipeline import compact
    from compressor.transaction import publish

    outcome = compact(source, orders.settings, _store(job, orders.settings))
    weights = orders.settings.preset.weights
    parent = parent_of(Path(job.name))
    results = tuple(replace(r, score=report.score(r.findings, weights), parent=parent) for r in outcome.results)
    outcome = replace(outcome, results=results)
    diff = _difference(outcome, orders.settings.format_options) if orders.diff else ""
    if not orders.write:
        return Outcome(outcome.results, diff=diff)
    try:
        if job.output is not None:
            _spare_grown(job.output)
        with _publishing:
            results = publish(outcome, job.output, orders.settings)
    except (CompressError, OSError) as error:
        return _unwritten(job, outcome, error)
    data = None
    if job.output is None:
        data = outcome.data if outcome.data is not None else bytes(outcome.transcript.raw)
    done = Outcome(results, data=data, diff=diff)
    return done if job.report is None else _reported(job.report, done)


def _store(job: Job, settings: Settings) -> Store | None:
    """Where the originals of an earlier output may lie: in the named archive, else beside it or above."""
    from compressor.archive import Store

    near = archives_near(Path(job.name)) if job.name != STDIN else iter(())
    place = next((p for p in (settings.archive, *near) if p is not None and p.is_dir()), None)
    return Store(place) if place is not None else None


def _difference(outcome: FileOutcome, options: Mapping[str, Any]) -> str:
    from compressor.difference import render

    after = outcome.transcript
    if outcome.data is not None:
        from compressor.formats import Source

        given = outcome.transcript
        after = read(Source(given.path, outcome.data), format=given.format, options=options)
    return render(outcome.transcript, after)


def _spare_grown(output: Path) -> None:
    """An earlier output in which its tool has gone on since holds what stands nowhere else."""
    if not output.is_file():
        return
    from compressor.regrowth import state

    try:
        grown = any(state(s)[0] == "grown" for s in read(output).sessions)
    except CompressError:
        return
    if grown:
        raise WriteError(
            "an earlier output in which its tool has gone on since",
            at=Location(str(output)),
            hint="compress that file itself, or name another place with -o",
        )


def _reported(path: Path, done: Outcome) -> Outcome:
    """Write the report of a file; one that cannot be written takes nothing back of what was published."""
    results = done.results
    try:
        write_file(path, report.dumps(report.document(results, sum(sum(r.timing.values()) for r in results))))
    except WriteError as error:
        found = Finding("write", Level.ERROR, f"the report {error.message}", at=Place(str(path)))
        first = replace(results[0], findings=(*results[0].findings, found))
        return replace(done, results=(first, *results[1:]), complaint=str(error))
    return done


def write_file(path: Path, data: bytes) -> None:
    """Write a report whole, its folder included.

    Raises:
        WriteError: it cannot be written.
    """
    from compressor import disk

    try:
        disk.make_folder(path.parent)
        # a report can be made again: it need not wait for the disk
        disk.publish(path, data, "report", durable=False)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"cannot be written: {reason}", at=Location(str(path))) from error


def quarantine(job: Job, error: CompressError) -> Outcome:
    """The outcome of a file that could not be read."""
    return Outcome((settled(job.name, Verdict.QUARANTINED, error.message, error.at),), complaint=str(error))


def _unwritten(job: Job, outcome: FileOutcome, error: CompressError | OSError) -> Outcome:
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        error = WriteError(f"cannot be written: {reason}", at=Location(str(error.filename or job.output)))
    found = Finding("write", Level.ERROR, error.message, at=Place(str(job.output or job.name)))
    results = tuple(
        replace(
            r,
            verdict=Verdict.REVERTED,
            reason=error.message,
            output="",
            after=r.live_before,
            bytes_after=r.bytes_before,
            findings=(*r.findings, found),
        )
        for r in outcome.results
    )
    return Outcome(results, complaint=str(error))


def _bug(job: Job, error: Exception) -> Outcome:
    reason = f"unexpected error: {type(error).__name__}: {error}"
    result = settled(job.name, Verdict.QUARANTINED, reason, Location(job.name))
    trace = "".join(traceback.format_exception(error))
    return Outcome((result,), complaint=f"{job.name}: {reason}", bug=trace)


def _told(result: SessionResult) -> str:
    return f"{result.path}: {result.reason}" if result.verdict is Verdict.QUARANTINED else ""


def exit_code(outcomes: Sequence[Outcome], fail_on: str) -> int:
    """0 fine, 1 findings at this level or worse, or a session reverted or quarantined, 2 no file fits, 3 a bug."""
    if any(o.bug for o in outcomes):
        return 3
    if all(o.usage for o in outcomes) and outcomes:
        return ConfigError.exit_code
    if fail_on == "never":
        return 0
    order = list(Level)
    bad = set(order[order.index(Level(fail_on)) :])
    for r in (r for o in outcomes for r in o.results):
        if r.verdict in {Verdict.REVERTED, Verdict.QUARANTINED} or any(f.level in bad for f in r.findings):
            return 1
    return 0
