"""Counting: lines that are counted apart have the tokens that they have together."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compressor import tokens

#: What the vocabularies' patterns tell apart: letters, marks, digits, signs, slashes and every kind of white space.
PIECES = st.sampled_from(
    ["a", "Ab", "B", "é", "e\u0301", "\u0301", "中", "ん", "7", "1234", "'s", "'", ")", "//", "/", "{", " ", "  ", "\t",
     "\r", "\n", "\n", "\n", "\n\n", "\r\n", "\u00a0", "\u2028", "\x85", "\x0b", "\x1c", "\x00", "\ud800", "→", "🙂"]
)  # fmt: skip


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@given(texts=st.lists(st.lists(PIECES, max_size=24).map("".join), max_size=4))
@example(texts=["a)\n/b", "a)\n\r b", "a \n\n  \n b", "x\n", "\n", "x\n \r"])
def test_lines_count_as_they_do_in_their_text(name: str, texts: list[str]) -> None:
    assert [tokens.Counter(name)(t) for t in texts] == [tokens.count(t, name) for t in texts]
    assert tokens.count_all(texts, name) == [tokens.count(t, name) for t in texts]


def test_a_line_of_a_megabyte_is_counted() -> None:
    line = "ab " * 500_000

    assert tokens.Counter()(f"x\n{line}\ny") == tokens.count("x\n") + tokens.count(line + "\n") + tokens.count("y")


def test_a_line_that_recurs_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = tokens.Counter()
    counter("the same line\nand another")
    monkeypatch.setattr(tokens, "_REMEMBERED", 0)

    assert counter("the same line\nand a new one\nend") == tokens.count("the same line\nand a new one\nend")
