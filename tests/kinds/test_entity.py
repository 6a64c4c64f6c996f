"""Names: technical ones by pattern, others by lists; completeness by count, turns and later use."""

from __future__ import annotations

import pytest

from compressor.guards.entities import entities, technical
from tests.kinds.guard_views import AGENT, PERSON, found, said


@pytest.mark.parametrize(
    ("text", "label", "name"),
    [
        ("see src/a/b.py:42.", "path", "src/a/b.py:42"),
        ("in tests/test_a.py::test_b", "path", "tests/test_a.py::test_b"),
        ("run git push --force origin main now", "command", "git push --force origin main"),
        ("`kubectl get pods -n billing`", "command", "kubectl get pods -n billing"),
        ("set $HOME", "env", "$HOME"),
        ("got ECONNRESET.", "error", "ECONNRESET"),
        ("on branch fix/login", "branch", "fix/login"),
        ("合并到 release/2.0 分支", "branch", "release/2.0"),
        ("ask 王建国经理", "person", "王建国"),
        ("mail to Dr. Ana Ruiz", "person", "Dr. Ana Ruiz"),
        ("for Northwind Logistics Inc today", "org", "Northwind Logistics Inc"),
        ("an office in New York", "place", "New York"),
    ],
)
def test_a_name_and_its_label(text: str, label: str, name: str) -> None:
    assert (label, name) in [(e.label, e.text) for e in entities(text)]


@pytest.mark.parametrize("text", ["read/write and/or", "e.g. this", "The weather was fine.", "今天天气很好。"])
def test_no_names(text: str) -> None:
    assert entities(text) == []


def test_a_smaller_name_inside_a_found_one_is_not_reported() -> None:
    assert [e.text for e in technical("https://api.example.com/v1/a.py")] == ["https://api.example.com/v1/a.py"]


def test_completeness() -> None:
    view = said((PERSON, "Look at src/a.py."), (AGENT, "src/a.py and src/b.py are fine."), (PERSON, "Then src/c.py."))
    everywhere = [text for text, _ in found("entity", view)]
    assert everywhere == ["src/a.py", "src/a.py", "src/b.py", "src/c.py"]
    assert found("entity", view, times=2) == [("src/a.py", "path")] * 2
    assert found("entity", view, later=True) == [("src/a.py", "path")]
    assert found("entity", view, turns=1) == [("src/c.py", "path")]
    assert found("entity", view, labels=["host"]) == []


def test_a_model_that_is_not_installed_is_no_error() -> None:
    view = said((PERSON, "Ask Maria Chen."))
    assert found("entity", view, model="no_such_model") == found("entity", view) == [("Maria Chen", "person")]
