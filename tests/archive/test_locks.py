"""One writer at a time; a dead one holds nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compressor.archive import Store, hold
from compressor.errors import ArchiveError

HOLDER = """
import sys, time
from pathlib import Path
from compressor.archive import hold
with hold(Path(sys.argv[1]), wait=0, purpose="a test"):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(lock: Path, seconds: float) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock), str(seconds)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_the_holder_is_named(tmp_path: Path) -> None:
    other = holder(tmp_path / "lock", 60)
    try:
        with (
            pytest.raises(ArchiveError, match=rf"in use by another process \({other.pid} on .*: a test\)"),
            hold(tmp_path / "lock", wait=0.1),
        ):
            pass
    finally:
        other.kill()
        other.communicate()


def test_a_writer_waits_for_another(store: Store) -> None:
    store.put(b"first")
    other = holder(store.folder / "lock", 0.5)
    started = time.monotonic()

    assert store.put(b"second")

    assert time.monotonic() - started > 0.2
    other.communicate()


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    other = holder(tmp_path / "lock", 60)
    other.send_signal(signal.SIGKILL)
    other.communicate()

    with hold(tmp_path / "lock", wait=0.0):
        assert (tmp_path / "lock").read_bytes() != b""

    assert (tmp_path / "lock").read_bytes() == b""
