from __future__ import annotations

import list_laws
import pytest

from compressor.formats import openai_chat
from compressor.formats._records import Source

NAME = "openai-chat"


@pytest.mark.parametrize("case", list_laws.cases(NAME))
def test_case(case):
    list_laws.run_case(openai_chat, case)


@pytest.mark.parametrize("path", list_laws.fixtures(NAME))
def test_fixture_keeps_the_laws(path):
    list_laws.laws(openai_chat, path.read_bytes(), detected=True)


@pytest.mark.parametrize("path", sorted((list_laws.TOP / "fixtures" / "dirty").glob("chat-*")), ids=lambda p: p.name)
def test_dirt_is_kept(path):
    raw = path.read_bytes()
    if "utf16" in path.name:
        assert openai_chat.read(Source("x", raw), {}).sessions == ()
        return
    list_laws.laws(openai_chat, raw, detected=True)


@pytest.mark.corpus
def test_corpus_keeps_the_laws():
    files = list_laws.corpus(NAME)
    if not files:
        pytest.skip("COMPRESS_CORPUS is not set or holds none")
    for path in files:
        list_laws.laws(openai_chat, path.read_bytes(), detected=True)
        assert not list_laws.invalid(NAME, path.read_bytes())


@pytest.mark.parametrize(
    "raw",
    [
        b'{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n{"role":"user","content":"c"}',
        b'[\n  {"role": "user", "content": "a"},\n  {"role": "assistant", "content": "b"}\n]\n',
        b'{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "n": 1}',
    ],
)
def test_join_puts_new_messages_behind_the_original(raw):
    list_laws.grows(openai_chat, raw, 1)


def test_the_line_of_a_message_in_a_deep_document_is_told():
    raw = b'\n{"n": [\n1],\n"messages": [\n{"role": "user",\n"content": "a"},\n\n{"role": "user", "content": "b"}]}'

    session = openai_chat.read(Source("x", raw), {}).sessions[0]

    assert [m.line for m in session.messages] == [5, 8]


def test_a_line_of_a_megabyte_costs_no_more_than_its_bytes():
    url = "data:image/png;base64," + "A" * 1_200_000
    raw = b'{"role":"user","content":[{"type":"image_url","image_url":{"url":"%s"}}]}\n' % url.encode()
    transcript = openai_chat.read(Source("x", raw), {})

    assert transcript.sessions[0].parts[0].text == "image/png, 900,000 bytes"
    list_laws.laws(openai_chat, raw)


GOOD = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "x"},
]


def test_the_schema_rejects_damage():
    list_laws.rejected(
        NAME,
        GOOD,
        [
            lambda v: v[0].update(role="robot"),
            lambda v: v[0].pop("role"),
            lambda v: v[0].update(content=5),
            lambda v: v[0].update(content=[{"text": "no type"}]),
            lambda v: v[1].update(tool_calls={}),
            lambda v: v[1]["tool_calls"][0]["function"].update(arguments=3),
            lambda v: v[1]["tool_calls"][0].pop("function"),
            lambda v: v[1]["tool_calls"][0].update(id=1),
            lambda v: v[2].update(tool_call_id=7),
            lambda v: v[2].pop("content"),
            lambda v: v.append(3),
        ],
    )
