"""Cases and laws of the agents whose sessions are trees or lists with the mark in a field."""

from __future__ import annotations

import json
from pathlib import Path

import agent_cases
import agent_laws as laws
import list_laws
import pytest

from compressor import plugins
from compressor.formats._records import Source
from compressor.reading import detect, open_source

NAMES = ("atif", "copilot-cli", "inspect", "opencode", "pi", "qwen-code", "roo")
NAMED = ("copilot-cli", "opencode", "pi", "qwen-code")
TREES = ("copilot-cli", "pi", "qwen-code")
CASES = [pytest.param(n, *c.values, id=f"{n}-{c.id}") for n in NAMES for c in agent_cases.cases(n)]
FILES = [pytest.param(n, p, id=f"{n}-{laws.name(p)}") for n in NAMES for p in agent_cases.files(n)]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_case(name, case):
    agent_cases.run(name, case)


@pytest.mark.parametrize(("name", "path"), FILES)
def test_keeps_the_laws(name: str, path: Path):
    transcript = laws.load(path)
    session = transcript.sessions[0]

    assert detect(open_source(path)) == name
    laws.assert_unchanged(transcript)
    assert laws.invalid(transcript) == set()
    for new_id in ("", "7b1c2a1e-5a52-4a0e-9c51-0d7a4f3c9e11"):
        out = laws.assert_compacted(transcript, laws.compaction(session, new_id=new_id))
        assert (out.sessions[0].id == session.id) is (not new_id or name not in NAMED)
        assert laws.invalid(out) == set()
        assert bytes(out.raw).endswith(b"\n") or name not in TREES


@pytest.mark.parametrize("name", [*NAMES, "gemini-cli", "cline"])
def test_no_damage_makes_a_reader_fail(name: str):
    for path in laws.fixtures(f"{name}/*.*"):
        raw = path.read_bytes()
        for seed in range(40, 100):
            list_laws.survives(plugins.load("formats", name), list_laws.damaged(raw, seed))


GROWTH = {
    "copilot-cli": lambda last: [
        {"type": "user.message", "data": {"content": "Tag it."}, "id": "n1", "timestamp": "T", "parentId": last},
        {
            "type": "assistant.message",
            "data": {"messageId": "m", "content": "Tagged."},
            "id": "n2",
            "timestamp": "T",
            "parentId": "n1",
        },
    ],
    "pi": lambda last: [
        {"type": "message", "id": "n1", "parentId": last, "message": {"role": "user", "content": "Tag it."}},
        {"type": "message", "id": "n2", "parentId": "n1", "message": {"role": "assistant", "content": "Tagged."}},
    ],
    "qwen-code": lambda last: [
        {
            "uuid": "n1",
            "parentUuid": last,
            "sessionId": "x",
            "type": "user",
            "provenance": "real_user",
            "message": {"role": "user", "parts": [{"text": "Tag it."}]},
        },
        {
            "uuid": "n2",
            "parentUuid": "n1",
            "sessionId": "x",
            "type": "assistant",
            "message": {"role": "model", "parts": [{"text": "Tagged."}]},
        },
    ],
}


@pytest.mark.parametrize("name", TREES)
def test_goes_on_from_what_the_tool_appended(name: str):
    source = open_source(laws.FIXTURES / name / "lanternlog.jsonl")
    transcript = laws.load(Path(source.path))
    module = plugins.load("formats", name)
    out = module.write(transcript, {0: laws.compaction(transcript.sessions[0])}).data
    last = module.read(Source("", out), {}).sessions[0].meta["nodes"][-1].id
    rows = GROWTH[name](last)
    for row in rows:
        if "sessionId" in row:
            row["sessionId"] = transcript.sessions[0].id

    agent_cases.grows(name, source, b"".join(json.dumps(r).encode() + b"\n" for r in rows))


def test_an_export_under_a_new_id_shares_no_id_with_the_old_one():
    transcript = laws.load(laws.FIXTURES / "opencode" / "compacted-by-tool.json")
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0], new_id="n-1"))
    old, new = json.loads(bytes(transcript.raw)), json.loads(bytes(out.raw))

    def ids(export):
        yield export["info"]["id"]
        for message in export["messages"]:
            yield message["info"]["id"]
            yield from (p["id"] for p in message["parts"])

    assert not set(ids(old)) & set(ids(new))
    assert [m["info"]["id"] for m in new["messages"]] == sorted(m["info"]["id"] for m in new["messages"])
    assert {p["sessionID"] for m in new["messages"] for p in m["parts"]} == {new["info"]["id"]}
    assert {p["messageID"] for m in new["messages"] for p in m["parts"]} <= {m["info"]["id"] for m in new["messages"]}


def test_an_export_grown_by_its_tool_is_joined():
    transcript = laws.load(laws.FIXTURES / "opencode" / "lanternlog.json")
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0], new_id="n-1"))
    grown = json.loads(bytes(out.raw))
    about = {"sessionID": grown["info"]["id"], "messageID": "msg_ffff"}
    info = {"id": "msg_ffff", "sessionID": grown["info"]["id"], "role": "user", "time": {"created": 1}}
    grown["messages"].append({"info": info, "parts": [{"type": "text", "text": "Tag it.", "id": "prt_ffff", **about}]})
    module = plugins.load("formats", "opencode")
    read = module.read(Source("grown", json.dumps(grown).encode()), {})

    joined = module.join(bytes(transcript.raw), read, len(out.sessions[0].messages))

    session = module.read(Source("joined", joined), {}).sessions[0]
    assert laws.texts(session.messages[-1]) == [("visible", "Tag it.")]
    assert len(session.messages) == len(transcript.sessions[0].messages) + 1
    assert not [f for f in module.check(module.read(Source("joined", joined), {})) if f.check == "E12"]


@pytest.mark.parametrize("name", NAMED)
def test_says_how_to_resume(name: str):
    path = next((laws.FIXTURES / name).glob("lanternlog.*"))
    transcript = laws.load(path)
    command = plugins.load("formats", name).resume_command(transcript, "/tmp/out file.jsonl")

    assert "'/tmp/out file.jsonl'" in command
    assert command.split()[0] in {"mkdir", "pi", "cp", "opencode"}
