from __future__ import annotations

import pytest

from compressor.brief import Brief, Task
from compressor.briefs import render
from compressor.errors import SummarizeError
from compressor.model import Fact, Layer, Level, Message, Mode, Origin, Part, PartType, Role, Session
from compressor.plugins import load


def words(text: str) -> int:
    return len(text) // 4 + 1


def task(*texts: str, budget: int = 500, leaving: frozenset[int] | None = None) -> Task:
    parts = tuple(Part(i, i, PartType.TEXT, ("content",), t) for i, t in enumerate(texts))
    messages = tuple(Message(i, f"m{i}", Role.USER, Origin.PERSON, (p,), i, i + 1) for i, p in enumerate(parts))
    everything = frozenset(range(len(texts)))
    gone = everything if leaving is None else leaving
    layers = (Layer.NOTE,) * len(parts)
    fact = Fact("NEG001", "negation", Mode.VERBATIM, Level.ERROR, "Do not delete the branch.", "", 0, "m0", 1)
    return Task(Session("s", messages, parts), layers, gone, everything - gone, (fact,), budget, "en", words)


TEXTS = (
    "Do not delete the branch. It holds 42 commits of importer/main.py.",
    "The build failed with 7 errors in importer/reader.py.",
    "我们不要删除 main 分支。",
)


def test_none_is_empty() -> None:
    assert load("summarizers", "none").summarize(task(*TEXTS), {}) == Brief()


def test_head_takes_the_first_characters_of_what_leaves() -> None:
    brief = load("summarizers", "head").summarize(task(*TEXTS, leaving=frozenset({1, 2})), {"characters": 30})

    assert [(e.text, e.sources) for e in brief.findings] == [(TEXTS[1][:30], ("#1",))]


def test_head_fits_the_budget() -> None:
    long = task(*(["word " * 1000] * 5), budget=300)
    brief = load("summarizers", "head").summarize(long, {"characters": 100_000})

    assert brief.findings
    assert words(render(brief, "en", long.session)) <= 300


def test_chaos_nothing_and_input() -> None:
    chaos = load("summarizers", "chaos")

    assert chaos.summarize(task(*TEXTS), {"sort": "nothing"}) == Brief()
    assert [e.text for e in chaos.summarize(task(*TEXTS), {"sort": "input"}).findings] == list(TEXTS)


def test_chaos_fails_as_told() -> None:
    with pytest.raises(SummarizeError, match="fails, as it was told to"):
        load("summarizers", "chaos").summarize(task(*TEXTS), {"sort": "fail"})


def test_chaos_lies() -> None:
    brief = load("summarizers", "chaos").summarize(task(*TEXTS), {})
    told = render(brief, "en")

    assert not any(text in told for text in TEXTS)
    assert "Do not delete the branch" not in told
    assert "The user said" in told
    assert "不要删除" not in told


@pytest.mark.parametrize("sort", ["noise", "lie"])
def test_chaos_is_deterministic_by_seed(sort: str) -> None:
    chaos = load("summarizers", "chaos")
    one, again, other = (chaos.summarize(task(*TEXTS), {"sort": sort, "seed": s}) for s in (1, 1, 2))

    assert one == again
    assert one != other
    assert render(one, "en")
