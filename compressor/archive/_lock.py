"""One writer at a time, by a lock of the operating system: it goes with its process, however that ends."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from compressor.errors import ArchiveError, Location

#: Seconds between two looks at a lock that another process holds.
_PAUSE: Final = 0.02


@contextmanager
def hold(path: Path, *, wait: float, purpose: str = "") -> Iterator[None]:
    """Hold the lock inside the block.

    Args:
        wait: seconds to wait for another holder.
        purpose: told to whom this lock keeps waiting.

    Raises:
        ArchiveError: another process still holds it.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _take(file, path, wait)
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()} on {socket.gethostname()}: {purpose or ' '.join(sys.argv[:3])}".encode(), 0)
        yield
        os.ftruncate(file, 0)
    finally:
        os.close(file)


def _take(file: int, path: Path, wait: float) -> None:
    until = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                holder = os.pread(file, 300, 0).decode("utf-8", "replace")
                raise ArchiveError(
                    f"in use by another process ({holder or 'unknown'})",
                    at=Location(str(path.parent)),
                    hint="wait until it has ended, or give this run another --archive",
                ) from None
            time.sleep(_PAUSE)
        else:
            return
