"""The nightly run: folders into one archive, only what is new or changed, resumed where a killed run was.

What is done is known by content: the sha256 of a file, the digest of everything that decides its output, and the
sha256 of that output, which must still be there. Everything else is done again, and comes out the same.

    <archive>/run.lock       held by the run, gone with its process
    <archive>/runs.jsonl     a sealed line at the start and at the end of every run
    run.report.jsonl         one line a session as it is settled, the totals at the end
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from compressor import disk, homes, inputs, jobs, transaction
from compressor.archive import Store, hold, optimize, state
from compressor.chain import Chain
from compressor.engines import Lost
from compressor.errors import ArchiveError, CompressError, ConfigError, Location
from compressor.inputs import Job, Work, settled
from compressor.jobs import Orders, Outcome
from compressor.model import Verdict
from compressor.options import Options
from compressor.reading import open_source
from compressor.redact import redacted
from compressor.result import SessionResult
from compressor.tally import Lines, Tally

RUNS: Final = "runs.jsonl"
REPORT: Final = "run.report.jsonl"
#: With `--replace`, a session is left alone for this long if nothing else is said.
_SPARE: Final = 600.0
#: What was stored in a hurry is packed tightly once there is this much of it, in bytes.
_TIGHTEN: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Night:
    """What a nightly run came to.

    Attributes:
        line: one line for a mail.
        report: where the report is.
    """

    tally: Tally
    line: str
    report: Path
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class _Open:
    """What one run works with."""

    store: Store
    orders: Orders
    options: Options
    until: float
    busy: frozenset[tuple[int, int]]


def run(named: Sequence[str], options: Options, orders: Orders, tell: Callable[[Outcome], None]) -> Night:
    """Do one night.

    Args:
        named: inputs, files or folders.
        tell: told of every outcome that is news.

    Raises:
        ConfigError: options that do not go together; nothing was touched.
        ArchiveError: the archive is in use or cannot be written.
        WriteError: the report cannot be written.
    """
    if options.archive is None:
        raise ConfigError("a nightly run without an archive", hint="name it with --archive")
    store = transaction.open_store(options.archive)
    with store.writing("nightly"):
        pass  # the folder is an archive from here on, and in order
    with hold(store.folder / "run.lock", wait=0.0, purpose="nightly run"):
        return _run(named, options, replace(orders, settings=replace(orders.settings, trigger="nightly")), store, tell)


def _run(
    named: Sequence[str], options: Options, orders: Orders, store: Store, tell: Callable[[Outcome], None]
) -> Night:
    chain = Chain(store.folder / RUNS, "runs")
    _tidy(chain, store, options)
    started = time.monotonic()
    target = options.report or (Path(options.output) if options.output else store.folder) / REPORT
    work = inputs.plan(named, replace(options, report=target), own=partial(_is_ours, store), lenient=True)
    _note(chain, store, {"event": "start", "pid": os.getpid(), "inputs": list(named), "report": str(target)})
    until = started + options.max_time if options.max_time is not None else float("inf")
    opened = _Open(store, orders, options, until, homes.open_files())
    tally = Tally(options.fail_on)
    interrupted = False
    with Lines(target) as lines:
        try:
            for outcome, known in _outcomes(work, opened):
                tally.add(outcome, known=known)
                lines.add(outcome.results)
                if not known:
                    tell(outcome)
        except KeyboardInterrupt:
            interrupted = True
        if not interrupted and time.monotonic() < until:
            with suppress(CompressError):
                # what stays loose tonight is packed another night
                optimize(store, least=_TIGHTEN)
        seconds = time.monotonic() - started
        lines.close(tally.totals(), seconds)
    night = Night(tally, _line(tally, store, seconds), target, interrupted)
    end = {"event": "end", "seconds": round(seconds, 3), "interrupted": interrupted, "exit": tally.exit_code()}
    _note(chain, store, {**end, "totals": tally.totals(), "line": night.line})
    return night


def _note(chain: Chain, store: Store, what: dict[str, Any]) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    with store.writing("nightly"):
        chain.append([{"time": now, **what}])


def _tidy(chain: Chain, store: Store, options: Options) -> None:
    """After a run that was killed: remove what it left half-written."""
    last = None
    for line in chain.lines():
        last = line
    with suppress(ValueError):
        if last is not None and last.data().get("event") == "start":
            disk.sweep(store.folder)
            if options.output:
                disk.sweep(Path(options.output))


def _outcomes(work: Sequence[Work], opened: _Open) -> Iterator[tuple[Outcome, bool]]:
    """One outcome per entry of the work list, in its order, and whether it was known from an earlier run."""
    waiting: deque[Job | tuple[Outcome, bool]] = deque()
    digests: dict[str, bytes] = {}

    def fresh() -> Iterator[Job]:
        for w in work:
            found = (Outcome((w,)), False) if isinstance(w, SessionResult) else _settle(w, opened, digests)
            waiting.append(found)
            if isinstance(found, Job):
                yield found

    engine, workers = jobs.crew(opened.orders, opened.options.jobs)
    with closing(engine.run(partial(jobs.do, opened.orders), fresh(), workers)) as outcomes:
        for got in outcomes:
            while not isinstance(waiting[0], Job):
                yield waiting.popleft()  # type: ignore[misc]  # the check says so, and mypy forgets it
            yield _finished(waiting.popleft(), got, opened, digests), False
        yield from (w for w in waiting if not isinstance(w, Job))


def _settle(job: Job, opened: _Open, digests: dict[str, bytes]) -> Job | tuple[Outcome, bool]:
    """What is known of a file without working on it; the job itself if it must be worked on."""
    if time.monotonic() >= opened.until:
        return _left(job, "left for the next run: --max-time is over"), False
    try:
        settings = opened.orders.settings
        digest = disk.digest(redacted(open_source(job.name), settings)[0].raw)
    except CompressError:
        return job  # the worker says what is wrong
    index = opened.store.index
    done = state.done(index, job.name)
    if done is not None and done.options == settings.digest:
        in_place = done.output == os.path.abspath(job.name)  # noqa: PTH100 - as it is noted
        if digest == (done.result if in_place and done.result else done.source) and _stands(done, job):
            return Outcome(tuple(_as_before(job, done, said) for said in done.said)), True
    elif done is not None and digest == done.result and done.output == os.path.abspath(job.name):  # noqa: PTH100
        return replace(job, named=True)  # replaced under other options: from its original, once more
    if not job.named and state.is_output(index, job.name, digest) and job.output != Path(job.name):
        return Outcome((settled(job.name, Verdict.OWN_OUTPUT, "our own output"),)), True
    reason = _alive(job, opened)
    if reason:
        return _left(job, reason), False
    digests[job.name] = digest
    return job


def _stands(done: state.Done, job: Job) -> bool:
    """Whether the output is where this run would put it, as it was written."""
    if not done.output:
        return True
    if job.output is None or os.path.abspath(job.output) != done.output:  # noqa: PTH100 - as it is noted
        return False
    try:
        with Path(done.output).open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest() == done.result
    except OSError:
        return False


def _as_before(job: Job, done: state.Done, said: Any) -> SessionResult:
    fields = {k: v for k, v in said.items() if k not in {"verdict", "levels", "output", "reason"}}
    r = SessionResult(path=job.name, output=done.output, verdict=Verdict(said["verdict"]), **fields)
    why = f": {said['reason']}" if said["reason"] else ""
    return replace(r, reason=f"not changed since an earlier run{why}")


def _alive(job: Job, opened: _Open) -> str:
    """Why this session is left alone for now, or ""."""
    options = opened.options
    least = options.min_age if options.min_age is not None else _SPARE if options.replace else 0.0
    try:
        info = Path(job.name).stat()
    except OSError:
        return ""
    if (info.st_dev, info.st_ino) in opened.busy:
        return "left for the next run: a process is writing to it"
    age = time.time() - info.st_mtime
    if age < least:
        return f"left for the next run: {max(0, round(age))} s old, younger than --min-age"
    return ""


def _left(job: Job, reason: str) -> Outcome:
    return Outcome((settled(job.name, Verdict.IGNORED, reason),))


def _finished(job: Any, got: Outcome | Lost, opened: _Open, digests: dict[str, bytes]) -> Outcome:
    """The outcome of a file that was worked on; what was no transcript is not looked at again until it changes."""
    digest = digests.pop(job.name, None)
    if isinstance(got, Lost):
        return jobs.quarantine(job, CompressError(got.reason, at=Location(job.name)))
    unread = all(r.verdict in {Verdict.QUARANTINED, Verdict.IGNORED, Verdict.OWN_OUTPUT} for r in got.results)
    if unread and not got.bug and digest is not None:
        said = [transaction.brief(r) for r in got.results]
        state.mark(opened.store.index, job.name, state.Done(digest, opened.orders.settings.digest, "", b"", said))
    return got


def _is_ours(store: Store, path: Path) -> bool:
    """Whether a file is an output of ours, byte for byte."""
    if not state.is_place(store.index, path):
        return False
    try:
        with path.open("rb") as file:
            return state.is_output(store.index, path, hashlib.file_digest(file, "sha256").digest())
    except OSError:
        return False


def _line(tally: Tally, store: Store, seconds: float) -> str:
    """What cron mails."""
    packed = sum(store.packs().values())
    return f"{tally.line()}; archive {packed / 1e6:,.1f} MB; {seconds:,.0f} s"


def runs(store: Store) -> list[dict[str, Any]]:
    """The runs into an archive, oldest first: `state` is `ended`, `running` or `killed`."""
    found: list[dict[str, Any]] = []
    for line in Chain(store.folder / RUNS, "runs").lines():
        with suppress(ValueError):
            said = line.data()
            if said.get("event") == "start":
                start = {k: said[k] for k in ("pid", "inputs", "report")}
                found.append({"started": said["time"], "state": "killed", "exit": None, **start})
            elif said.get("event") == "end" and found:
                told = {k: said[k] for k in ("seconds", "interrupted", "exit", "totals", "line")}
                found[-1].update(told, state="ended", ended=said["time"])
    if found and found[-1]["state"] == "killed" and _is_held(store):
        found[-1]["state"] = "running"
    return found


def _is_held(store: Store) -> bool:
    try:
        with hold(store.folder / "run.lock", wait=0.0, purpose="status"):
            return False
    except ArchiveError:
        return True
