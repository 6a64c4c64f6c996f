from __future__ import annotations

import pytest

from compressor.language import language, language_of, languages, lexicon
from compressor.model import Message, Origin, Part, PartType, Role, Session


def session(*requests: str, origin: Origin = Origin.PERSON) -> Session:
    parts = tuple(Part(i, i, PartType.TEXT, ("content",), t) for i, t in enumerate(requests))
    return Session(
        "", tuple(Message(i, f"#{i}", Role.USER, origin, (p,), i, i + 1) for i, p in enumerate(parts)), parts
    )


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("Please fix the importer; it fails on empty files.", "en"),
        ("请修复 importer.py 里的导入错误，不要改动数据库结构。", "zh"),
        ("把 src/components/Button.tsx 里的 onClick handler 改成 async", "zh"),
        ("インポーターのバグを直してください。", "ja"),
        ("가져오기 오류를 고쳐 주세요.", "ko"),
        ("Bitte repariere den Import, die Datei ist nicht lesbar und das Programm bricht ab.", "de"),
        ("Corrige le bogue dans le module, il ne faut pas toucher les fichiers des autres.", "fr"),
        ("Arregla el error de la importación para que no falle con los archivos vacíos.", "es"),
        ("", "en"),
        ("12345 == 0x1F", "en"),
    ],
)
def test_language_of(text: str, tag: str) -> None:
    assert language_of(text)[0] == tag


def test_the_majority_of_requests_decides() -> None:
    zh = "请修复导入错误，不要改动数据库结构。"

    assert language(session(zh, zh, "ok go on")) == "zh"
    assert language(session("Fix the importer and run all the tests again, then commit.", "好的")) == "en"
    assert language(session()) == "en"


def test_pasted_code_does_not_vote() -> None:
    assert language(session("请修复\n```\n" + "the code is in the file and it fails\n" * 20 + "```\n谢谢")) == "zh"


def test_without_typed_requests_harness_text_votes() -> None:
    assert language(session("请总结这份报告", origin=Origin.HARNESS)) == "zh"


def test_tags_with_regions_and_unknown_tags() -> None:
    assert lexicon("zh-Hans-CN") == lexicon("zh")
    assert lexicon("../en").labels == {}
    assert lexicon("tlh").labels == {}


def test_every_language_with_words_has_headings() -> None:
    assert {"en", "zh"} <= set(languages())
    assert all(lexicon(tag).labels.keys() >= {"notice", "goal", "red_lines", "carried"} for tag in languages())
