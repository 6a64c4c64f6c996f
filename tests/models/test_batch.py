"""Batch runs: handed in today, collected later, by another process, twice, and killed at any point in between."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from modelkit import KEY, write_session
from server import Server, entry, plain

Cli = Callable[..., Any]
BOTH = pytest.mark.parametrize("protocol", ["openai", "anthropic"])
A = ("--archive", "out/.compress")


class Killed(BaseException):
    """What SIGKILL looks like from inside: nobody catches it."""


@pytest.fixture
def submit(folder: Path, server: Server, cli: Cli) -> Callable[..., Any]:
    for i in range(3):
        write_session(folder / "in" / f"{i}.json", f"app{i}", rounds=6)

    def go(protocol: str, *args: object) -> Any:
        url = server.url if protocol == "openai" else server.root
        return cli("run", "in", "-o", "out", "--batch", "--model", "scripted", "--base-url", url,
                   "--summarizer-option", f"client={protocol}", *args)  # fmt: skip

    return go


def _outputs() -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in Path("out").glob("?.json")}


def _states() -> list[dict[str, Any]]:
    return [json.loads(p.read_bytes()) for p in sorted(Path("out/.compress/batches").glob("*/state.json"))]


@BOTH
def test_handed_in_and_collected(submit: Cli, server: Server, cli: Cli, protocol: str) -> None:
    server.batch_delay = 1
    ran = submit(protocol)

    assert ran.code == 0, ran.err
    assert "3 waiting" in ran.out
    assert "3 requests handed in as " in ran.out
    assert _outputs() == {}
    assert len(server.batches) == 1
    assert not any(p.endswith(("completions", "messages")) for p in server.paths)

    status = json.loads(cli("batch", "status", *A, "--json").out)["batches"]
    assert [(s["stage"], s["waiting"]) for s in status] == [("open", 3)]

    ran = cli("batch", "collect", *A)
    assert (ran.code, _outputs()) == (0, {})
    assert "3 requests are on their way" in ran.out

    ran = cli("batch", "collect", *A)
    assert ran.code == 0, ran.err
    assert "3 compacted" in ran.out
    assert "by batch: 3 answers, 300 tokens in, 150 out" in ran.out
    first = _outputs()
    assert len(first) == 3
    assert all(
        json.loads(Path(f"out/{i}.report.json").read_text())["sessions"][0]["summarizer"] == "llm" for i in range(3)
    )

    asked = len(server.asked)
    assert cli("batch", "collect", *A).out == "no open batch runs\n"
    assert cli("batch", "collect", *A, _states()[0]["name"]).code == 0
    assert (_outputs(), len(server.asked), len(server.batches)) == (first, asked, 1)
    # an ordinary run finds the answers, too
    url = server.url if protocol == "openai" else server.root
    cli("run", "in", "-o", "again", *A, "--model", "scripted", "--base-url", url)
    assert {p.name: p.read_bytes() for p in Path("again").glob("?.json")} == first
    assert len(server.asked) == asked


@BOTH
def test_a_repair_is_another_round(submit: Cli, server: Server, cli: Cli, protocol: str) -> None:
    lie = entry("It took 4711 days.", "#1")
    server.script = lambda a: plain(a) if a.is_repair else {**plain(a), "findings": [lie]}
    submit(protocol)

    ran = cli("batch", "collect", *A)
    assert "3 waiting" in ran.out
    assert len(server.batches) == 2

    assert "3 compacted" in cli("batch", "collect", *A).out
    assert all(b"4711" not in data for data in _outputs().values())
    assert [s["stage"] for s in _states()] == ["done"]


@BOTH
def test_what_fails_in_the_batch_falls_back(submit: Cli, server: Server, cli: Cli, protocol: str) -> None:
    server.fail_in_batch = lambda a: "app1" in a.data
    submit(protocol)

    ran = cli("batch", "collect", *A)

    assert ran.code == 0
    results = {i: json.loads(Path(f"out/{i}.report.json").read_text())["sessions"][0] for i in range(3)}
    assert [r["summarizer"] for r in results.values()] == ["llm", "extractive", "llm"]
    assert "no answer in the batch: scripted" in results[1]["findings"][0]["message"]
    assert len(server.batches) == 1


@BOTH
def test_killed_behind_handing_in(submit: Cli, server: Server, cli: Cli, protocol: str) -> None:
    """The batch is at the provider's, and its id is not on our disk: it is found, not paid for again."""
    from compressor.summarizers import _batches

    kind = _batches.OpenAIBatches if protocol == "openai" else _batches.AnthropicBatches
    real = kind.hand_in

    def killed(self: Any, *args: Any) -> str:
        real(self, *args)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "hand_in", killed)
        with pytest.raises(Killed):
            submit(protocol)
    assert [p["stage"] for s in _states() for p in s["parts"]] == ["announced"]

    server.batch_delay = 1 if protocol == "openai" else -1
    for _ in range(3):
        assert cli("batch", "collect", *A).code == 0
    assert len(_outputs()) == 3
    assert len(server.batches) == 1


