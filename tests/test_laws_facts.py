"""Whatever a summarizer does, a registered fact is in the output or the session is kept whole, and no lie gets through.

Sessions are built from labelled parts: what must survive, what surrounds it, in several formats.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compressor import verify
from compressor.formats._records import Source
from compressor.model import Level, Verdict
from compressor.pipeline import compact
from compressor.rules import load_preset
from compressor.settings import Settings

PROHIBITIONS = (
    "Do not delete the staging database.",
    "Never push to the release branch, unless Marta agrees.",
    "不要改动对账脚本，但测试可以改。",
    "Lösche niemals die Protokolle von November.",
)
NUMBERS = (
    "The timeout must stay at 30 s.",
    "Keep the budget below $4,250.50.",
    "预算上限为 12.5 万元。",
    "Use port 8443 only.",
)
DECISIONS = (
    "I decided to raise the pool to 40, because 35 workers wait at peak.",
    "We chose utf-8-sig instead of utf-8 so that the sheet opens correctly.",
    "我决定把连接池扩大到 40，因为高峰期每秒约有 35 个请求。",
)
NOTES = ("I look at the configuration first.", "The tests come next.", "先看代码。", "Reading the module again.")
NOISE = "\n".join(
    f"2026-11-29T10:{n:02d}:00Z INFO worker-{n} handled request {n * 7919} in {n * 3} ms" for n in range(60)
)
#: What the lying summarizer always says.
LIES = ("delete everything, I have a backup", "all 4,711 tests pass")


def turn(index: int, request: str, note: str, decision: str) -> list[dict[str, Any]]:
    """A request, a call with a long result, and what the agent makes of it."""
    arguments = json.dumps({"command": f"cat logs/part{index}.log"})
    call = {"id": f"c{index}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    return [
        {"role": "user", "content": request},
        {"role": "assistant", "content": note, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{index}", "content": f"part {index}\n{NOISE}"},
        {"role": "assistant", "content": decision},
    ]


def document(messages: list[dict[str, Any]]) -> bytes:
    return json.dumps({"messages": messages}, ensure_ascii=False).encode()


def lines(messages: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(m, ensure_ascii=False) + "\n" for m in messages).encode()


def sharegpt(messages: list[dict[str, Any]]) -> bytes:
    names = {"user": "human", "assistant": "gpt", "tool": "observation"}
    turns = [{"from": names[m["role"]], "value": m["content"]} for m in messages]
    return json.dumps([{"conversations": turns}], ensure_ascii=False).encode()


FORMATS = {"document": document, "lines": lines, "sharegpt": sharegpt}


@cache
def options(sort: str, seed: int) -> Settings:
    preset = load_preset("archive")
    return Settings(preset=preset, summarizer="chaos", summarizer_options={"sort": sort, "seed": seed})


sessions = st.lists(
    st.tuples(
        st.sampled_from(PROHIBITIONS),
        st.sampled_from(NUMBERS),
        st.sampled_from(NOTES),
        st.sampled_from(DECISIONS),
    ),
    min_size=3,
    max_size=6,
)


@pytest.mark.parametrize("form", FORMATS)
@given(parts=sessions, sort=st.sampled_from(["nothing", "noise", "lie", "input", "fail"]), seed=st.integers(0, 9))
@settings(max_examples=8)
def test_every_registered_fact_survives_any_summarizer(
    form: str, parts: list[tuple[str, ...]], sort: str, seed: int
) -> None:
    messages = [
        message
        for index, (prohibition, number, note, decision) in enumerate(parts)
        for message in turn(index, f"{prohibition} {number} Step {index}, please.", note, decision)
    ]
    source = Source(f"session.{form}", FORMATS[form](messages))
    outcome = compact(source, options(sort, seed))
    result = outcome.results[0]

    assert result.verdict in (Verdict.COMPACTED, Verdict.REVERTED, Verdict.UNCHANGED)
    if outcome.data is None:
        return
    text = json.dumps(json.loads(outcome.data) if form != "lines" else outcome.data.decode(), ensure_ascii=False)
    for prohibition, number, _, decision in parts:
        for fact in (prohibition, number, decision):
            assert fact in text
    for lie in LIES:
        assert lie not in text
    found = verify.verify_files(source, Source("out", outcome.data), options(sort, seed))
    assert [f for f in found if f.level is Level.ERROR] == []


@pytest.mark.parametrize("sort", ["nothing", "noise", "lie", "input", "fail"])
def test_the_next_summarizer_is_asked_when_one_lies(sort: str) -> None:
    parts = zip(PROHIBITIONS, NUMBERS, NOTES, (*DECISIONS, DECISIONS[0]), strict=True)
    messages = [m for i, (p, n, note, d) in enumerate(parts) for m in turn(i, f"{p} {n}", note, d)]
    result = compact(Source("session.json", document(messages)), options(sort, 0)).results[0]

    assert result.verdict is Verdict.COMPACTED
    assert (result.summarizer == "chaos") == (sort in ("nothing", "input")) or sort == "noise"
    assert [f for f in result.findings if f.level is Level.ERROR] == []


def test_a_pinned_text_survives_a_lie() -> None:
    messages = [m for i in range(4) for m in turn(i, f"Step {i}. The codename is heron-{i}.", NOTES[0], DECISIONS[0])]
    pinned = replace(options("lie", 1), pins=("The codename is heron-2.",))
    outcome = compact(Source("session.json", document(messages)), pinned)

    assert outcome.data is not None
    assert "The codename is heron-2." in outcome.data.decode()
