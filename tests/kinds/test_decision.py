"""Decisions with reasons, quotations, outcomes, open errors, and the prose of requests."""

from __future__ import annotations

import pytest

from compressor.guards.decisions import decisions
from compressor.guards.outcomes import outcomes
from compressor.guards.quotes import quotes
from tests.kinds.guard_views import AGENT, PERSON, found, ran, said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("We chose Redis over Memcached because it persists.", "because it persists."),
        ("Because SQLite locks, we went with Postgres.", "Because SQLite locks"),
        ("改用 pnpm，因为 npm 太慢。", "因为 npm 太慢。"),
        ("我们决定采用方案二。因为它更快。", "因为它更快。"),
    ],
)
def test_a_decision_and_where_its_reason_stands(text: str, reason: str) -> None:
    (decision,) = decisions(text)
    assert (decision.start, decision.end) == (0, len(text))
    assert text[decision.reason : decision.reason_end] == reason


@pytest.mark.parametrize(
    "text",
    [
        "We chose Redis.",
        "It is slow because of the disk.",
        "Should we go with Redis because it persists?",
        "请选择一个，因为只能选一个。",
    ],
)
def test_no_decision(text: str) -> None:
    assert decisions(text) == []


def test_long_decisions_are_left_out() -> None:
    view = said((AGENT, "We chose Redis because it persists."))
    assert found("decision", view) == [("We chose Redis because it persists.", "decision")]
    assert found("decision", view, max=20) == []


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("The import failed.", ["failed"]),
        ("The import did not pass, but the export works.", ["failed", "done"]),
        ("The docs are not done yet.", ["pending"]),
        ("If it fails, retry.", []),
        ("Did it fail?", []),
        ("支付接口还没做，登录已完成。", ["pending", "done"]),
        ("See src/failed.py", []),
    ],
)
def test_outcomes(text: str, status: list[str]) -> None:
    assert [o.status for o in outcomes(text)] == status


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('The user said "keep the old API".', ["keep the old API"]),
        ('"Ship it," the user wrote.', ["Ship it,"]),
        ("用户要求：“不要改数据库”。", ["不要改数据库"]),
        ("The user asked:\n> do it today", ["do it today"]),
        ('The log said "keep alive".', []),
    ],
)
def test_words_told_as_the_users(text: str, words: list[str]) -> None:
    assert [q.text for q in quotes(text)] == words


def test_a_labelled_line_is_no_quotation() -> None:
    view = said((AGENT, "User: do it now"))
    assert found("quote", view) == []
    assert found("quote", view, exact=False) == [("do it now", "quote")]


def test_only_failures_without_a_later_success_are_open() -> None:
    view = ran(
        ("pytest -q", "E   ValueError: bad rate\nExit code 1", True),
        ("make build", "cc: error: no input files\nExit code 2", True),
        ("grep x y", "Exit code 1", True),
        ("cd a && pytest tests", "12 passed", False),
        ("npm run lint", "Exit code 1\n", True),
    )
    assert found("outcome", view, of="runs") == [("cc: error: no input files", "error")]


def test_the_newest_failure_of_a_command_counts_and_is_cut() -> None:
    view = ran(
        ("pytest", "E   OldError: a\nExit code 1", True),
        ("pytest", "E   NewError: " + "b" * 400 + "\nExit code 1", True),
    )
    ((text, _),) = found("outcome", view, of="runs", max=50)
    assert text.startswith("E   NewError: bbb")
    assert len(text) == 50


def test_statements_by_status() -> None:
    view = said((AGENT, "The import failed. The export is done."))
    assert found("outcome", view) == [("The import failed.", "failed")]
    assert found("outcome", view, status=["done"]) == [("The export is done.", "done")]


def test_the_prose_of_a_request_without_its_pastes() -> None:
    view = said(
        (PERSON, "Fix the crash, please.\n```\npanic: nil\n```\n2026-01-01 10:00:00 ERROR x\nThen tell me."),
        (AGENT, "Sure."),
    )
    assert found("task", view) == [("Fix the crash, please.", "task"), ("Then tell me.", "task")]
    assert found("task", view, longer=1000) == []


def test_pinned_texts_are_taken_whole() -> None:
    view = said((AGENT, "Keep this.\n```\nx\n```"), pinned=True)
    assert found("task", view) == [("Keep this.\n```\nx\n```", "pinned")]
    assert found("task", view, pinned=False) == []
