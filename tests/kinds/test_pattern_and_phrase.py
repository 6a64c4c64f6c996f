"""Regular expressions in linear time, and phrases by spaCy where an anchor word stands."""

from __future__ import annotations

import itertools
import sys

import pytest

from compressor import plugins
from compressor.kinds import pattern, phrase
from compressor.model import Message, Origin, Part, PartType, Role, Session, View


def view_of(*texts: str) -> View:
    parts = tuple(Part(i, i, PartType.TEXT, (), t) for i, t in enumerate(texts))
    messages = tuple(Message(i, f"#{i}", Role.USER, Origin.PERSON, (p,), i, i + 1) for i, p in enumerate(parts))
    return View(Session("s", messages, parts), parts)


def find(kind: str, text: str, **options) -> list[str]:
    matches = list(plugins.load("kinds", kind).find(view_of(text), options))
    assert all(m.start < m.end for m in matches)
    assert all(a.end <= b.start for a, b in itertools.pairwise(matches))
    return [text[m.start : m.end] for m in matches]


# -- pattern ------------------------------------------------------------------------------------------------


def test_lines_groups_and_case():
    text = "error: one\nwarning: two\nERROR: three\n"

    assert find("pattern", text, pattern="^error: .*$") == ["error: one"]
    assert find("pattern", text, pattern="^error: .*$", ignore_case=True) == ["error: one", "ERROR: three"]
    assert find("pattern", text, pattern=r"^(\w+): (?P<what>\w+)", group=1) == ["error", "warning", "ERROR"]
    assert find("pattern", text, pattern=r"^(\w+): (?P<what>\w+)", group="what") == ["one", "two", "three"]
    assert find("pattern", text, pattern="(x)|one", group=1) == []
    assert find("pattern", text, pattern=["two", "warning: two", "three"]) == ["warning: two", "three"]


def test_offsets_are_characters_whatever_the_text():
    text = "端口 8080，和 😀 端口 9090\ud800 端口 7070"

    assert find("pattern", text, pattern=r"端口 \d+") == ["端口 8080", "端口 9090", "端口 7070"]


def test_matches_that_cross_the_window():
    for shift in range(pattern.WINDOW - 60, pattern.WINDOW + 5, 7):
        text = "." * shift + "<" + "b" * 50 + ">" + "." * 9000 + "<c>"
        assert find("pattern", text, pattern="<[a-z]+>") == ["<" + "b" * 50 + ">", "<c>"]
        assert find("pattern", text, pattern="b+") == ["b" * 50]


def test_a_match_may_be_as_long_as_the_window():
    text = "x" * 5000 + "<" + "b" * 900 + ">" + "x" * 5000

    assert find("pattern", text, pattern="<b+>") == ["<" + "b" * 900 + ">"]


# -- phrase -------------------------------------------------------------------------------------------------


def test_phrases_and_their_sentences():
    text = "Yes. Please Go Ahead, now! Forge ahead.\nGo-ahead was given. go ahead"

    assert find("phrase", text, phrases=["go ahead"]) == ["Go Ahead", "go ahead"]
    assert find("phrase", text, phrases=["go ahead"], case=True) == ["go ahead"]
    assert find("phrase", text, phrases=["go ahead"], match="sentence") == ["Please Go Ahead, now!", "go ahead"]
    assert find("phrase", text, phrases=["stop"]) == []


def test_chinese_phrases():
    text = "我看过了。我同意这个方案！不同意另一个？好"

    assert find("phrase", text, lang="zh", phrases=["同意这个"]) == ["同意这个"]
    assert find("phrase", text, lang="zh", phrases=["同意"], match="sentence") == ["我同意这个方案！", "不同意另一个？"]


def test_languages_without_a_tokenizer_still_work():
    assert find("phrase", "それを削除しないでください。", lang="ja", phrases=["削除しない"]) == ["削除しない"]
    assert find("phrase", "그 파일 삭제 금지", lang="ko", phrases=["삭제 금지"]) == ["삭제 금지"]


def test_token_patterns():
    text = "It took 3 minutes. It took five minutes. It took long."
    wanted = [[{"LOWER": "took"}, {"LIKE_NUM": True}, {"LOWER": {"IN": ["minutes", "hours"]}}]]

    assert find("phrase", text, patterns=wanted) == ["took 3 minutes", "took five minutes"]


def test_anchors_of_token_patterns():
    assert phrase._literals([{"IS_PUNCT": True}, {"LOWER": "took"}, {"LOWER": {"IN": ["minutes", "hours"]}}]) == (
        "minutes",
        "hours",
    )
    assert phrase._literals([{"LOWER": "very", "OP": "*"}, {"TEXT": "big"}]) == ("big",)
    assert find("phrase", "a (b c", patterns=[[{"IS_PUNCT": True}, {"IS_ALPHA": True}]], anchors=["b"]) == ["(b"]


def test_offsets_survive_letters_that_grow_in_lower_case():
    assert find("phrase", "İİİİ go ahead İ", phrases=["go ahead"]) == ["go ahead"]


def test_spacy_sees_nothing_without_an_anchor(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setitem(sys.modules, "spacy.util", None)

    assert find("phrase", "nothing to see here. " * 1000, phrases=["permission granted"]) == []


def test_values_are_the_phrase_in_lower_case():
    (match,) = phrase.find(view_of("Then SHIP IT now."), {"phrases": ["ship it"], "match": "sentence"})

    assert match.value == "ship it"


@pytest.mark.parametrize("text", ["", "go", "go ahead" * 3, "x" * 3000 + " go ahead " + "y" * 3000])
def test_odd_texts(text):
    found = find("phrase", text, phrases=["go ahead"], match="sentence")

    assert len(found) == (1 if " go ahead " in text else 0)
    assert all(len(f) < 900 for f in found)
