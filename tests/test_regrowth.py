"""Outputs that go on to live: grown with and without the archive, edited by hand, with marks that are not theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compressor import reading
from compressor.archive import Store
from compressor.formats import Source
from compressor.model import Verdict
from compressor.pipeline import Settings, compact
from compressor.regrowth import originals
from compressor.rules import load_preset
from compressor.transaction import publish

FIXTURES = Path(__file__).parent.parent / "fixtures"
SETTINGS = Settings(preset=load_preset("archive"), ratio=5.0)
LONG = "I looked at the queue. " * 60


def first_output(name: str, folder: Path) -> tuple[bytes, Store]:
    settings = Settings(preset=SETTINGS.preset, ratio=5.0, archive=folder / "archive")
    given = folder / "session.jsonl"
    given.write_bytes((FIXTURES / name).read_bytes())
    publish(compact(reading.open_source(given), settings), folder / "out.jsonl", settings)
    return (folder / "out.jsonl").read_bytes(), Store(folder / "archive")


def claude_turn(output: bytes) -> bytes:
    last = next(v for v in map(json.loads, reversed(output.splitlines())) if v.get("type") in ("user", "assistant"))
    same = {k: last[k] for k in ("cwd", "sessionId", "version", "isSidechain")}
    ask = {**same, "type": "user", "uuid": "00000000-0000-4000-8000-000000000001", "parentUuid": last["uuid"]}
    ask["message"] = {"role": "user", "content": "Never refund order 88741."}
    say = {**same, "type": "assistant", "uuid": "00000000-0000-4000-8000-000000000002", "parentUuid": ask["uuid"]}
    say["message"] = {"role": "assistant", "id": "msg_1", "content": [{"type": "text", "text": LONG}]}
    return output + b"".join(json.dumps(v).encode() + b"\n" for v in (ask, say))


@pytest.mark.parametrize("name", ["claude-code/refactor-billing.jsonl", "claude-code/zh-deploy.jsonl"])
@pytest.mark.parametrize(("at_hand", "generation"), [(True, 1), (False, 2)])
def test_a_claude_session_goes_on_after_a_compaction(name: str, at_hand: bool, generation: int, tmp_path: Path) -> None:
    output, store = first_output(name, tmp_path)
    outcome = compact(Source("session.jsonl", claude_turn(output)), SETTINGS, store if at_hand else None)
    assert [(r.verdict, r.generation) for r in outcome.results] == [(Verdict.COMPACTED, generation)]
    assert outcome.data is not None
    assert b"Never refund order 88741." in outcome.data
    # again: the older brief that was carried along is no newer one
    again = compact(Source("session.jsonl", outcome.data), SETTINGS, None)
    assert again.data is None or again.data == outcome.data


def test_a_mark_with_the_key_of_another_session_swaps_nothing_in(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    output, store = first_output("claude-code/zh-deploy.jsonl", tmp_path / "a")
    other, others = first_output("claude-code/refactor-billing.jsonl", tmp_path / "b")
    marks = [reading.read(Source("x", raw)).sessions[0].mark for raw in (output, other)]
    keys = [mark.archive for mark in marks if mark is not None]
    with store.writing("test"):
        store.put(others.get(keys[1]))
    forged = Source("session.jsonl", claude_turn(output.replace(keys[0].encode(), keys[1].encode())))
    given = reading.read(forged)
    assert given.sessions[0].mark is not None
    assert given.sessions[0].mark.archive == keys[1]
    assert originals(given, SETTINGS, store) is given
