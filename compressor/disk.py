"""Every write that has to survive a crash: one place that makes it safe, one place where it can be made to fail.

Each step has a name (`output:rename`). What does the work is a `Disk`; a test puts another in its place that
fails, or dies, at a named step. Two things are offered on top: files that are published in one rename, and logs
that only grow.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

#: How many bytes go to the system at once.
_SLICE: Final = 8 * 1024 * 1024
_TEMP: Final = ".compress.tmp"


class Disk:
    """The real disk."""

    def step(self, name: str, action: Callable[[], Any]) -> Any:  # noqa: ARG002 - the name is for those who watch
        """Do one named thing that changes what is on disk."""
        return action()

    def write(self, name: str, file: int, data: Any) -> int:  # noqa: ARG002 - as above
        """Hand bytes to the system; how many it took."""
        return os.write(file, data)


_disk: Disk = Disk()


@contextmanager
def use(disk: Disk) -> Iterator[None]:
    """Do everything through another disk inside the block."""
    global _disk  # noqa: PLW0603 - the one seam: every write of the process goes through it
    before, _disk = _disk, disk
    try:
        yield
    finally:
        _disk = before


def write(name: str, file: int, data: Any) -> None:
    """Write all of the bytes."""
    with memoryview(data).cast("B") as view:
        at = 0
        while at < len(view):
            with view[at : at + _SLICE] as piece:
                taken = _disk.write(f"{name}:write", file, piece)
            release(data, at, at + taken)
            at += taken


def digest(data: Any) -> bytes:
    """sha256 of bytes or of a memory map, of which no more than a slice is held at any time."""
    h = hashlib.sha256()
    for at in range(0, len(data), _SLICE):
        h.update(data[at : at + _SLICE])
        release(data, at, at + _SLICE)
    return h.digest()


def release(data: Any, start: int, end: int) -> None:
    """Say that this stretch of a memory map is not needed for now: it need not count as the process's memory."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        last = min(end, len(data)) // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first:
            data.madvise(mmap.MADV_DONTNEED, first, last - first)


def sync(name: str, file: int) -> None:
    """Wait until the file's bytes are on the disk."""
    _disk.step(f"{name}:fsync", lambda: os.fsync(file))


def rename(name: str, source: Path, target: Path) -> None:
    """Put a file in another's place."""
    _disk.step(f"{name}:rename", lambda: source.replace(target))


def remove(name: str, path: Path) -> None:
    """Remove a file."""
    _disk.step(f"{name}:remove", path.unlink)


def truncate(name: str, file: int, size: int) -> None:
    """Cut a file."""
    _disk.step(f"{name}:truncate", lambda: os.ftruncate(file, size))


def commit(name: str, connection: sqlite3.Connection) -> None:
    """Commit a transaction."""
    _disk.step(f"{name}:commit", connection.commit)


def sync_folder(name: str, folder: Path) -> None:
    """Wait until the folder's entries are on the disk."""
    file = os.open(folder, os.O_RDONLY)
    try:
        _disk.step(f"{name}:fsync-folder", lambda: os.fsync(file))
    finally:
        os.close(file)


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it."""
    if not folder.is_dir():
        _disk.step("folder:make", lambda: folder.mkdir(parents=True, exist_ok=True))


def publish(path: Path, data: Any | Iterable[bytes], name: str = "output", *, durable: bool = True) -> None:
    """Write beside, fsync, one rename: under `path` stands either the old file or the new one, whole.

    Args:
        data: bytes, a memory map, or pieces one after the other.
        name: of the steps.
        durable: also survive a power cut. A report can be made again; an output cannot.

    Raises:
        OSError: nothing has changed. `BlockingIOError`: another process is writing this very file.
    """
    temp, file = _claim(path)
    try:
        for piece in [data] if isinstance(data, (bytes, bytearray, memoryview, mmap.mmap)) else data:
            write(name, file, piece)
        os.fchmod(file, _mode(path))
        if durable:
            sync(name, file)
        rename(name, temp, path)
    except BaseException:
        with suppress(OSError):
            temp.unlink()
        raise
    finally:
        os.close(file)
    if durable:
        sync_folder(name, path.parent)


def _claim(path: Path) -> tuple[Path, int]:
    """The file beside `path`, empty and locked; one that a dead process left is taken over."""
    # a fixed name: what a killed run left is overwritten by the next one, and no rest piles up
    temp = path.with_name(f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}{_TEMP}")
    while True:
        file = _disk.step("temp:open", lambda: os.open(temp, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), temp.stat()):
                os.ftruncate(file, 0)
                return temp, file
        except FileNotFoundError:
            pass  # its owner has just renamed it: what we hold is published, and not ours to touch
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def is_temp(name: str) -> bool:
    """Whether a file of this name is one of ours that was not renamed: a run was killed, or is at work."""
    return name.endswith(_TEMP)


def sweep(folder: Path) -> None:
    """Remove what killed runs left below a folder."""
    for top, _, names in os.walk(folder):
        for name in filter(is_temp, names):
            _sweep_one(Path(top, name))


def _sweep_one(path: Path) -> None:
    with suppress(OSError):
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(file)
