"""Gemini CLI sessions: the log's replay, each result once, cases and laws."""

from __future__ import annotations

import json
from pathlib import Path

import agent_cases
import agent_laws as laws
import pytest

from compressor.formats import gemini_cli
from compressor.formats._records import Source
from compressor.reading import detect, open_source

NAME = "gemini-cli"
FILES = agent_cases.files(NAME)
LOG = laws.FIXTURES / NAME / "lanternlog.jsonl"


@pytest.mark.parametrize("case", agent_cases.cases(NAME))
def test_case(case):
    agent_cases.run(NAME, case)


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_keeps_the_laws(path: Path):
    transcript = laws.load(path)
    session = transcript.sessions[0]

    assert detect(open_source(path)) == NAME
    laws.assert_unchanged(transcript)
    assert laws.invalid(transcript) == set()
    if session.messages:
        for new_id in ("", "7b1c2a1e-5a52-4a0e-9c51-0d7a4f3c9e11"):
            out = laws.assert_compacted(transcript, laws.compaction(session, new_id=new_id))
            assert out.sessions[0].id == (new_id or session.id)
            assert laws.invalid(out) == set()
            assert not [f for f in gemini_cli.check(out) if f.check in {"E04", "E15"}]


def test_each_result_is_written_once():
    out = laws.rewrite(laws.load(LOG), laws.compaction(laws.load(LOG).sessions[0]))

    assert b"toolCalls" not in bytes(out.raw)
    assert bytes(out.raw).count(b"105.00\\n\\n</untrusted_context>") == 1


def test_goes_on_from_what_the_tool_appended():
    added = [
        {"id": "u-9", "timestamp": "2026-03-05T09:00:00.000Z", "type": "user", "content": [{"text": "Tag it."}]},
        {"$set": {"lastUpdated": "2026-03-05T09:00:00.000Z"}},
        {"id": "g-9", "timestamp": "2026-03-05T09:00:02.000Z", "type": "gemini", "content": "Tagged v0.5.0."},
    ]
    lines = "".join(json.dumps(v) + "\n" for v in added).encode()
    agent_cases.grows(NAME, open_source(LOG), lines)


def test_the_list_that_a_resume_tells_again_is_no_growth():
    transcript = laws.load(LOG)
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0]))
    rows = [json.loads(line) for line in bytes(out.raw).splitlines()]
    told = [*rows[1]["$set"]["messages"], *rows[2:]]
    empty = {"$set": {"messages": told[:1]}}
    again = {"$set": {"messages": told, "lastUpdated": "2026-03-05T09:00:00.000Z"}}
    raw = bytes(out.raw) + b"".join(json.dumps(v).encode() + b"\n" for v in (empty, again))

    resumed = gemini_cli.read(Source("resumed", raw), {}).sessions[0]

    assert [m.id for m in resumed.messages] == [m.id for m in out.sessions[0].messages]
    assert resumed.brief == out.sessions[0].brief
    assert resumed.mark == laws.MARK


def test_resumes_from_any_file():
    assert gemini_cli.resume_command(laws.load(LOG), "/tmp/a b.jsonl") == "gemini --session-file '/tmp/a b.jsonl'"
