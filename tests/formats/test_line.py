"""Changing a line: by parsing and writing it anew, or in place; both must say the same."""

from __future__ import annotations

import json

import orjson
import pytest

from compressor.formats._line import Line
from compressor.model import NESTED

COMPACT = b'{"id":"a","n":1.5,"list":[{"text":"old"}],"arguments":"{\\"command\\": \\"ls\\"}"}'
SPACED = b'{"id": "a", "n": 1.50, "list": [{"text": "old"}], "arguments": "{\\"command\\": \\"ls\\"}"}'


@pytest.mark.parametrize("body", [COMPACT, SPACED])
def test_what_is_not_named_stays_byte_for_byte(body: bytes) -> None:
    line = Line(body)
    line.set(("list", 0, "text"), "new")

    assert line.changed() == body.replace(b'"old"', b'"new"')


@pytest.mark.parametrize("body", [COMPACT, SPACED])
def test_text_inside_a_string_keeps_its_style(body: bytes) -> None:
    line = Line(body)
    line.set(("arguments", NESTED, "command"), "pwd")

    assert line.changed() == body.replace(b"ls", b"pwd")


@pytest.mark.parametrize("body", [COMPACT, SPACED])
def test_a_member_leaves(body: bytes) -> None:
    line = Line(body)
    line.delete(("id",))

    assert list(orjson.loads(line.changed())) == ["n", "list", "arguments"]


@pytest.mark.parametrize("body", [COMPACT, SPACED])
@pytest.mark.parametrize("text", ["lone \ud800", "né → 🙂", 'quotes " and \\ and \n'])
def test_any_text_can_be_put_in(body: bytes, text: str) -> None:
    line = Line(body)
    line.set(("id",), text)

    assert json.loads(line.changed())["id"] == text


def test_a_key_that_stands_twice_is_not_lost() -> None:
    line = Line(b'{"a":1,"a":2,"b":"x"}')
    line.set(("b",), "y")

    assert line.changed() == b'{"a":1,"a":2,"b":"y"}'


def test_without_changes_it_is_the_same() -> None:
    assert Line(SPACED).changed() is SPACED
