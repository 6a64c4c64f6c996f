from __future__ import annotations

import list_laws
import pytest

from compressor.formats import anthropic

NAME = "anthropic"


@pytest.mark.parametrize("case", list_laws.cases(NAME))
def test_case(case):
    list_laws.run_case(anthropic, case)


@pytest.mark.parametrize("path", list_laws.fixtures(NAME))
def test_fixture_keeps_the_laws(path):
    list_laws.laws(anthropic, path.read_bytes(), detected=True)


@pytest.mark.corpus
def test_corpus_keeps_the_laws():
    files = list_laws.corpus(NAME)
    if not files:
        pytest.skip("COMPRESS_CORPUS is not set or holds none")
    for path in files:
        list_laws.laws(anthropic, path.read_bytes(), detected=True)
        assert not list_laws.invalid(NAME, path.read_bytes())


GOOD = {
    "system": "s",
    "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
    ],
}


def test_the_schema_rejects_damage():
    list_laws.rejected(
        NAME,
        GOOD,
        [
            lambda v: v.update(messages="a"),
            lambda v: v.pop("messages"),
            lambda v: v["messages"][0].update(role="tool"),
            lambda v: v["messages"][0].update(content=None),
            lambda v: v["messages"][1]["content"][0].update(input="{}"),
            lambda v: v["messages"][1]["content"][0].pop("id"),
            lambda v: v["messages"][1]["content"][0].pop("type"),
            lambda v: v["messages"][2]["content"][0].update(tool_use_id=3),
            lambda v: v["messages"][2]["content"][0].update(content=7),
            lambda v: v["messages"].append("text"),
        ],
    )
