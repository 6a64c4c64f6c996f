"""Cline's API history: cases, laws, and places that do not move."""

from __future__ import annotations

import json

import list_laws
import pytest

from compressor.formats import cline
from compressor.formats._records import Source

FIXTURES = list_laws.fixtures("cline")


@pytest.mark.parametrize("case", list_laws.cases("cline"))
def test_case(case):
    list_laws.run_case(cline, case)


@pytest.mark.parametrize("path", FIXTURES)
def test_fixture_keeps_the_laws(path):
    raw = path.read_bytes()

    assert not list_laws.invalid("cline", raw)
    list_laws.laws(cline, raw, detected=True)


@pytest.mark.parametrize("path", FIXTURES)
def test_no_message_moves(path):
    raw = path.read_bytes()
    transcript = cline.read(Source("x", raw), {})
    out = cline.write(transcript, {0: list_laws.synthetic(transcript.sessions[0])}).data
    before, after = json.loads(raw), json.loads(out)

    assert [m["role"] for m in after] == [m["role"] for m in before]
    assert [m.get("ts") for m in after] == [m.get("ts") for m in before]
    assert sum(m["content"] == cline.LEFT for m in after) > 3
    assert len(out) < len(raw)


def test_goes_on_from_what_the_tool_appended():
    raw = FIXTURES[0].values[0].read_bytes()
    transcript = cline.read(Source("x", raw), {})
    out = json.loads(cline.write(transcript, {0: list_laws.synthetic(transcript.sessions[0])}).data)
    count = len(cline.read(Source("x", json.dumps(out).encode()), {}).sessions[0].messages)
    added = {"role": "user", "content": [{"type": "text", "text": "<feedback>Tag it.</feedback>"}], "ts": 9}
    grown = cline.read(Source("x", json.dumps([*out, added]).encode()), {})

    assert json.loads(cline.join(raw, grown, count)) == [*json.loads(raw), added]
