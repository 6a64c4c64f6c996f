"""Records written twice or out of order: a session with them is compacted all the same, and reads back as written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from compressor.formats import Source
from compressor.model import Verdict
from compressor.pipeline import Settings, compact
from compressor.rules import load_preset

FIXTURES = Path(__file__).parent.parent / "fixtures"
TREES = [
    "claude-code/zh-deploy.jsonl",
    "pi/lanternlog.jsonl",
    "qwen-code/lanternlog.jsonl",
    "copilot-cli/lanternlog.jsonl",
]


def verdicts(raw: bytes) -> set[Verdict]:
    outcome = compact(Source("session.jsonl", raw), Settings(preset=load_preset("archive"), ratio=4.0))
    return {r.verdict for r in outcome.results}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("seed", range(3))
def test_records_written_twice(name: str, seed: int) -> None:
    rng = random.Random(seed)
    lines = (FIXTURES / name).read_bytes().splitlines(keepends=True)
    twice = b"".join(line * (2 if rng.random() < 0.15 else 1) for line in lines)
    assert verdicts(twice) == {Verdict.COMPACTED}


@pytest.mark.parametrize("seed", range(3))
def test_records_written_before_their_parents(seed: int) -> None:
    rng = random.Random(seed)
    lines = (FIXTURES / "claude-code" / "zh-deploy.jsonl").read_bytes().splitlines(keepends=True)
    for i in rng.sample(range(20, len(lines) - 20), 5):
        lines[i], lines[i + 1] = lines[i + 1], lines[i]
    assert verdicts(b"".join(lines)) == {Verdict.COMPACTED}
