from __future__ import annotations

import list_laws
import pytest

from compressor import reading
from compressor.errors import ConfigError, ReadError
from compressor.formats import generic
from compressor.formats._records import Source

NAME = "generic"


@pytest.mark.parametrize("case", list_laws.cases(NAME))
def test_case(case):
    list_laws.run_case(generic, case)


@pytest.mark.parametrize("path", list_laws.fixtures(NAME))
def test_fixture_keeps_the_laws(path):
    list_laws.laws(generic, path.read_bytes(), detected=True)


@pytest.mark.corpus
def test_corpus_keeps_the_laws():
    files = list_laws.corpus(NAME)
    if not files:
        pytest.skip("COMPRESS_CORPUS is not set or holds none")
    for path in files:
        list_laws.laws(generic, path.read_bytes(), detected=True)
        assert not list_laws.invalid(NAME, path.read_bytes())


@pytest.mark.parametrize(
    ("raw", "options", "hint"),
    [
        (b'{"role":"user","content":"a","body":"b"}\n' * 2, {}, "role=role, text=content; role=role, text=body"),
        (b'{"who":"user","what":"b"}\n' * 2, {}, "name the keys by option"),
    ],
)
def test_keys_that_do_not_show_are_asked_for(raw, options, hint):
    with pytest.raises(ReadError, match="which keys hold the speaker and the text does not show") as caught:
        generic.read(Source("chat.jsonl", raw), options)

    assert hint in caught.value.hint
    assert str(caught.value.at) == "chat.jsonl:1"


def test_an_unknown_mapping_is_named():
    with pytest.raises(ConfigError, match='unknown key mapping "speker"'):
        generic.read(Source("x", b'{"role":"user","text":"a"}'), {"speker": "role"})


@pytest.mark.parametrize(
    "raw",
    [
        b'{"type":"info","message":"started"}\n{"type":"error","message":"failed"}\n',
        b'{"type":"agent","text":"one object is no conversation"}',
        b'{"from":"Ada","text":"hello"}\n{"from":"Grace","text":"hi"}\n',
    ],
)
def test_other_logs_are_not_taken_for_conversations(raw):
    assert not generic.sniff(reading.make_head(Source("x", raw)))
