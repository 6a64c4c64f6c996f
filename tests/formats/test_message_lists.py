"""The cases and laws of the formats that are message lists inside somebody's document."""

from __future__ import annotations

import list_laws
import pytest

from compressor import plugins

NAMES = (
    "langchain",
    "letta",
    "mini-swe-agent",
    "openhands",
    "otel",
    "responses",
    "sharegpt",
    "swe-agent",
    "tau-bench",
    "tau2-bench",
)


PLAIN = ("anthropic", "generic", "openai-chat")


def every(find, names=NAMES):
    return [pytest.param(name, *p.values, id=f"{name}-{p.id}") for name in names for p in find(name)]


@pytest.mark.parametrize(("name", "case"), every(list_laws.cases))
def test_case(name, case):
    list_laws.run_case(plugins.load("formats", name), case)


@pytest.mark.parametrize(("name", "path"), every(list_laws.fixtures))
def test_fixture_keeps_the_laws(name, path):
    raw = path.read_bytes()

    assert not list_laws.invalid(name, raw)
    list_laws.laws(plugins.load("formats", name), raw, detected=True)


@pytest.mark.parametrize(("name", "path"), every(list_laws.fixtures, (*NAMES, *PLAIN)))
def test_no_damage_makes_a_reader_fail(name, path):
    raw = path.read_bytes()
    for seed in range(60):
        list_laws.survives(plugins.load("formats", name), list_laws.damaged(raw, seed))


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_corpus_keeps_the_laws(name):
    files = list_laws.corpus(name)
    if not files:
        pytest.skip("COMPRESS_CORPUS is not set or holds none")
    for path in files:
        list_laws.laws(plugins.load("formats", name), path.read_bytes(), detected=True)
        assert not list_laws.invalid(name, path.read_bytes())
