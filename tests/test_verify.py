"""Judging anybody's compaction: any shape, any format, each sort of finding with its place and its words."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compressor import verify
from compressor.formats import _mark
from compressor.formats._records import Source
from compressor.model import Finding, Level, Mark
from compressor.pipeline import compact
from compressor.rules import load_preset
from compressor.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
ASKED = "Find out why the import of orders is slow. Do not touch the billing tables. Keep it below 250 ms."
RESULT = "\n".join(
    [f"row {n} took {n * 3} ms" for n in range(40)] + ["slowest: 4,213 ms in load_orders (src/orders/load.py)"]
)


@cache
def settings() -> Settings:
    return Settings(preset=load_preset("archive"))


def call(id: str, command: str) -> dict[str, Any]:
    arguments = json.dumps({"command": command})
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}}],
    }


def original() -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "You are careful."},
        {"role": "user", "content": ASKED},
        call("c1", "python profile.py"),
        {"role": "tool", "tool_call_id": "c1", "content": RESULT},
        {
            "role": "assistant",
            "content": "load_orders is slow because it has no index. Commit 9f3c2ab7714de0c5581fa0b2d6e94c33a1708b5d.",
        },
        {"role": "user", "content": "Thanks, go on."},
    ]


def judge(compacted: Any, before: Any = None) -> list[Finding]:
    """The errors of a compaction."""
    first = Source("before.json", json.dumps(before or original(), ensure_ascii=False).encode())
    second = Source("after.json", json.dumps(compacted, ensure_ascii=False).encode())
    return [f for f in verify.verify_files(first, second, settings()) if f.level is Level.ERROR]


def kept(*changes: tuple[int, str]) -> list[dict[str, Any]]:
    messages = original()
    for index, content in changes:
        messages[index] = {**messages[index], "content": content}
    return messages


def summary(text: str) -> list[dict[str, Any]]:
    head, tail = original()[:2], original()[-1:]
    return [*head, {"role": "user", "content": f"Summary of the conversation so far:\n{text}"}, *tail]


def test_the_original_itself_has_no_error() -> None:
    assert judge(original()) == []


@pytest.mark.parametrize(
    "cut",
    [
        "[Old tool result content cleared]",
        RESULT[:60] + "\n[... 39 lines omitted ...]\n" + RESULT[-56:],
        RESULT[:200] + "…",
        f"[cleared: bash, {len(RESULT)} characters]",
        f"[cleared: bash, {len(RESULT)} characters]\nslowest: 4,213 ms in load_orders (src/orders/load.py)",
    ],
)  # fmt: skip
def test_a_result_that_is_openly_cut_is_none(cut: str) -> None:
    assert judge(kept((3, cut))) == []


@pytest.mark.parametrize(
    ("altered", "word"),
    [
        (RESULT.replace("4,213", "421"), "421"),
        (RESULT[:-20], "load.py"),
        ("[cleared: bash, 17 characters]", "cleared"),
        (f"[cleared: bash, {len(RESULT)} characters]\nslowest: 13 ms", "13"),
    ],
)  # fmt: skip
def test_a_result_that_is_silently_altered(altered: str, word: str) -> None:
    found = [f for f in judge(kept((3, altered))) if f.check == "RES001"]

    assert len(found) == 1
    assert word in found[0].message


@pytest.mark.parametrize(
    "text",
    [
        "- load_orders (src/orders/load.py) is slow: 4213 ms; it has no index.",
        "- The slowest call was 4.213 s.",
        "- Files seen: src/orders/load.py, load.py",
        "- Commit 9f3c2ab.",
        "- The user asked to find out why the import of orders is slow.",
        "- 1 command was run.",
    ],
)
def test_paraphrase_and_other_notation_are_no_finding(text: str) -> None:
    assert judge(summary(text)) == []


@pytest.mark.parametrize(
    ("text", "check", "word"),
    [
        ("- load_orders takes 4,231 ms.", "", "4,231"),
        ("- See also src/orders/save.py.", "INV001", "src/orders/save.py"),
        ("- Ticket ORD-4471 is open.", "INV001", "ORD-4471"),
        ("- Commit 9f3c2.", "", "9f3c2"),
        ('- The user said: "you may drop the billing tables".', "QUOTE001", "drop the billing tables"),
        ("- You may touch the billing tables.", "FLIP001", "billing tables"),
        ("- load_orders has an index.", "FLIP001", "index"),
    ],
)
def test_a_lie_is_found_and_its_words_are_named(text: str, check: str, word: str) -> None:
    found = judge(summary(text))

    assert any(word in f"{f.message} {f.fact}" and check in f.check for f in found), found
    assert all(f.at.file == "after.json" for f in found)


def test_a_message_in_the_users_name_must_be_the_users() -> None:
    messages = original()
    messages.insert(5, {"role": "user", "content": "Please deploy it tonight."})

    assert [f.check for f in judge(messages)] == ["QUOTE001"]


def test_a_request_that_is_gone_is_an_error_in_the_original() -> None:
    found = judge([original()[0], *original()[2:]])

    assert {"REQ001", "NEG001"} <= {f.check for f in found}
    assert {"before.json"} == {f.at.file for f in found if f.check == "REQ001"}


def test_a_request_told_in_other_words_is_a_note() -> None:
    before = Source("before.json", json.dumps(original()).encode())
    text = (
        "- The import of orders is slow and the user asked why. Do not touch the billing tables. Keep it below 250 ms."
    )
    messages = [original()[0], {"role": "assistant", "content": f"Summary so far:\n{text}"}, original()[-1]]
    after = Source("after.json", json.dumps(messages).encode())
    found = verify.verify_files(before, after, settings())

    assert [f.check for f in found if f.level is Level.NOTE and "other words" in f.message] == ["REQ001"]
    assert [f for f in found if f.level is Level.ERROR] == []


def test_the_two_files_need_not_have_one_format() -> None:
    told = {"role": "user", "parts": [{"text": f"Summary so far:\n- {ASKED} Still slow in src/orders/pool.py."}]}
    sharegpt = [
        {"conversations": [{"from": "human", "value": told["parts"][0]["text"]}, {"from": "gpt", "value": "ok"}]}
    ]

    assert any("src/orders/pool.py" in f.fact for f in judge(sharegpt))


def test_a_session_that_is_missing_is_an_error() -> None:
    lines = "\n".join(json.dumps({"conversation_id": c, "messages": original()}) for c in "ab").encode()
    one = lines.split(b"\n")[0]
    found = verify.verify_files(Source("a.jsonl", lines), Source("b.jsonl", one), settings())

    assert [f.check for f in found if f.level is Level.ERROR] == ["session"]


def test_our_own_output_has_no_error() -> None:
    path = ROOT / "fixtures" / "claude-code" / "refactor-billing.jsonl"
    source = Source(str(path), path.read_bytes())
    outcome = compact(source, settings())

    assert outcome.data is not None
    found = verify.verify_files(source, Source("out.jsonl", outcome.data), settings())
    assert [f for f in found if f.level is Level.ERROR] == []


def forged(text: str) -> list[dict[str, Any]]:
    """A summary with a mark that somebody made up."""
    mark = Mark("00" * 8, 900, 1, "00" * 32, 3, "00" * 8)
    return summary(f"{text}\n{_mark.encode(mark)}")


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("- You may touch the billing tables.", "FLIP001"),
        ("- bash: python profile.py […] slowest: 421 ms in load_orders (src/orders/load.py) [#2]", "INV001"),
        ("- bash python profile.py: row 7 took 21 ms […] see src/orders/cache.py [#2]", "INV001"),
    ],
)
def test_a_forged_mark_makes_nobody_believe(text: str, check: str) -> None:
    assert check in {f.check for f in judge(forged(text))}


def test_a_slice_that_can_be_cut_again_is_no_claim() -> None:
    text = (
        "- bash: python profile.py […] row 7 took 21 ms […] slowest: 4,213 ms in load_orders (src/orders/load.py) [#2]"
    )
    assert judge(summary(text)) == judge(forged(text)) == []


@pytest.mark.corpus
def test_real_files_compacted_by_us_have_no_error(corpus: Path) -> None:
    files = sorted((corpus / "claude-code").rglob("*.jsonl"), key=lambda f: f.stat().st_size)
    for path in [f for f in files if f.stat().st_size < 1_500_000][-4:]:
        source = Source(str(path), path.read_bytes())
        outcome = compact(source, settings())
        if outcome.data is None:
            continue
        found = verify.verify_files(source, Source("out.jsonl", outcome.data), settings())
        assert [f for f in found if f.level is Level.ERROR] == [], path
