"""Negations and obligations: what is found, how far the clause reaches, and its polarity."""

from __future__ import annotations

import pytest

from compressor import plugins
from compressor.guards.negation import clauses
from tests.kinds.guard_views import AGENT, HARNESS, PERSON, SYSTEM, found, said

CLAUSES = [
    (
        "Update the docs, but do not touch the schema unless Ana agrees. Thanks.",
        "do not touch the schema unless Ana agrees.",
    ),
    ("Do not delete A, but B may go.", "Do not delete A, but B may go."),
    ("Unless I say so, don't push.", "Unless I say so, don't push."),
    (
        "Never log in as root. The only exception is recovery. Then rest.",
        "Never log in as root. The only exception is recovery.",
    ),
    ("1) Do not rename a.py, b.py, or c.py; run the tests.", "Do not rename a.py, b.py, or c.py"),
    ("The rule (never push on Friday) stands.", "never push on Friday"),
    ("Do not\nedit generated files.", "Do not\nedit generated files."),
    ("除非老李同意，否则不要合并。", "除非老李同意，否则不要合并。"),
    ("用户表，千万别动", "用户表，千万别动"),
    ("请不要 rename 这个 function", "请不要 rename 这个 function"),
    (
        "本番では再起動しないでください。ただし、緊急時は除く。",
        "本番では再起動しないでください。ただし、緊急時は除く。",
    ),
]


@pytest.mark.parametrize(("text", "clause"), CLAUSES)
def test_the_clause_has_its_scope_and_its_exception(text: str, clause: str) -> None:
    found = [c for c in clauses(text) if c.sort == "prohibition"]
    assert [text[c.start : c.end] for c in found] == [clause]


@pytest.mark.parametrize(
    ("text", "sort", "polarity"),
    [
        ("It is not impossible to fix it.", "negation", "+"),
        ("我们不能不考虑性能。", "obligation", "+"),
        ("他不得不重启。", "obligation", "+"),
        ("The run did not finish.", "negation", "-"),
        ("DO NOT RESTART IT", "prohibition", "-"),
        ("You must sign it.", "obligation", "+"),
    ],
)
def test_polarity(text: str, sort: str, polarity: str) -> None:
    assert [(c.sort, c.polarity) for c in clauses(text)] == [(sort, polarity)]


def test_the_normal_form_keeps_the_polarity_apart_and_the_words_together() -> None:
    (told,), (turned,), (again,) = (
        clauses("Do not delete the index."),
        clauses("You must delete the index."),
        clauses("Never delete the indexes!"),
    )
    assert told.value == again.value
    assert told.content == turned.content
    assert told.value != turned.value


@pytest.mark.parametrize(
    "text",
    [
        "```\ndo not run\n```",
        "2026-01-01 10:00:00 WARN do not retry",
        "if not user.is_active:",
        "x TEXT NOT NULL,",
        "+ # do not retry",
        "see https://example.org/do-not-touch",
        "No, that is all.",
        "Why shouldn't we cache it?",
    ],
)
def test_code_logs_and_questions_forbid_nothing(text: str) -> None:
    assert not [c for c in clauses(text) if c.sort != "negation"]


def test_only_what_people_and_the_system_say_is_read() -> None:
    view = said(
        (SYSTEM, "Never push."), (HARNESS, "Do not use TodoWrite."), (PERSON, "Don't skip tests."), (AGENT, "Done.")
    )
    assert found("negation", view) == [("Never push.", "prohibition"), ("Don't skip tests.", "prohibition")]
    assert len(found("negation", view, harness=True)) == 3
    assert found("negation", view, lang="zh") == []
    assert found("negation", view, sorts=["negation"]) == []


def test_obligations_are_a_kind_of_their_own() -> None:
    view = said((PERSON, "Always sign commits. Never push. 必须先备份。"))
    assert found("obligation", view) == [("Always sign commits.", "obligation"), ("必须先备份。", "obligation")]
    assert found("obligation", view, lang="zh") == [("必须先备份。", "obligation")]


def test_an_unknown_language_is_a_mistake_with_a_hint() -> None:
    for kind in ("negation", "obligation"):
        module = plugins.load("kinds", kind)
        assert [m[0] for m in module.mistakes({"lang": "tlh"})] == [("lang",)]
        assert not list(module.mistakes({"lang": "en"}))
