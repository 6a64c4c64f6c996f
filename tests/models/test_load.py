"""Many sessions at once against an endpoint with bad days, and runs that are killed at random moments.

`COMPRESS_KILLS` and `COMPRESS_SESSIONS` make the second test larger (the figures in the documentation are of 20 and 200).
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from modelkit import KEY, write_session
from server import Asked, Drop, Server, Status, plain

KILLS = int(os.environ.get("COMPRESS_KILLS", "2"))
SESSIONS = int(os.environ.get("COMPRESS_SESSIONS", "40"))
_APP = re.compile(r"app\d{3}")


def _sessions(count: int) -> None:
    for i in range(count):
        write_session(Path("in") / f"{i:03}.json", f"app{i:03}", rounds=4, lines=12)


def _app(text: str) -> str:
    found = _APP.search(text)
    assert found is not None
    return found[0]


class BadDays:
    """5 % of the requests are too many, 2 % break, the same ones in every run; how often each was asked and answered."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def __call__(self, asked: Asked) -> Any:
        name = _app(asked.data)
        self.asked[name] += 1
        chance = int(hashlib.sha256(f"{name}{self.asked[name]}".encode()).hexdigest()[:8], 16) % 100
        if chance < 7:
            self.failed[name] += 1
            return Status(429, headers={"retry-after": "0.02"}) if chance < 5 else Drop(midway=chance == 6)
        return plain(asked)


def test_two_hundred_sessions_sixteen_at_once(folder: Path, server: Server, run: Callable[..., Any]) -> None:
    _sessions(200)
    server.script = days = BadDays()

    ran = run("in", "-o", "out", "--concurrency", "16", "--report", "r.json", "--quiet")

    report = json.loads(Path("r.json").read_text())
    assert ran.code == 0, ran.err
    assert [Path(s["path"]).name for s in report["sessions"]] == [f"{i:03}.json" for i in range(200)]
    assert {(s["verdict"], s["summarizer"]) for s in report["sessions"]} == {("compacted", "llm")}
    assert sum(days.failed.values()) >= 8
    assert report["totals"]["model"]["requests"] == 200
    assert report["totals"]["model"]["retries"] == sum(days.failed.values())
    assert all(days.asked[name] == 1 + days.failed[name] for name in days.asked)
    assert len(list(Path("out").glob("*.json"))) == 400 - 200


def _command(server: Server, output: str) -> list[str]:
    return [
        sys.executable, "-m", "compressor", "run", "in", "-o", output, "--archive", f"{output}-archive", "--quiet",
        "--model", "scripted", "--base-url", server.url, "--concurrency", "16", "--summarizer-option", "backoff=0.01",
    ]  # fmt: skip


def _outputs(folder: str) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in Path(folder).glob("*.json")}


def _stored(folder: str) -> set[str]:
    """The sessions whose answer is kept."""
    return {_app(p.read_text()) for p in Path(folder, "answers").rglob("[0-9a-f]*.json")}


def test_killed_at_random_moments(folder: Path, server: Server) -> None:
    _sessions(SESSIONS)
    environment = {**os.environ, "COMPRESS_API_KEY": KEY}
    rng = random.Random(7)
    server.script = days = BadDays()
    server.latency = 0.15
    in_flight = kills = 0
    while kills < KILLS:
        stored = _stored("out-archive")
        before = Counter(days.asked)
        process = subprocess.Popen(_command(server, "out"), env=environment, stderr=subprocess.DEVNULL)
        # a moment at which the run is at work: some time behind its first request
        first = len(server.asked)
        while len(server.asked) == first and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is not None:
            break  # all is done; it cannot be killed any more
        time.sleep(rng.uniform(0, 1.2))
        process.kill()
        process.wait()
        time.sleep(0.3)  # what was on its way reaches the server
        kills += 1
        again = days.asked - before
        assert not stored & set(again), "a request was sent again whose answer was stored"
        in_flight += len(set(again) - _stored("out-archive"))
        for path in Path("out").glob("*.json"):
            json.loads(path.read_bytes())  # whole, or not there
    assert subprocess.run(_command(server, "out"), env=environment).returncode == 0
    server.latency = 0.0
    asked = len(server.asked)
    assert subprocess.run(_command(server, "out"), env=environment).returncode == 0
    assert len(server.asked) == asked

    repeated = sum(days.asked.values()) - len(days.asked)
    assert repeated <= sum(days.failed.values()) + in_flight
    server.script = plain
    assert subprocess.run(_command(server, "calm"), env=environment).returncode == 0
    assert len(_outputs("out")) == SESSIONS
    assert _outputs("out") == _outputs("calm")
    print(
        f"\n{kills} kills, {SESSIONS} sessions: {repeated} requests repeated, {sum(days.failed.values())} failed, {in_flight} killed in flight"
    )
