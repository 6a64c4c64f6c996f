"""What would be sent is told before; limits stop cleanly; what was paid for is kept, and can be played again."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from modelkit import report_of, write_session
from server import Asked, Say, Server, Status, entry, plain

from compressor.asking import Price
from compressor.errors import SummarizeError
from compressor.prices import price
from compressor.summarizers._service import Pace

Run = Callable[..., Any]
TABLE = "prices:\n- {model: scripted, as_of: 2025-01-01, input: 10, cached: 1, output: 100, batch: 0.5}\n"


def _many(count: int) -> None:
    for i in range(count):
        write_session(Path("in") / f"{i:03}.json", f"app{i}", rounds=6)


def _results(path: str = "r.json") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(path).read_text())["sessions"]
    return found


# -- before anything is sent


def test_a_dry_run_tells_requests_tokens_and_price(
    session: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("table.yaml").write_text(TABLE)
    monkeypatch.delenv("COMPRESS_API_KEY")

    ran = run("session.json", "--dry-run", "--prices", "table.yaml")

    assert ran.code == 0
    assert server.asked == []
    assert "would be sent 1 requests, about " in ran.out
    assert "at most 2,000 back; cost at most: 0.26" in ran.out
    assert sorted(p.name for p in Path().iterdir()) == ["session.json", "table.yaml"]


def test_a_dry_run_counts_what_is_really_sent(folder: Path, server: Server, run: Run) -> None:
    write_session(folder / "session.json", rounds=40)
    small = ("--summarizer-option", "context=9000", "--summarizer-option", "max_output=1000")

    planned = json.loads(run("session.json", "--dry-run", "--json", *small).out)["totals"]["model"]
    run("session.json", *small)

    assert planned["planned"] == len(server.asked) == report_of()["model"]["requests"]
    assert planned["cost"] is None
    again = json.loads(run("session.json", "--dry-run", "--json", "-o", "b.json", *small).out)["totals"]["model"]
    assert (again["planned"], again["stored"]) == (0, len(server.asked))


def test_prices() -> None:
    known = price("gpt-4.1-mini", "api.openai.com")
    assert known is not None
    assert (known.input, known.cached, known.output, known.batch) == (0.4, 0.1, 1.6, 0.5)
    assert known.as_of.startswith("20")
    assert price("gpt-4.1-mini", "localhost") is None
    assert price("gpt-9", "api.openai.com") is None
    assert Price("x", 10, 100, 1, 0.5).of(1_000_000, 10_000, 400_000) == pytest.approx(7.4)
    assert Price("x", 10, 100, 1, 0.5).of(1_000_000, 10_000, batch=True) == pytest.approx(5.5)


def test_a_wrong_price_table_is_told(session: Path, run: Run) -> None:
    Path("table.yaml").write_text("prices:\n- {model: scripted, input: 10, outptu: 3}\n")

    ran = run("session.json", "--prices", "table.yaml")

    assert ran.code == 2
    assert "table.yaml:2:" in ran.err
    assert "outptu" in ran.err


# -- limits


@pytest.mark.parametrize("limit", [("--max-cost", "0.25"), ("--max-tokens", "12000")])
def test_a_limit_stops_cleanly(folder: Path, server: Server, run: Run, limit: tuple[str, str]) -> None:
    _many(6)
    Path("table.yaml").write_text(TABLE)
    server.script = lambda a: Say(json.dumps(plain(a)), usage=(3000, 1500, 0))

    ran = run("in", "-o", "out", "--prices", "table.yaml", "--report", "r.json", "--concurrency", "1", *limit)

    results = _results()
    verdicts = [r["verdict"] for r in results]
    done = len(server.asked)
    assert ran.code == 1
    assert 0 < done < 6
    assert verdicts == ["compacted"] * done + ["waiting"] * (6 - done)
    assert sorted(p.name for p in Path("out").glob("*.json")) == [f"{i:03}.json" for i in range(done)]
    assert f"might go over {limit[0]}" in ran.err
    assert "raise the limit or run again" in ran.err

    assert run("in", "-o", "out", "--prices", "table.yaml", "--report", "r.json").code == 0
    assert [r["verdict"] for r in _results()] == ["compacted"] * 6
    assert len(server.asked) == 6


def test_usage_is_added_up(folder: Path, server: Server, run: Run) -> None:
    _many(3)
    Path("table.yaml").write_text(TABLE)
    server.script = lambda a: Say(json.dumps(plain(a)), usage=(1000 + a.number, 200, 500))

    ran = run("in", "-o", "out", "--prices", "table.yaml", "--report", "r.json")

    totals = json.loads(Path("r.json").read_text())["totals"]["model"]
    assert totals["requests"] == 3
    assert totals["tokens"] == {"input": 3003, "output": 600, "cached": 1500}
    assert totals["cost"] == pytest.approx((1503 * 10 + 1500 * 1 + 600 * 100) / 1e6)
    assert "model: 3 requests, 3,003 tokens in, 600 out; cost: 0.0765" in ran.out


# -- answers at hand


def test_an_answer_is_paid_for_once(session: Path, server: Server, run: Run) -> None:
    run("session.json")
    first = Path("session.compact.json").read_bytes()
    Path("session.compact.json").unlink()

    run("session.json")

    assert len(server.asked) == 1
    assert report_of()["model"] == {
        "requests": 0, "stored": 1, "retries": 0, "planned": 0,
        "tokens": {"input": 0, "output": 0, "cached": 0}, "cost": None,
    }  # fmt: skip
    assert Path("session.compact.json").read_bytes() == first
    kept = list(Path(".compress/answers").rglob("*.json"))
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o077 == 0

    run("session.json", "--focus", "the lock file", "-o", "focus.json")
    assert len(server.asked) == 2
    kept[0].write_text("{half")
    run("session.json", "-o", "again.json")
    assert len(server.asked) == 3


def test_an_empty_answer_is_not_kept(session: Path, server: Server, run: Run) -> None:
    server.script = lambda a: "" if a.number < 2 else plain(a)
    run("session.json")
    assert report_of()["summarizer"] == "extractive"

    run("session.json", "-o", "b.json")
    assert report_of("b.report.json")["summarizer"] == "llm"


def test_a_second_run_on_the_output_changes_nothing(session: Path, server: Server, run: Run) -> None:
    run("session.json", "-o", "one.json")
    run("one.json", "-o", "two.json")

    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    assert len(server.asked) == 1


# -- cassettes


def test_a_cassette_is_played_again(session: Path, server: Server, run: Run, cli: Run) -> None:
    server.script = lambda a: plain(a) if a.is_repair else {**plain(a), "findings": [entry("It took 4711 days.", "#1")]}
    run("session.json", "--cassette", "tape.jsonl")
    asked = len(server.asked)
    assert asked == 2
    shutil.rmtree(".compress")

    ran = cli("run", "session.json", "-o", "played.json", "--summarizer", "replay", "--cassette", "tape.jsonl")

    assert ran.code == 0, ran.err
    assert len(server.asked) == asked
    played, live = report_of("played.report.json"), report_of()
    assert played["summarizer"] == "replay"
    assert played["brief"] == live["brief"]
    assert [s.replace("replay", "llm") for s in played["steps"]] == live["steps"]
    run("session.json", "--cassette", "tape2.jsonl", "-o", "b.json")
    assert Path("tape.jsonl").read_bytes() == Path("tape2.jsonl").read_bytes()


def test_a_miss_is_loud(session: Path, server: Server, run: Run, cli: Run) -> None:
    run("session.json", "--cassette", "tape.jsonl")
    write_session(session, "another")

    ran = cli("run", "session.json", "-o", "played.json", "--summarizer", "replay", "--cassette", "tape.jsonl")

    assert ran.code == 1
    assert "tape.jsonl: no recorded answer for this request (brief, " in ran.err
    assert "record again with --summarizer llm --cassette FILE" in ran.err
    assert not Path("played.json").exists()


def test_a_broken_cassette_is_told_with_its_line(session: Path, server: Server, run: Run, cli: Run) -> None:
    run("session.json", "--cassette", "tape.jsonl")
    Path("tape.jsonl").write_text(Path("tape.jsonl").read_text() + "{oops\n")

    ran = cli("run", "session.json", "--summarizer", "replay", "--cassette", "tape.jsonl")

    assert ran.code == 2
    assert "tape.jsonl:3: not a recorded answer" in ran.err


# -- many at once


def test_many_sessions_at_once_in_one_order(folder: Path, server: Server, run: Run) -> None:
    _many(8)
    at_once: list[int] = []
    now = [0]
    lock = threading.Lock()

    def script(asked: Asked) -> Any:
        with lock:
            now[0] += 1
            at_once.append(now[0])
        time.sleep(0.3)
        with lock:
            now[0] -= 1
        return plain(asked)

    server.script = script
    run("in", "-o", "out", "--concurrency", "4", "--report", "r.json")

    assert [Path(r["path"]).name for r in _results()] == [f"{i:03}.json" for i in range(8)]
    assert {r["verdict"] for r in _results()} == {"compacted"}
    assert max(at_once) in {3, 4}

    run("in", "-o", "serial", "--concurrency", "1", "--archive", "other", "--report", "s.json")
    for i in range(8):
        assert Path(f"out/{i:03}.json").read_bytes() == Path(f"serial/{i:03}.json").read_bytes()


def test_the_rates_are_kept(folder: Path, server: Server, run: Run) -> None:
    _many(4)
    times: list[float] = []
    server.script = lambda a: (times.append(time.monotonic()), plain(a))[1]

    run("in", "-o", "out", "--concurrency", "4", "--rpm", "240")

    assert len(times) == 4
    assert max(times) - min(times) >= 0.5


def test_pace() -> None:
    pace = Pace(0, 60_000)
    started = time.monotonic()
    pace.wait(300, started + 9)
    pace.wait(300, started + 9)
    assert 0.25 < time.monotonic() - started < 0.6
    pace.hold(100)
    with pytest.raises(SummarizeError, match="before its turn comes"):
        pace.wait(1, time.monotonic() + 1)


def test_a_failed_run_leaves_the_finished_finished(folder: Path, server: Server, run: Run) -> None:
    _many(4)
    server.script = lambda a: plain(a) if a.number < 2 else Status(401)

    ran = run("in", "-o", "out", "--concurrency", "1", "--report", "r.json")

    assert ran.code == 0
    assert [r["summarizer"] for r in _results()] == ["llm", "llm", "extractive", "extractive"]
    assert list(Path("out").iterdir())
