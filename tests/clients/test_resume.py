"""The real agents resume what the writers wrote, and send what the readers call live.

`COMPRESS_CLIENTS` names a folder with `resume_check.sh FILE [--summary T] [--absent T] [--present T] [--turns N]`,
which resumes a session file with its own agent against a mock model and prints what was sent, and with
`sessions/<agent>/*.jsonl` (another folder of sessions: `COMPRESS_CLIENTS_SESSIONS`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))

import agent_laws as laws

from compressor.model import Origin, PartType, Session, Transcript

TOOLS = Path(os.environ.get("COMPRESS_CLIENTS", ""))
SESSIONS = Path(os.environ.get("COMPRESS_CLIENTS_SESSIONS", TOOLS / "sessions"))
AGENTS = ("claude", "codex")
ENABLED = "COMPRESS_CLIENTS" in os.environ
FILES = sorted(p for a in AGENTS for p in (SESSIONS / a).glob("*.jsonl")) if ENABLED else []
BRIEF = f"{laws.BRIEF}\nThe heron stands at gate 4711."

pytestmark = [pytest.mark.clients, pytest.mark.skipif(not ENABLED, reason="COMPRESS_CLIENTS is not set")]


def resume(file: Path, *, summary: str = "", absent: list[str], present: list[str]) -> dict:
    command = ["bash", str(TOOLS / "resume_check.sh"), str(file), "--turns", "2"]
    for option, values in (("--summary", [summary] if summary else []), ("--absent", absent), ("--present", present)):
        for value in values:
            command += [option, value]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=env, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def samples(session: Session, indexes: set[int], other: set[int]) -> list[str]:
    """Lines that stand in the messages of `indexes` and nowhere in those of `other`; at most 40."""
    elsewhere = "\n".join(p.text for m in session.messages if m.index in other for p in m.parts)
    found = []
    for m in session.messages:
        if m.index in indexes:
            for p in m.parts:
                visible = p.type in (PartType.TEXT, PartType.TOOL_RESULT)
                lines = p.text.splitlines() if visible else []
                found += [
                    x.strip() for x in lines if len(x.strip()) > 15 and x.strip() not in elsewhere and x.isascii()
                ][:2]
    return list(dict.fromkeys(found))[-40:]


def assert_sent(result: dict) -> None:
    assert result["accepted"], result
    assert result["summary_present"] is not False, result
    assert result["pairs_ok"], result
    assert not result["pair_faults"], result
    assert not result["file_orphan_calls"], result
    assert not result["file_orphan_results"], result
    assert result["still_there"] == []
    assert result["missing"] == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem[-12:])
@pytest.mark.parametrize("new_id", ["", "7b1c2a1e-5a52-4a0e-9c51-0d7a4f3c9e11"], ids=["same-id", "new-id"])
def test_a_compaction_is_resumed(path: Path, new_id: str, tmp_path: Path):
    transcript = laws.load(path)
    session = transcript.sessions[0]
    change = laws.compaction(session, brief=BRIEF, new_id=new_id)
    out = laws.assert_compacted(transcript, change)
    name = path.name.replace(session.id, new_id) if new_id else path.name
    file = tmp_path / name
    file.write_bytes(bytes(out.raw))
    stays = {m.index for m in session.messages} - change.dropped
    # what the harness once said it says again when it resumes
    dropped = {i for i in change.dropped if session.messages[i].origin is not Origin.HARNESS}
    result = resume(
        file,
        summary="The heron stands at gate 4711.",
        absent=samples(session, dropped, stays),
        present=live_samples(out),
    )
    assert_sent(result)
    assert result["session_id"] == (new_id or session.id)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem[-12:])
def test_what_is_read_as_live_is_what_is_sent(path: Path):
    transcript = laws.load(path)
    session = transcript.sessions[0]
    live = {m.index for m in session.messages if m.live}
    gone = {m.index for m in session.messages} - live
    assert_sent(resume(path, absent=samples(session, gone, live), present=live_samples(transcript)))


def live_samples(transcript: Transcript) -> list[str]:
    session = transcript.sessions[0]
    return samples(session, {m.index for m in session.messages if m.live and m.role != "system"}, set())
