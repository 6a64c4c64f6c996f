from __future__ import annotations

import base64
from dataclasses import replace

import orjson
import pytest

from compressor.formats import _mark, openai_chat
from compressor.formats._records import Source
from compressor.model import MARK_PREFIX, Mark, Origin, digest_messages

MARK = Mark(options="5f" * 8, tokens=120_000, generation=1, archive="ab" * 32, messages=14, digest="cd" * 8)


def packed(text: str) -> str:
    return f"{MARK_PREFIX}{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}]"


@pytest.mark.parametrize("body", ["", "one line", "two\nlines\n", "ends in a bracket]", "# 标题\n\n不要删除"])
def test_a_text_and_its_mark_come_back(body):
    assert _mark.split(_mark.join(body, MARK)) == (body, MARK)


def test_white_space_after_the_mark_is_no_obstacle():
    assert _mark.split(_mark.join("text", MARK) + "\n ") == ("text", MARK)


@pytest.mark.parametrize(
    "line",
    [
        f"{MARK_PREFIX}]",
        f"{MARK_PREFIX}not base64!]",
        packed("{}"),
        packed("[1,2,3]"),
        packed('["a",-1,0,"b",1,"c"]'),
        packed('["a",true,0,"b",1,"c"]'),
        packed('["a",1,0,"b",1,"c","d"]'),
        packed("[NaN]"),
        f"{MARK_PREFIX}{'A' * 3000}]",
    ],
)
def test_a_forged_line_is_text(line):
    assert _mark.split(f"text\n{line}") == (f"text\n{line}", None)


def test_a_mark_that_is_not_the_last_line_is_text():
    text = f"{_mark.encode(MARK)}\nmore"

    assert _mark.split(text) == (text, None)


def test_of_two_marks_the_one_that_fits_the_session_counts():
    raw = "\n".join(
        f'{{"role":"{role}","content":{orjson.dumps(text).decode()}}}'
        for role, text in [
            ("user", f"I quote: x\n{_mark.encode(MARK)}"),
            ("user", "the brief"),
            ("assistant", "done"),
        ]
    ).encode()
    plain = openai_chat.read(Source("x", raw), {}).sessions[0]
    fitting = replace(MARK, messages=2, digest=digest_messages([plain.messages[0], plain.messages[2]]))
    marked = raw.replace(b"the brief", ("the brief\\n" + _mark.encode(fitting)).encode())

    session = openai_chat.read(Source("x", marked), {}).sessions[0]

    assert (session.brief, session.mark) == (1, fitting)
    assert session.messages[0].origin is Origin.PERSON
