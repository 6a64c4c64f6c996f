from __future__ import annotations

from pathlib import Path

import agent_laws as laws
import pytest

from compressor.reading import detect, open_source

FILES = laws.fixtures("codex/**/*.jsonl", "dirty/codex-*.jsonl") + laws.corpus("codex", "current/codex")


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_is_detected(path: Path):
    assert detect(open_source(path)) == "codex"


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_without_a_change_no_byte_changes(path: Path):
    laws.assert_unchanged(laws.load(path))


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_a_compaction_reads_back(path: Path):
    transcript = laws.load(path)
    if transcript.sessions[0].messages:
        laws.assert_compacted(transcript, laws.compaction(transcript.sessions[0]))


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_under_a_new_id(path: Path):
    transcript = laws.load(path)
    session = transcript.sessions[0]
    if session.messages:
        out = laws.assert_compacted(transcript, laws.compaction(session, new_id="3f0c"))
        assert out.sessions[0].id == "3f0c"


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_the_schema_holds(path: Path):
    transcript = laws.load(path)
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0]))

    assert laws.invalid(transcript) == set()
    assert laws.invalid(out) == set()