def test_a_batch_that_may_be_ours_is_waited_for(submit: Cli, server: Server, cli: Cli) -> None:
    from compressor.summarizers import _batches

    real = _batches.AnthropicBatches.hand_in

    def killed(self: Any, *args: Any) -> str:
        real(self, *args)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_batches.AnthropicBatches, "hand_in", killed)
        with pytest.raises(Killed):
            submit("anthropic")
    server.batch_delay = 99
    cli("batch", "collect", *A)
    assert (len(server.batches), _outputs()) == (1, {})

    server.batch_delay = -1
    cli("batch", "collect", *A)
    assert (len(server.batches), len(_outputs())) == (1, 3)


@BOTH
@pytest.mark.parametrize("step", [1, 3, 5, 6, 8, 11, 14, 19])
def test_killed_at_any_write(
    submit: Cli, server: Server, cli: Cli, protocol: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renames are what changes the disk: dying before the n-th loses nothing and pays nothing twice."""
    left = [step]
    real = Path.replace

    def dying(self: Path, target: Any) -> Path:
        if os.fspath(self).endswith(".compress.tmp"):
            left[0] -= 1
            if not left[0]:
                raise Killed
        return real(self, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", dying)
        for go in (lambda: submit(protocol), lambda: cli("batch", "collect", *A)):
            try:
                go()
            except Killed:
                break
    if not _states():
        submit(protocol)
    server.batch_delay = -1
    for _ in range(4):
        cli("batch", "collect", *A)

    assert len(_outputs()) == 3
    assert len(server.batches) == 1
    assert all(s["stage"] == "done" for s in _states())


def test_two_runs_do_not_pay_twice(submit: Cli, server: Server, cli: Cli) -> None:
    server.batch_delay = 1
    submit("openai")
    submit("openai")

    assert len(server.batches) == 1
    for _ in range(3):
        cli("batch", "collect", *A)
    assert len(_outputs()) == 3
    assert len(server.batches) == 1


@BOTH
def test_cancelled(submit: Cli, server: Server, cli: Cli, protocol: str) -> None:
    server.batch_delay = 99
    submit(protocol)

    ran = cli("batch", "cancel", *A)

    assert "cancelled, 3 requests were on their way" in ran.out
    assert [b["state"] for b in server.batches.values()] == ["cancelled" if protocol == "openai" else "canceled"]
    assert cli("batch", "collect", *A).out == "no open batch runs\n"
    assert _outputs() == {}


def test_too_dear_is_not_handed_in(submit: Cli, server: Server) -> None:
    Path("table.yaml").write_text("prices:\n- {model: scripted, input: 10, output: 100, batch: 0.5}\n")

    ran = submit("openai", "--prices", "table.yaml", "--max-cost", "0.1")

    assert ran.code == 1
    assert "the batch might cost 0." in ran.err
    assert "nothing was handed in" in ran.err
    assert server.batches == {}
    assert _states() == []


def test_a_dry_run_reckons_with_the_price_of_a_batch(submit: Cli, server: Server) -> None:
    Path("table.yaml").write_text("prices:\n- {model: scripted, input: 10, output: 100, batch: 0.5}\n")

    ran = submit("openai", "--prices", "table.yaml", "--dry-run")

    assert "would be sent 3 requests" in ran.out
    assert server.paths == []
    assert not Path("out").exists()


def test_no_such_run(submit: Cli, cli: Cli) -> None:
    ran = cli("batch", "collect", *A, "nope")
    assert ran.code == 2
    assert 'no batch run "nope"' in ran.err


def test_the_key_is_not_on_disk(submit: Cli, server: Server, cli: Cli) -> None:
    submit("openai")
    cli("batch", "collect", *A)
    assert not [p for p in Path().rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    Path(next(Path("out/.compress/batches").glob("*/state.json"))).write_text("{half")
    ran = cli("batch", "status", *A)
    assert ran.code == 1
    assert "the state of a batch is damaged" in ran.err
