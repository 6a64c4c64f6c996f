"""Of the damage done to good files the check finds 98 %, of no kind less than 90 %, and names the line."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from compressor.errors import CompressError
from compressor.reading import detect, open_source

from .damage import BYTES, STRUCTURAL, mutants, normal
from .measure import Score, findings, measure
from .shapes import SHAPES

FIXTURES = Path(__file__).parents[2] / "fixtures"
ROUNDS = 1


def good_files(name: str) -> list[Path]:
    return sorted(p for p in (FIXTURES / name).iterdir() if p.suffix in {".json", ".jsonl", ".traj", ".af"})


@pytest.mark.parametrize("name", SHAPES)
def test_damage_is_found(name: str) -> None:
    """Every kind of damage that a format's fixtures can take."""
    score = Score()
    measure(name, good_files(name), score, rounds=ROUNDS)
    kinds = {kind for _, kind in score.made}
    missed = {kind: [file for file, _ in found] for (_, kind), found in score.missed.items()}

    assert len(kinds) >= 12
    assert score.share() >= 0.98, missed
    assert all(score.share(kind) >= 0.9 for kind in kinds), missed


@pytest.mark.parametrize("name", SHAPES)
def test_good_files_are_good(name: str) -> None:
    """Nothing but what the fixtures were made to hold: ids used again, and no error."""
    for path in good_files(name):
        found = Counter((f.check, f.level.value) for f in findings(name, path.read_bytes()))

        assert not set(found) - {("E04", "warning"), ("J10", "note")}, (path, found)


def test_every_format_has_damage() -> None:
    from compressor import plugins

    assert set(SHAPES) <= set(plugins.names("formats"))


def test_kinds_of_damage_are_enough() -> None:
    assert len(STRUCTURAL) + len(BYTES) >= 25


def test_mutants_differ_from_the_good_file() -> None:
    """A generator that changes nothing would measure nothing."""
    from random import Random

    raw = (FIXTURES / "openai-chat" / "array.json").read_bytes()
    good = normal("openai-chat", raw)

    assert all(m.data != good and m.lines for m in mutants("openai-chat", raw, Random(1), 2))


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_damage_in_real_files_is_found(name: str, corpus: Path) -> None:
    """The same on real transcripts of up to 300 kB."""
    files = [p for p in _real(corpus) if _format(p) == name][:4]
    if not files:
        pytest.skip("the corpus holds none that is small and sound")
    score = Score()
    measure(name, files, score, seed=7, rounds=1)

    missed = {kind: [file for file, _ in found] for (_, kind), found in score.missed.items()}
    assert score.share() >= 0.95, missed


def _real(corpus: Path) -> list[Path]:
    files = [p for p in sorted(corpus.rglob("*")) if p.is_file() and 500 < p.stat().st_size < 300_000]
    return [p for p in files if p.suffix in {".json", ".jsonl", ".traj"} and _is_sound(p)]


def _is_sound(path: Path) -> bool:
    found = findings(path.suffix, path.read_bytes())
    return not any(f.check[0] in "JF" or f.check in {"S01", "E05"} for f in found)


def _format(path: Path) -> str:
    try:
        return detect(open_source(path))
    except CompressError:
        return os.fspath(path)
