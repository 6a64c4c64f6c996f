from __future__ import annotations

from pathlib import Path

import agent_laws as laws
import pytest

from compressor.reading import detect, open_source

FILES = laws.fixtures("claude-code/**/*.jsonl", "dirty/claude-*.jsonl") + laws.corpus("claude-code")


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_is_detected(path: Path):
    assert detect(open_source(path)) == "claude-code"


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
    if session.messages and session.id:
        out = laws.assert_compacted(transcript, laws.compaction(session, new_id="3f0c"))
        assert out.sessions[0].meta["ids"] == ("3f0c",)
        # a line that cannot be read goes out as it came in
        assert transcript.dirt.get("unreadable") or b'"sessionId":"' + session.id.encode() not in bytes(out.raw)
