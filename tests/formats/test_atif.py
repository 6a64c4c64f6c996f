"""ATIF trajectories pass the format's own validation, also grown ones."""

from __future__ import annotations

import json

import agent_laws as laws
import pytest

from compressor.formats import atif
from compressor.formats._records import Source

PATH = laws.FIXTURES / "atif" / "lanternlog.json"


def validate(raw: bytes) -> None:
    pytest.importorskip("atif").Trajectory.model_validate_json(raw)


def test_a_compaction_is_valid():
    transcript = laws.load(PATH)
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0]))

    validate(bytes(transcript.raw))
    validate(bytes(out.raw))
    document = json.loads(bytes(out.raw))
    assert [s["step_id"] for s in document["steps"]] == list(range(1, len(document["steps"]) + 1))
    assert document["final_metrics"] == json.loads(bytes(transcript.raw))["final_metrics"]


def test_a_grown_trajectory_is_numbered_on():
    transcript = laws.load(PATH)
    out = json.loads(bytes(laws.rewrite(transcript, laws.compaction(transcript.sessions[0])).raw))
    count = len(atif.read(Source("x", json.dumps(out).encode()), {}).sessions[0].messages)
    out["steps"].append({"step_id": len(out["steps"]) + 1, "source": "user", "message": "Tag it."})
    grown = atif.read(Source("x", json.dumps(out).encode()), {})

    joined = atif.join(bytes(transcript.raw), grown, count)

    validate(joined)
    steps = json.loads(joined)["steps"]
    assert steps[:-1] == json.loads(bytes(transcript.raw))["steps"]
    assert steps[-1] == {"step_id": len(steps), "source": "user", "message": "Tag it."}
