"""Nights killed at every step on the disk and at random moments: nothing is lost, nothing is there twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

HERE = Path(__file__).parent
FIXTURES = HERE.parent.parent / "fixtures" / "dirty"
#: Two transcripts with dirt, one that is small enough to stay, one that cannot be read, and what is no transcript.
FILES = (
    "claude-two-sessions.jsonl", "claude-crlf-line-ends.jsonl", "chat-duplicate-keys.jsonl", "chat-utf16.jsonl", "readme.jsonl",
)  # fmt: skip
#: Stages of a night that touch the disk; those that compute are added as they are met.
ON_DISK = ("settle", "read", "archive", "publish", "audit", "done", "report", "pack tightly", "runs")
#: Kills inside each stage, and by the clock.
IN_EACH, BY_CLOCK = 20, 30
WORKERS = 2

pytestmark = pytest.mark.slow


class Nights:
    """Processes that are ready to fork a night."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self._free: Queue[subprocess.Popen[bytes]] = Queue()
        for _ in range(WORKERS):
            command = [sys.executable, str(HERE / "child.py"), str(self.fresh())]
            environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent)}
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            self._free.put(process)

    def ask(self, folder: Path, **order: Any) -> dict[str, Any]:
        process = self._free.get()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"folder": str(folder), **order}).encode() + b"\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer
        finally:
            self._free.put(process)

    def fresh(self) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.room))
        (folder / "in").mkdir()
        for name in FILES:
            shutil.copy(FIXTURES / name, folder / "in" / name)
        return folder

    def close(self) -> None:
        while not self._free.empty():
            process = self._free.get()
            process.communicate()


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    opened = Nights(tmp_path_factory.mktemp("nights"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def whole(nights: Nights) -> dict[str, Any]:
    """A night that nobody kills."""
    answer = nights.ask(nights.fresh(), check=True, count=True)
    assert not answer["killed"], answer
    assert "error" not in answer, answer
    assert answer["code"] == 1, answer  # one file cannot be read
    assert answer["found"]["problems"] == []
    assert len(answer["found"]["records"]) == 3
    assert answer["found"]["rest"] == []
    return answer


def plain(found: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in found.items() if k not in {"lines", "totals"}}


def recovers(nights: Nights, whole: dict[str, Any], folder: Path, what: str) -> None:
    """The next night makes of it what an unkilled one would have."""
    again = nights.ask(folder, check=True)
    assert not again["killed"], what
    assert "error" not in again, (what, again)
    assert plain(again["found"]) == plain(whole["found"]), what
    assert [line.rsplit(" ", 1)[0] for line in again["found"]["lines"]] == [
        line.rsplit(" ", 1)[0] for line in whole["found"]["lines"]
    ], what
    assert again["found"]["totals"] == whole["found"]["totals"], what
    shutil.rmtree(folder)


def test_killed_at_every_step_on_the_disk(nights: Nights, whole: dict[str, Any]) -> None:
    steps = whole["steps"]
    cases = [
        (i, when)
        for i, name in enumerate(steps)
        for when in (("before", "middle", "after") if name.endswith(":write") else ("before", "after"))
    ]

    def one(case: tuple[int, str]) -> str:
        folder = nights.fresh()
        answer = nights.ask(folder, step=case[0], when=case[1])
        assert answer["killed"], (steps[case[0]], case)
        recovers(nights, whole, folder, f"{case[1]} step {case[0]}, {steps[case[0]]}")
        return f"{case[1]} {steps[case[0]]}"

    with ThreadPoolExecutor(WORKERS) as pool:
        done = Counter(pool.map(one, cases))
    print("\nkilled at:", *(f"{n:4} {what}" for what, n in sorted(done.items())), sep="\n")
    names = set(steps)
    assert {"pack:write", "pack:fsync", "index:commit", "output:write", "output:fsync", "output:rename"} <= names
    assert {"audit:write", "audit:fsync", "done:commit", "announce:commit", "report:write", "runs:write"} <= names


def test_killed_at_random_moments_in_every_stage(nights: Nights, whole: dict[str, Any]) -> None:
    rng = random.Random(20260131)
    calls = whole["calls"]
    assert set(ON_DISK) <= set(calls), set(ON_DISK) - set(calls)
    stages = sorted(s for s in calls if calls[s] >= IN_EACH)
    cases = [{"stage": s, "call": rng.randint(1, calls[s])} for s in stages for _ in range(IN_EACH)]
    cases += [{"after": rng.uniform(0.0, 0.25)} for _ in range(max(BY_CLOCK, 330 - len(cases)))]

    def one(case: dict[str, Any]) -> str:
        folder = nights.fresh()
        answer = nights.ask(folder, **case)
        if answer["killed"]:
            assert case.get("stage", answer["stage"]) == answer["stage"], (case, answer)
        recovers(nights, whole, folder, str((case, answer["stage"])))
        return answer["stage"] if answer["killed"] else "not killed: over before"

    with ThreadPoolExecutor(WORKERS) as pool:
        done = Counter(pool.map(one, cases))
    print("\nkilled in stage:", *(f"{n:4} {what}" for what, n in sorted(done.items())), sep="\n")
    killed = sum(n for what, n in done.items() if not what.startswith("not killed"))
    assert killed >= 300
    assert all(done[s] >= IN_EACH for s in stages), done


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EACCES", "EMFILE"])
def test_the_disk_refuses_at_every_step(nights: Nights, whole: dict[str, Any], error: str) -> None:
    steps = whole["steps"]
    seen: dict[str, int] = {}
    for i, name in enumerate(steps):
        # the first of each name; of a full disk also the second, when something is there already
        if sum(1 for n in steps[:i] if n == name) < (2 if error == "ENOSPC" else 1):
            seen[f"{name} {i}"] = i

    def one(case: int) -> None:
        folder = nights.fresh()
        answer = nights.ask(folder, step=case, when="fail", error=error, torn=error == "ENOSPC")
        what = f"{error} at step {case}, {steps[case]}"
        assert not answer["killed"], what
        assert "error" not in answer, (what, answer)
        assert answer["code"] in {0, 1}, (what, answer)
        recovers(nights, whole, folder, what)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, seen.values()))
    print(f"\n{error}: {len(seen)} places")
