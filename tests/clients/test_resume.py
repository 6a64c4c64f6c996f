"""The real agents resume what the product wrote, and send what the readers call live.

`COMPRESS_CLIENTS` names folders (as in PATH) with `node_modules/.bin/{codex,claude,gemini,opencode}`; agents that are
not there are skipped. They talk to a model on this machine and to nobody else.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import agent_laws as laws
import pytest
from agents import AGENTS, Agent, binary
from conftest import KINDS, Made
from scripted_model import Model, Sent, interface, pair_faults

from compressor.model import Origin, PartType, Session, Transcript

pytestmark = pytest.mark.clients

CASES = [
    pytest.param(name, kind, marks=pytest.mark.skipif(binary(name) is None, reason=f"{name} is not at hand"))
    for name in AGENTS
    for kind in KINDS
]
#: How the product is run: with what options, whether in the agent's own home (where it knows the session already).
WAYS = {
    "rewrite": ((), False),
    "new-id": (("--new-id",), True),
    "in-place": ((), True),
    "placeholders": (("--summarizer", "none"), False),
}
TURNS = 3


def compact(file: Path, folder: Path, *options: str, budget: int) -> Path:
    """What the product makes of a file."""
    out = folder / f"out{file.suffix}"
    command = [sys.executable, "-m", "compressor", "run", str(file), "-o", str(out), "--budget", str(budget), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def lines(session: Session, indexes: set[int], other: set[int]) -> list[str]:
    """Lines that stand in some messages and nowhere in others; the newest forty."""
    elsewhere = "\n".join(p.text for m in session.messages if m.index in other for p in m.parts)
    found = []
    for m in session.messages:
        if m.index in indexes:
            for p in m.parts:
                told = p.text.split("\n") if p.type in (PartType.TEXT, PartType.TOOL_RESULT) else []
                found += [
                    t.strip() for t in told if len(t.strip()) > 15 and t.isascii() and t.strip() not in elsewhere
                ][:2]
    return list(dict.fromkeys(found))[-40:]


def resume(agent: Agent, session: str, model: Model) -> list[list[Sent]]:
    """What the agent sends in each of a few turns."""
    sent = []
    for turn in range(TURNS):
        prompt = f"RESUME-PROBE {turn} go on"
        before = len(model.requests)
        agent.turn(prompt, session)
        mine = [
            list(interface(path).sent(body))
            for path, body in model.requests[before:]
            if interface(path).tools(body) and any(prompt in s.text for s in interface(path).sent(body))
        ]
        assert mine, f"{agent.name} sent nothing: {agent.errors[-1]}"
        sent.append(mine[0])
    return sent


def assert_sent(agent: Agent, turns: list[list[Sent]], *, absent: list[str], present: list[str]) -> None:
    for sent in turns:
        told = "\n".join(s.text for s in sent)
        assert pair_faults(sent, adjacent=agent.adjacent) == []
        assert [t for t in absent if t in told] == []
        assert [t for t in present if t not in told] == []


def elsewhere(agent: Agent, tmp_path: Path, model: Model) -> Agent:
    """The same agent in a new home, where it knows nothing."""
    return type(agent)(tmp_path / "home", agent.folder, model)


@pytest.mark.parametrize(("name", "kind"), CASES)
@pytest.mark.parametrize("way", WAYS)
def test_a_compaction_is_resumed(name: str, kind: str, way: str, made: Made, model: Model, tmp_path: Path):
    maker, session = made(name, kind)
    options, at_home = WAYS[way]
    file = Path(shutil.copy(maker.file(session), tmp_path / f"session{maker.suffix}"))
    before = laws.load(file)
    budget = max(300, sum(len(p.text) for p in before.sessions[0].parts) // 10)

    out = compact(file, tmp_path, *options, budget=budget)

    after = laws.load(out)
    name_after = after.sessions[0].id
    assert (name_after == session) is ("--new-id" not in options)
    agent = elsewhere(maker, tmp_path, model)
    if at_home:
        # a copy of the home, databases and all, so that the other tests find theirs as it was
        shutil.copytree(maker.home, agent.home, dirs_exist_ok=True)
        agent.prepare()
    if name == "opencode" and way == "in-place":
        agent.run("session", "delete", session)
    agent.put(out, name_after)
    assert_sent(agent, resume(agent, name_after, model), **expected(before, after))


def expected(before: Transcript, after: Transcript) -> dict[str, list[str]]:
    """What must not be sent any more, and what must be."""
    old, new = before.sessions[0], after.sessions[0]
    if new.mark is None:
        return {"absent": [], "present": lines(new, live(new), set())}
    kept = {p.text for m in new.messages for p in m.parts}
    # what the harness once said it says again when it resumes
    left = {
        m.index for m in old.messages if m.origin is not Origin.HARNESS and not any(p.text in kept for p in m.parts)
    }
    everything = "\n".join(p.text for m in new.messages for p in m.parts)
    gone = [t for t in lines(old, left, {m.index for m in old.messages} - left) if t not in everything]
    brief = [t for t in new.messages[new.brief].parts[0].text.split("\n") if t.strip()][:3]
    return {"absent": gone, "present": [*brief, *lines(new, live(new), set())]}


def live(session: Session) -> set[int]:
    return {m.index for m in session.messages if m.live and m.role != "system" and not m.regainable}


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_what_is_read_as_live_is_what_is_sent(name: str, kind: str, made: Made, model: Model, tmp_path: Path):
    maker, session = made(name, kind)
    file = maker.file(session)
    transcript = laws.load(file)
    read = transcript.sessions[0]
    now = live(read)
    # what the harness once said it says again when it resumes, and it shows files again that were read
    gone = {m.index for m in read.messages if not m.live and m.origin in (Origin.PERSON, Origin.AGENT)}
    agent = elsewhere(maker, tmp_path, model)
    agent.put(file, session)
    told = "\n".join(s.text for s in resume(agent, session, model)[0])

    assert [t for t in lines(read, gone, now) if t in told] == []
    assert [t for t in lines(read, now, set()) if t not in told] == []
