"""No text makes a kind slow: a megabyte of one letter, blanks, brackets, base64, almost-matches."""

from __future__ import annotations

import base64
import random
import time

import pytest

from compressor import plugins
from compressor.model import Call, Message, Origin, Part, PartType, Role, Session, View

RND = random.Random(3)
SIZE = 1_000_000

OPTIONS = {
    "pattern": [{"pattern": r"\d+ errors?"}, {"pattern": ["a.*b|a", r"(\w+\s*)+$", "(?s)x.*?y.*?z"]}],
    "phrase": [{"phrases": ["go ahead", "a"], "match": "sentence"}, {"lang": "zh", "phrases": ["a", "同意"]}],
    "duplicate": [{}],
    "superseded": [{}],
    "long": [{}],
    "blob": [{}],
    "stale": [{"calls": 0}],
    "novel-lines": [{}],
    "whole": [{}],
}
TEXTS = {
    "letter": "a" * SIZE,
    "blanks": " " * SIZE,
    "brackets": "[" * SIZE,
    "lines": "\n" * SIZE,
    "base64": base64.b64encode(RND.randbytes(SIZE * 3 // 4)).decode(),
    "wrapped": base64.encodebytes(RND.randbytes(SIZE * 3 // 4)).decode(),
    "digits": "0000010" * (SIZE // 7),
    "dump lines": "0000010: " * (SIZE // 9),
    "data": "data:," * (SIZE // 6),
    "paths": "src/a/b.py:1 " * (SIZE // 13),
    "words": "a " * (SIZE // 2),
    "chinese": "不要同意" * (SIZE // 4),
    "quotes": "\"'" * (SIZE // 2),
    "hex": ("0123456789abcdef " * (SIZE // 17)),
    "commands": "cat a | " * (SIZE // 8),
}


def view_of(text: str) -> View:
    """The text as an argument of a call and as its result, twice."""
    parts, messages, calls = [], [], []
    for n in range(2):
        call = Part(len(parts), 2 * n, PartType.TOOL_CALL, (), text, "Bash", n, "command")
        result = Part(len(parts) + 1, 2 * n + 1, PartType.TOOL_RESULT, (), text, "Bash", n)
        parts += [call, result]
        messages.append(Message(2 * n, f"#{2 * n}", Role.ASSISTANT, Origin.AGENT, (call,), 2 * n, 1))
        messages.append(Message(2 * n + 1, f"#{2 * n + 1}", Role.TOOL, Origin.TOOL, (result,), 2 * n + 1, 1))
        calls.append(Call(n, f"c{n}", "Bash", 2 * n, (2 * n + 1,)))
    session = Session("s", tuple(messages), tuple(parts), tuple(calls))
    return View(session, [p for p in parts if p.type is PartType.TOOL_RESULT][:1], (), [0] * 4)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("kind", OPTIONS)
def test_a_megabyte_of_anything(kind, name):
    find = plugins.load("kinds", kind).find
    for options in OPTIONS[kind]:
        for _ in find(view_of("warm up"), options):
            pass
        view = view_of(TEXTS[name])
        start = time.process_time()
        for match in find(view, options):
            assert match.start < match.end
        assert time.process_time() - start < 15, options  # quadratic time would be hours
