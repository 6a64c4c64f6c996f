"""Every failure of an endpoint: no fact is lost, nothing is half-written, and the user is told what to do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from modelkit import KEY, report_of, write_session
from server import Asked, Drop, Hang, Raw, Say, Script, Server, Status, brief, entry, plain

from compressor.reading import open_source, read

Run = Callable[..., Any]
FACTS = ("Never push to main.", "Do not touch the migrations folder.")
BOTH = pytest.mark.parametrize("protocol", ["openai", "anthropic"])


def _endless(asked: Asked) -> str:
    return json.dumps(brief(goal=entry("over and over again " * 100_000)))


def _german(asked: Asked) -> dict[str, Any]:
    text = "Der Bau ist nicht fertig, und die Datei wird von dem Programm nicht gelesen, weil das Schloss fehlt. " * 4
    return brief(goal=entry(text, "#1"), progress=entry(text, "#2"))


def _input(asked: Asked) -> str:
    return asked.turns[0]


def _input_as_json(asked: Asked) -> dict[str, Any]:
    return brief(goal=entry(asked.turns[0], "#1"))


def _other_shape(asked: Asked) -> str:
    return json.dumps({"summary": "all is well", "score": 3})


_NO_END = json.dumps(brief(goal=entry("".join(map(str, range(900_000))))))

#: Failure, script, words of the message, and how many requests it may take (the repair of an answer is one more).
FAILURES: dict[str, tuple[Script, str, int]] = {
    "401": (
        lambda a: Status(401, f"Incorrect API key provided: {KEY}"),
        "refuses the key (401) (check COMPRESS_API_KEY)",
        1,
    ),
    "403": (lambda a: Status(403), "refuses the key (403)", 1),
    "404": (lambda a: Status(404), 'knows no model "scripted"', 1),
    "redirect": (lambda a: Status(307, headers={"location": "http://127.0.0.1:9/"}), "sends us elsewhere (307)", 1),
    "400": (lambda a: Status(400, "your words are not nice"), "refuses the request (400): your words are not nice", 1),
    "used up": (lambda a: Status(429, "pay", kind="insufficient_quota"), "the account is used up (429)", 1),
    "429": (lambda a: Status(429, "slow down"), "busy or broken (429): slow down", 3),
    "500": (lambda a: Status(500), "busy or broken (500)", 3),
    "503": (lambda a: Status(503), "busy or broken (503)", 3),
    "529": (lambda a: Status(529), "busy or broken (529)", 3),
    "dropped": (lambda a: Drop(), "no connection to 127.0.0.1, or it broke", 3),
    "dropped midway": (lambda a: Drop(midway=True), "no connection to 127.0.0.1, or it broke", 3),
    "timeout": (lambda a: Hang(2.0), "did not answer in time", 3),
    "trickle": (lambda a: Hang(0.02, drip=True), "in time", 3),
    "no JSON at all": (lambda a: Raw(b"<html>502 Bad Gateway</html>"), "the endpoint's answer is not JSON", 3),
    "no completion": (lambda a: Raw(b'{"hello": "world"}'), "the endpoint's answer is no", 1),
    "empty body": (lambda a: Raw(b""), "the endpoint's answer is not JSON", 3),
    "truncated": (lambda a: Say('{"goal": {"text": "half a', "length"), "cut off before its end", 2),
    "empty": (lambda a: Say(""), "the answer is empty, twice", 2),
    "refusal": (lambda a: Say("I cannot help with that.", "refusal"), "the model refuses", 1),
    "not JSON": (lambda a: "Here is your summary: all is well.", "not one JSON object, twice", 2),
    "other shape": (_other_shape, "not a brief: $:", 2),
    "wrong language": (_german, 'the brief is in "de": write it in "en"', 2),
    "repetition": (_endless, "says one thing over and over", 2),
    "endless": (lambda a: _NO_END, "the answer has no end", 1),
    "the input": (_input, "not one JSON object", 2),
    "the input as JSON": (_input_as_json, "copies the transcript", 2),
    "nothing to say": (lambda a: brief(), "the brief says nothing", 2),
    "deeply nested": (lambda a: '{"goal":' * 2_000 + "1" + "}" * 2_000, "not one JSON object", 2),
}


@BOTH
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_costs_no_fact(failure: str, protocol: str, session: Path, server: Server, run: Run) -> None:
    server.script, words, most = FAILURES[failure]
    before = session.read_bytes()

    ran = run(
        "session.json", "--summarizer-option", "attempts=3", "--summarizer-option", "timeout=0.3", protocol=protocol
    )

    result = report_of()
    written = Path("session.compact.json").read_text(encoding="utf-8")
    assert ran.code == 0, ran.err
    assert result["verdict"] == "compacted"
    assert result["summarizer"] == "extractive"
    assert all(fact in written for fact in FACTS)
    assert all(f["kept"] == f["registered"] for f in result["facts"].values())
    assert read(open_source("session.compact.json")).sessions[0].mark is not None
    assert session.read_bytes() == before
    (found,) = [f for f in result["findings"] if f["level"] != "note"]
    assert (found["check"], found["level"]) == ("summarizer", "warning")
    assert words in found["message"]
    assert words[:60] in ran.out
    assert len(server.asked) <= most
    assert not list(Path().rglob("*.compress.tmp"))
    assert KEY not in written + Path("session.report.json").read_text() + ran.out + ran.err


def test_a_failure_can_fail_the_run(session: Path, server: Server, run: Run) -> None:
    server.script = lambda a: Status(401)

    assert run("session.json", "--fail-on", "warning").code == 1


@BOTH
def test_a_passing_failure_passes(session: Path, server: Server, run: Run, protocol: str) -> None:
    failures: list[Any] = [Status(503), Drop(), Drop(midway=True), Status(429, headers={"retry-after": "0.05"})]
    server.script = lambda a: failures[a.number] if a.number < len(failures) else plain(a)

    assert run("session.json", protocol=protocol).code == 0

    result = report_of()
    assert result["summarizer"] == "llm"
    assert result["findings"] == []
    assert result["model"]["retries"] == 4
    assert result["model"]["requests"] == 1


@pytest.mark.parametrize("said", ["0.4", formatdate(time.time() + 2, usegmt=True)])
def test_retry_after_is_waited_for(session: Path, server: Server, run: Run, said: str) -> None:
    times: list[float] = []

    def script(asked: Asked) -> Any:
        times.append(time.monotonic())
        if asked.number:
            return plain(asked)
        wait = said if said[0] == "0" else formatdate(time.time() + 2, usegmt=True)
        return Status(429, headers={"retry-after": wait})

    server.script = script
    run("session.json")

    assert report_of()["summarizer"] == "llm"
    assert times[1] - times[0] >= (0.4 if said[0] == "0" else 0.9)


def test_a_wait_that_is_too_long_is_not_begun(session: Path, server: Server, run: Run) -> None:
    server.script = lambda a: Status(429, headers={"retry-after": "3600"})
    started = time.monotonic()

    run("session.json", "--deadline", "5s")

    assert time.monotonic() - started < 20
    assert len(server.asked) == 1


def test_the_deadline_is_for_the_session(session: Path, server: Server, run: Run) -> None:
    server.script = lambda a: Hang(0.4) if a.number < 2 else Status(503)

    run("session.json", "--deadline", "1s", "--summarizer-option", "timeout=0.3", "--summarizer-option", "attempts=50",
        "--summarizer-option", "backoff=0.2")  # fmt: skip

    assert report_of()["summarizer"] == "extractive"
    assert len(server.asked) < 12


def test_the_breaker_spares_everybody_the_wait(folder: Path, server: Server, run: Run) -> None:
    for i in range(8):
        write_session(folder / "in" / f"{i}.json", f"app{i}")
    server.script = lambda a: Status(503)

    ran = run("in", "-o", "out", "--concurrency", "1", "--summarizer-option", "attempts=2", "--report", "r.json")

    results = json.loads(Path("r.json").read_text())["sessions"]
    assert ran.code == 0
    assert [r["verdict"] for r in results] == ["compacted"] * 8
    assert len(server.asked) == 6
    assert "not asked: the endpoint has failed 3 times in a row" in results[-1]["findings"][0]["message"]


def test_a_wrong_key_is_tried_once_a_run(folder: Path, server: Server, run: Run) -> None:
    for i in range(5):
        write_session(folder / "in" / f"{i}.json", f"app{i}")
    server.script = lambda a: Status(401)

    run("in", "-o", "out", "--concurrency", "1", "--report", "r.json")

    results = json.loads(Path("r.json").read_text())["sessions"]
    assert len(server.asked) == 1
    assert all("refuses the key" in r["findings"][0]["message"] for r in results)


def test_one_repair_of_an_unreadable_answer(session: Path, server: Server, run: Run) -> None:
    server.script = lambda a: plain(a) if a.is_repair else "Sure! Here it is:"

    run("session.json")

    result = report_of()
    assert result["summarizer"] == "llm"
    assert result["steps"][0] == "llm: brief: the answer is not one JSON object; asked again"
    assert "not one JSON object" in server.asked[1].problems
    # what repeats goes first, so that prompt caches hit
    first, second = (json.dumps(a.body["messages"]) for a in server.asked)
    assert second.startswith(first[:-1])


def test_an_endpoint_without_structured_output(session: Path, server: Server, run: Run) -> None:
    def script(asked: Asked) -> Any:
        if "response_format" in asked.body:
            return Status(400, "response_format is not supported")
        if "max_tokens" in asked.body:
            return Status(400, "use max_completion_tokens")
        return f"<think>{{hm}}</think>\n```json\n{json.dumps(plain(asked))}\n```"

    server.script = script
    run("session.json")

    assert report_of()["summarizer"] == "llm"
    assert len(server.asked) == 3
