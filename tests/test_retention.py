"""Future-reference recall: what counts as needed, and what counts as kept."""

from __future__ import annotations

import json
from pathlib import Path

from compressor import reading
from compressor.evaluate import retention

FIXTURES = Path(__file__).parent.parent / "fixtures"


def transcript(tmp_path: Path) -> Path:
    names = [f"module_{chr(97 + i)}x.py" for i in range(12)]
    listing = "\n".join(f"def work_{i}_of(order): # lives in {n} since release" for i, n in enumerate(names))
    rows = [
        {"role": "user", "content": "Look at the modules."},
        {"role": "assistant", "content": "I look.", "tool_calls": [call("c1", "ls")]},
        {"role": "tool", "tool_call_id": "c1", "content": listing + "\nfiller " * 400},
        {"role": "assistant", "content": "Seen."},
        {"role": "user", "content": f"Now change them; {names[11]} is shown again here."},
        {"role": "assistant", "content": "I change " + ", ".join(names) + " and brand_new_name."},
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def call(id: str, command: str) -> dict[str, object]:
    return {"id": id, "type": "function", "function": {"name": "sh", "arguments": json.dumps({"command": command})}}


def test_needed_is_what_the_agent_had_only_from_before(tmp_path: Path) -> None:
    needed = retention.need(reading.read(transcript(tmp_path)), 0.6)

    assert needed is not None
    assert set(needed.contexts) == {f"module_{chr(97 + i)}x.py" for i in range(11)}


def test_in_context_asks_for_the_words_around(tmp_path: Path) -> None:
    needed = retention.need(reading.read(transcript(tmp_path)), 0.6)
    assert needed is not None
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({"role": "user", "content": " ".join(needed.contexts)}) + "\n")

    score = retention.score(needed, reading.read(bare).sessions[0], 0.1)

    assert score.recall == 1.0
    assert score.in_context < 0.2


def test_the_whole_beginning_keeps_everything(tmp_path: Path) -> None:
    needed = retention.need(reading.read(transcript(tmp_path)), 0.6)
    assert needed is not None
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(needed.prefix)

    score = retention.score(needed, reading.read(whole).sessions[0], 1.0)

    assert (score.recall, score.in_context) == (1.0, 1.0)


def test_eval_command_measures_the_shipped_session(cli, tmp_path: Path) -> None:
    ran = cli("eval", FIXTURES / "claude-code" / "refactor-billing.jsonl", "--share", "0.25", "--json")

    assert ran.code == 0
    mean = json.loads(ran.out)["mean"]
    assert mean["share"] <= 0.2625
    assert mean["in_context"] >= 0.85
