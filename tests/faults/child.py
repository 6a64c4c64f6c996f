"""Nights that die: a process that has everything loaded, and forks one night per order.

Orders come as JSON lines on standard input, answers go as JSON lines to standard output. A night runs in a fork of
its own and may be told to die: at the n-th step on the disk (before it, after it, in the middle of a write), at the
n-th call inside a stage, or whenever its parent kills it. What was going on when it died is read from a page of
memory that both share.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import mmap
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from compressor import audit, disk, nightly, transaction
from compressor.archive import Store, keys, state
from compressor.cli import main
from compressor.originals import verify
from compressor.settings import Clock
from compressor.tally import Lines

#: Shared with the fork: the stage it is in, as text.
PAGE = mmap.mmap(-1, 4096)


def note(stage: str) -> None:
    data = stage.encode()[:200]
    PAGE[:200] = data + bytes(200 - len(data))


def noted() -> str:
    return bytes(PAGE[:200]).rstrip(b"\0").decode()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Watched(disk.Disk):
    """The real disk, with a list of its steps, that dies or fails at one of them."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.steps: list[str] = []

    def _here(self, when: str) -> bool:
        return len(self.steps) - 1 == self.order.get("step", -1) and self.order.get("when") == when

    def step(self, name: str, action: Callable[[], Any]) -> Any:
        self.steps.append(name)
        if self._here("before"):
            note(f"before {name}")
            die()
        self._maybe_fail(name)
        result = action()
        if self._here("after"):
            note(f"after {name}")
            die()
        return result

    def write(self, name: str, file: int, data: Any) -> int:
        self.steps.append(name)
        if self._here("before"):
            note(f"before {name}")
            die()
        if self._here("middle"):
            note(f"middle of {name}")
            os.write(file, data[: len(data) // 2])
            die()
        self._maybe_fail(name, file, data)
        taken = os.write(file, data)
        if self._here("after"):
            note(f"after {name}")
            die()
        return taken

    def _maybe_fail(self, name: str, file: int = -1, data: Any = b"") -> None:
        if self._here("fail"):
            note(f"fail {name}")
            if file >= 0 and self.order.get("torn"):
                os.write(file, data[: len(data) // 2])
            number = getattr(errno, self.order["error"])
            raise OSError(number, os.strerror(number))


class Stages:
    """Notes which stage is going on; counts the calls inside one, and dies at the n-th of them."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.calls: dict[str, int] = {}
        self._left = order.get("call", -1)
        self._depth = 0

    @contextlib.contextmanager
    def inside(self, name: str) -> Iterator[None]:
        if self._depth:
            # a stage within a stage counts for the outer one
            yield
            return
        note(name)
        wanted = self.order.get("stage") == name
        counting = self.order.get("count", False)
        if wanted or counting:
            sys.setprofile(self._counter(name, kill=wanted))
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if wanted or counting:
                sys.setprofile(None)
            note("between")

    def _counter(self, name: str, *, kill: bool) -> Any:
        def count(_frame: Any, _event: str, _arg: Any) -> None:
            self.calls[name] = self.calls.get(name, 0) + 1
            if kill:
                self._left -= 1
                if self._left == 0:
                    die()

        return count

    def wrap(self, place: Any, function: str, stage: str) -> None:
        inner = getattr(place, function)

        def call(*args: Any, **named: Any) -> Any:
            with self.inside(stage):
                return inner(*args, **named)

        setattr(place, function, call)


def watch_stages(order: dict[str, Any]) -> Stages:
    """Put the watcher around every stage of the product."""
    stages = Stages(order)
    inner = Clock.stage

    @contextlib.contextmanager
    def stage(self: Clock, name: str) -> Iterator[None]:
        with inner(self, name), stages.inside(name):
            yield

    Clock.stage = stage  # type: ignore[method-assign]
    stages.wrap(Store, "put", "archive")
    stages.wrap(transaction, "_write", "publish")
    stages.wrap(audit.Audit, "append", "audit")
    stages.wrap(state, "mark", "done")
    stages.wrap(nightly, "_settle", "settle")
    stages.wrap(nightly, "optimize", "pack tightly")
    stages.wrap(nightly, "_note", "runs")
    stages.wrap(Lines, "add", "report")
    return stages


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Standard output is for answers."""
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def night(order: dict[str, Any]) -> dict[str, Any]:
    """One night, in this process."""
    random.seed(0)
    nightly._TIGHTEN = 1  # every night packs tightly, so that every night can die there
    stages = watch_stages(order)
    watched = Watched(order)
    folder = Path(order["folder"])
    said = ["run", str(folder / "in"), "-o", str(folder / "out"), "--archive", str(folder / "vault"), "-q"]
    with disk.use(watched), silent():
        code = main([*said, *order.get("options", [])])
    note("ended")
    answer: dict[str, Any] = {"code": code, "steps": watched.steps, "calls": stages.calls}
    if order.get("check") and code in {0, 1}:
        answer["found"] = check(folder)
    return answer


def check(folder: Path) -> dict[str, Any]:
    """Everything that must hold after a whole night."""
    store = Store(folder / "vault")
    records = list(audit.Audit(store).records())
    originals = {k: hashlib.sha256(store.get(k)).hexdigest() for k in keys(store)}
    outputs = {
        str(p.relative_to(folder / "out")): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted((folder / "out").rglob("*"))
        if p.is_file() and p.name != nightly.REPORT
    }
    lines = (folder / "out" / nightly.REPORT).read_bytes().splitlines()
    return {
        "problems": [f"{p.file}: {p.message}" for p in verify(store)],
        "originals": sorted(k for k, v in originals.items() if k == v),
        "outputs": outputs,
        "records": sorted(f"{r['source'].rsplit('/', 1)[1]} {r['position']} {r['result']['sha256']}" for r in records),
        "lines": sorted(f"{Path(r['path']).name} {r['session']} {r['verdict']}" for r in map(json.loads, lines[:-1])),
        "totals": json.loads(lines[-1])["totals"]["verdicts"],
        "rest": sorted(str(p) for p in folder.rglob("*") if disk.is_temp(p.name)),
    }


def forked(order: dict[str, Any]) -> dict[str, Any]:
    """One night in a fork; how it ended."""
    read, write = os.pipe()
    note("start")
    process = os.fork()
    if not process:
        os.close(read)
        code = 70
        try:
            data = json.dumps(night(order)).encode()
            with os.fdopen(write, "wb") as pipe:
                pipe.write(data)
            code = 0
        except BaseException as error:  # noqa: BLE001 - the parent is told
            with os.fdopen(write, "wb") as pipe:
                pipe.write(json.dumps({"error": repr(error)}).encode())
        finally:
            os._exit(code)
    os.close(write)
    if "after" in order:
        time.sleep(order["after"])
        os.kill(process, signal.SIGKILL)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(process, 0)
    killed = os.WIFSIGNALED(status)
    return {"killed": killed, "stage": noted(), **(json.loads(data) if data and not killed else {})}


def warm_up(folder: Path) -> None:
    """Load, before anything is forked, all that a night loads."""
    said = ["run", str(folder / "in"), "-o", str(folder / "out"), "--archive", str(folder / "vault"), "-q"]
    with silent():
        main(said)
    transaction.open_store(folder / "vault").close()
    transaction._open_store.cache_clear()


if __name__ == "__main__":
    warm_up(Path(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(forked(json.loads(line))), flush=True)
