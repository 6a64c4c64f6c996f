"""Numbers: value, unit, sign, kind; equal ones in any notation; the whitelist."""

from __future__ import annotations

from decimal import Decimal

import pytest

from compressor import plugins
from compressor.guards.numbers import compare, fate, numbers, same
from tests.kinds.guard_views import PERSON, found, ran, said

EQUAL = [
    ("1,024 ms", "1024 ms"), ("1 234 567 EUR", "1,234,567 EUR"), ("1.234,56 €", "1,234.56 €"), ("85.3 %", "0.853"),
    ("2026-11-29", "29 November 2026"), ("2026年11月29日", "Nov 29, 2026"), ("八成", "80%"), ("百分之八十五点三", "85.3%"),
    ("1.2万", "12000"), ("两个文件", "2 个文件"), ("five files", "5 files"), ("30s", "30 seconds"), ("90 min", "1.5 h"),
    ("1h30m", "90 minutes"), ("1.5e-3", "0.0015"), ("0x1F", "31"), ("v2.3.1", "2.3.1"), ("port 80", "localhost:80"),
    ("3rd", "third"), ("１２３", "123"), ("下午2点半", "14:30"), ("2:30 pm", "14:30"), ("$1.2M", "$1,200,000"),
    ("10–20 ms", "10 to 20 ms"), ("3 of 4", "75 %"), ("1 GiB", "1024 MiB"),
]  # fmt: skip
OTHER = [
    ("85.3 %", "85 %", "value"), ("512 MB", "512 MiB", "unit"), ("30 s", "30 ms", "unit"), ("version 1.10", "version 1.1", "value"),
    ("-5 °C", "5 °C", "sign"), ("142", "124", "value"), ("1,500", "15,000", "value"), ("2026-11-29", "2026-11-19", "value"),
    ("3f2a9c1", "3f2a9c7", "value"), ("14:30", "15:30", "value"), ("$5", "€5", "unit"), ("2 percentage points", "2 %", "unit"),
    ("3 files", "3 tests", "unit"), ("10.0.0.1", "10.0.0.2", "value"), ("line 4", "port 4", "kind"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal_in_another_notation(a: str, b: str) -> None:
    (x,), (y,) = numbers(a), numbers(b)
    assert same(x, y)
    assert same(y, x)


@pytest.mark.parametrize(("a", "b", "difference"), OTHER)
def test_what_differs_is_named(a: str, b: str, difference: str) -> None:
    (x,), (y,) = numbers(a), numbers(b)
    assert compare(x, y) == compare(y, x) == difference


def test_what_a_number_is_of() -> None:
    first, second = numbers("p50 is 20 ms and p99 is 90 ms")
    assert ("p50" in first.of, "p99" in first.of) == (True, False)
    assert (second.value, second.unit, second.kind) == (Decimal(90), "ms", "duration")


@pytest.mark.parametrize("text", ["千万别删", "统一一下", "utf8 sha256", "十分感谢", "第三方"])
def test_words_that_only_look_like_numbers(text: str) -> None:
    assert numbers(text) == []


def test_exchanged_values_are_changed_though_both_are_there() -> None:
    before, after = numbers("12 tests passed, 3 tests failed."), numbers("3 tests passed, 12 tests failed.")
    assert [fate(n, before, after)[0] for n in before] == ["changed", "changed"]
    assert [fate(n, before, before)[0] for n in before] == ["kept", "kept"]


def test_the_whitelist_says_which() -> None:
    view = said((PERSON, "Keep p95 below 250 ms. I read 14 files; the budget is at most 30 files."))
    near = {"kinds": ["count"], "near": ["at most"], "within": 20}
    assert found("number", view, whitelist=[near]) == [("30", "count")]
    assert found("number", view, whitelist=[{"units": ["ms"]}]) == [("250 ms", "duration")]
    assert found("number", view, whitelist=[{"kinds": ["count"], "least": 20}]) == [("30", "count")]
    assert found("number", view, whitelist=[{"pattern": "1[0-9]"}]) == [("14", "count")]
    assert len(found("number", view)) == 3


def test_results_are_read_only_near_a_word() -> None:
    view = ran(("pytest", "collected 40 items\n38 passed, 2 failed in 3.1s\n0x7f 0x80", False))
    assert found("number", view) == []
    whitelist = [{"kinds": ["number", "count"], "near": ["failed"]}]
    assert ("2", "number") in found("number", view, whitelist=whitelist, results=True)
    assert not [text for text, _ in found("number", view, whitelist=whitelist, results=True) if text == "40"]


def test_mistakes_are_named() -> None:
    mistakes = plugins.load("kinds", "number").mistakes
    assert [m[0] for m in mistakes({"whitelist": [{"pattern": "(?=x)"}]})] == [("whitelist", 0, "pattern")]
    assert [m[0] for m in mistakes({"results": True, "whitelist": [{"kinds": ["money"]}]})] == [("results",)]
    assert not list(mistakes({"whitelist": [{"kinds": ["money"]}]}))
