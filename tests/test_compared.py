"""The codes that need both files: E06, E08, E14 and W01."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compressor.api import compress
from compressor.formats import Source
from compressor.reading import read
from compressor.validate import _compared

FIXTURES = Path(__file__).parent.parent / "fixtures"


def codes(before: bytes, after: bytes) -> list[str]:
    return [f.check for f in _compared.check(read(Source("a", before)), read(Source("b", after)))]


@pytest.mark.parametrize(
    "name", ["claude-code/refactor-billing.jsonl", "tau-bench/ferry.json", "tau2-bench/gauges.json", "swe-agent/tide.traj",
             "mini-swe-agent/tide.traj.json", "atif/lanternlog.json", "inspect/lanternlog.json", "codex/payments-cli.jsonl"]
)  # fmt: skip
def test_a_compaction_of_ours_has_none(name: str) -> None:
    path = FIXTURES / name

    assert codes(path.read_bytes(), compress(path, ratio=2).data) == []


def test_e14_a_reward_was_changed() -> None:
    raw = (FIXTURES / "tau-bench" / "ferry.json").read_bytes()
    value = json.loads(raw)
    value[1]["reward"] = 0.5

    assert "E14" in codes(raw, json.dumps(value).encode())


def test_e14_an_action_was_dropped() -> None:
    raw = (FIXTURES / "swe-agent" / "tide.traj").read_bytes()
    value = json.loads(raw)
    del value["trajectory"][1]

    assert "E14" in codes(raw, json.dumps(value).encode())


def test_e08_the_last_request_is_gone() -> None:
    rows = [{"role": r, "content": f"{r} says {i}"} for i in range(3) for r in ("user", "assistant")]

    assert codes(json.dumps(rows).encode(), json.dumps(rows[:4]).encode()) == ["E08"]


def test_e06_half_a_message_is_gone() -> None:
    """Blocks of one answer stand in several records."""
    raw = (FIXTURES / "claude-code" / "refactor-billing.jsonl").read_bytes()
    lines = raw.decode("utf-8").rstrip("\n").split("\n")
    rows = [json.loads(line) for line in lines]
    ids = [r["message"]["id"] if r.get("type") == "assistant" else "" for r in rows]
    half = next(i for i, id_ in enumerate(ids) if id_ and ids.count(id_) > 1)
    kept = "\n".join(line for i, line in enumerate(lines) if i != half) + "\n"

    assert "E06" in codes(raw, kept.encode())


def test_w01_usage_was_computed_again() -> None:
    raw = (FIXTURES / "claude-code" / "refactor-billing.jsonl").read_bytes()
    rows = [json.loads(line) for line in raw.decode("utf-8").rstrip("\n").split("\n")]
    next(r for r in rows if "usage" in r.get("message", {}))["message"]["usage"]["input_tokens"] = 987654321
    changed = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)

    assert codes(raw, changed.encode()) == ["W01"]
