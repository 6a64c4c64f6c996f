"""The guards on the tuning half of the labelled sets: not worse than they were, and fast on any text."""

from __future__ import annotations

import time

import pytest

from benchmarks import guards as measure
from tests.kinds.guard_views import PERSON, found, ran, said

SIZE = 1_000_000
KINDS = ("negation", "obligation", "number", "entity", "decision", "quote", "task", "outcome")
TEXTS = {
    "letter": "a" * SIZE,
    "han": "不" * SIZE,
    "blanks": " " * SIZE,
    "lines": "\n" * SIZE,
    "brackets": "(" * (SIZE // 2) + ")" * (SIZE // 2),
    "mixed brackets": "[({" * (SIZE // 3),
    "base64": "QUJDREVGR0g+/" * (SIZE // 13),
    "digits": "0123456789" * (SIZE // 10),
    "colons": "1:" * (SIZE // 2),
    "quotes": "\"'" * (SIZE // 2),
}


@pytest.mark.parametrize("part", ["negation", "entities"])
def test_precision_and_recall(part: str) -> None:
    scores = {"negation": measure.negation, "entities": measure.entities}[part]("tune")
    right = sum(s.right for s in scores.values())
    wrong = [w for s in scores.values() for w in s.wrong]
    assert right / sum(s.found for s in scores.values()) >= 0.97, wrong
    assert right / sum(s.wanted for s in scores.values()) >= 0.97, wrong


def test_verdicts_on_numbers() -> None:
    score = measure.numbers("tune")
    assert score.recall >= 0.97, score.wrong


def test_the_sets_are_as_large_as_they_should_be() -> None:
    negation = measure.load("tune", "negation")
    assert len(negation) >= 210
    assert {case["lang"] for case in negation} == {"en", "zh", "ja", "de", "fr", "es"}
    assert len(measure.load("tune", "numbers")) >= 130
    assert len(measure.load("tune", "entities")) >= 80
    sessions = measure.load("tune", "sessions")
    assert len(sessions) >= 20
    assert sum(case["lang"] == "zh" for case in sessions) * 3 >= len(sessions)


def test_a_mutation_changes_its_compaction_and_nothing_else() -> None:
    for case in measure.load("tune", "sessions"):
        for mutation in case["mutations"]:
            before = case[mutation["of"]]
            after = measure.mutated(before, mutation)
            assert after != before
            if "replace" in mutation:
                assert sum(a != b for a, b in zip(after, before, strict=True)) <= len(mutation["replace"])


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_makes_a_kind_slow(kind: str) -> None:
    """On a slow machine a megabyte may take a second or two; what is quadratic takes minutes."""
    found(kind, said((PERSON, "Do not push 3 files to Berlin.")))
    for name, text in TEXTS.items():
        views = [said((PERSON, text[:300_000]), (PERSON, text[:100_000]))]
        if kind == "outcome":
            views.append(ran(("make", text + "\nExit code 1", True)))
        start = time.perf_counter()
        for view in views:
            found(kind, view, **({"of": "runs"} if view.session.calls else {}))
        assert time.perf_counter() - start < 10, name
