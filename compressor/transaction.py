"""One file's outcome onto the disk, in an order in which a kill at any instruction harms nothing.

    original into the archive, read back -> output beside, fsync, one rename -> audit record -> done mark

Killed before the rename, the old state stands; after it, the new one, and the next run finds the original in the
archive, writes the same bytes, records what is not recorded yet, and marks it done.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from compressor import audit, disk, plugins
from compressor.archive import Store, state
from compressor.errors import Location, ReadError, WriteError
from compressor.reading import read_bytes
from compressor.redact import redacted
from compressor.result import SessionResult

if TYPE_CHECKING:
    from compressor.pipeline import FileOutcome
    from compressor.settings import Settings

#: Folder of the archive beside an output, when none is named.
ARCHIVE: Final = ".compress"


def publish(outcome: FileOutcome, output: Path | None, settings: Settings) -> tuple[SessionResult, ...]:
    """Archive the originals, publish the output in one rename, record it, mark it done.

    Args:
        output: where the output goes; the input's own place frees the disk. None: it is not wanted as a file, and
            nothing is archived or recorded.

    Returns:
        The results, with the output's path, the archive key and the resume command.

    Raises:
        ArchiveError, WriteError: nothing was published, or (only the last steps failed) what is published is whole
            and its original is in the archive.
    """
    if output is None:
        return outcome.results
    store = open_store(settings.archive or output.parent / ARCHIVE)
    keys = [store.put(original) for original in outcome.originals]
    data = outcome.transcript.raw if outcome.data is None else outcome.data
    digest = disk.digest(data)
    if keys:
        state.announce(store.index, output, digest)
    _write(output, outcome, data, digest)
    results = tuple(_told(r, outcome, output, keys) for r in outcome.results)
    if keys:
        attached = dict(_attach(store, Path(outcome.transcript.path), settings))
        _record(store, outcome, results, _Archived(keys[-1], digest, attached), settings)
        given = bytes.fromhex(keys[0])
        said = [brief(r) for r in results]
        state.mark(store.index, outcome.transcript.path, state.Done(given, settings.digest, str(output), digest, said))
    return results


def open_store(folder: Path) -> Store:
    """The store of a folder; one for all files that go there, for each thread: its index is no matter for two."""
    return _open_store(folder.absolute(), threading.get_ident())


@lru_cache(maxsize=64)
def _open_store(folder: Path, _thread: int) -> Store:
    store = Store(folder)
    atexit.register(store.close)
    return store


def _told(r: SessionResult, outcome: FileOutcome, output: Path, keys: Sequence[str]) -> SessionResult:
    resume = ""
    if outcome.written is not None:
        resume = plugins.load("formats", outcome.written.format).resume_command(outcome.written, str(output))
    # an unchanged session is its own original
    return replace(r, output=str(output), resume=resume, archive=r.archive or (keys[-1] if keys else ""))


@dataclass(frozen=True, slots=True)
class _Archived:
    """What of a file is in the archive: its original, the digest of its output, and the files that belong to it."""

    key: str
    result: bytes
    attached: Mapping[str, str]


def _attach(store: Store, source: Path, settings: Settings) -> Iterator[tuple[str, str]]:
    """Archive what a tool keeps beside a session, in the folder of the same name: sub-agents, long results.

    Raises:
        ArchiveError: it could not be archived.
    """
    folder = source.with_suffix("")
    if folder == source or not folder.is_dir():
        return
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with suppress(ReadError):  # gone, or locked: it has a verdict of its own where it is an input
            yield str(path.absolute()), store.put(redacted(read_bytes(path), settings)[0].raw)


def _record(
    store: Store, outcome: FileOutcome, results: Sequence[SessionResult], kept: _Archived, settings: Settings
) -> None:
    shared = audit.Published(
        source=outcome.transcript.path,
        original=kept.key,
        size=len(outcome.originals[-1]),
        result=kept.result.hex(),
        trigger=settings.trigger,
        options=settings.digest,
        model=str(settings.summarizer_options.get("model", "")),
        redacted=outcome.redacted,
        attached=kept.attached,
    )
    audit.Audit(store).append(audit.record(r, i, shared) for i, r in enumerate(results))


#: What is kept of a result for the report of a later run that finds the file done.
_BRIEF: Final = (
    "output", "format", "session", "parent", "reason", "bytes_before", "bytes_after", "whole_before", "live_before",
    "after", "abandoned_tokens", "budget", "messages_before", "messages_after", "generation", "preset", "summarizer",
    "rules_digest", "archive", "language", "score",
)  # fmt: skip


def brief(r: SessionResult) -> dict[str, Any]:
    """A result in short."""
    said = {name: getattr(r, name) for name in _BRIEF}
    # names that are no UTF-8 are kept apart, where any bytes may stand
    said["output"] = ""
    return {**said, "verdict": r.verdict.value, "levels": sorted({f.level.value for f in r.findings})}


def _write(output: Path, outcome: FileOutcome, data: Any, digest: bytes) -> None:
    try:
        disk.make_folder(output.parent)
        if _digest_of(output) == digest:
            return  # it is there already, and its time stays, too
        if outcome.source is not None and _is_input(output, outcome.transcript.path):
            with _watched(output, outcome.source):
                disk.publish(output, data)
        else:
            disk.publish(output, data)
    except OSError as error:
        raise WriteError(
            f"the output could not be written: {(error.strerror or str(error)).lower()}",
            at=Location(str(output)),
            hint="the old state is untouched; free space or choose another place with -o",
        ) from error


def _is_input(output: Path, name: str) -> bool:
    """Whether the output takes the place of the input; an input that has gone since it was read has none."""
    try:
        return output.samefile(name)
    except FileNotFoundError:
        return False


def _digest_of(path: Path) -> bytes:
    """sha256 of a file; empty: it is not there."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except FileNotFoundError:
        return b""


@contextmanager
def _watched(path: Path, given: Any) -> Iterator[None]:
    """An output takes its input's place inside the block; what somebody writes there meanwhile is put back.

    Raises:
        WriteError: the input is no longer what was read.
    """
    with path.open("rb") as file:
        before = os.fstat(file.fileno())
        if hashlib.file_digest(file, "sha256").digest() != disk.digest(given):
            raise _written_to(path)
        yield
        after = os.fstat(file.fileno())
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            file.seek(0)
            disk.publish(path, file.read())
            raise _written_to(path)


def _written_to(path: Path) -> WriteError:
    return WriteError(
        "written to while it was compacted: left as it is",
        at=Location(str(path)),
        hint="end its session first, or wait longer with --min-age",
    )
