"""What a session's texts hold is worked out once, however many texts it has."""

from __future__ import annotations

import pytest

from compressor.guards import negation
from compressor.guards._memo import Memo


def test_forgets_when_the_texts_weigh_too_much() -> None:
    memo: Memo[int] = Memo(most=1_000)
    for i in range(5):
        memo.put(f"{i}" * 200, i)
    assert memo.get("4" * 200) == 4
    assert memo.get("0" * 200) is None


def test_no_text_is_read_twice_by_the_rules_of_several_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Do not restart worker {i} of this cluster." for i in range(6_000)]
    read: list[str] = []
    inner = negation._clauses
    monkeypatch.setattr(negation, "_clauses", lambda text: read.append(text) or inner(text))
    for lang in ("en", "zh", "de"):
        assert any(negation.clauses(text, lang) for text in texts) is (lang == "en")
    assert len(read) == len(texts)
