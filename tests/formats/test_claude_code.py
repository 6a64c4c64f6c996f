from __future__ import annotations

import json
from pathlib import Path

import agent_laws as laws
import pytest

from compressor.formats import claude_code
from compressor.formats._records import Source
from compressor.model import Compaction, Origin, Role, Transcript
from compressor.reading import detect, open_source, read

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


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_the_schema_holds(path: Path):
    transcript = laws.load(path)
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0]))

    assert laws.invalid(transcript) == set()
    assert laws.invalid(out) == set()


# -- single cases ------------------------------------------------------------------------------------------------

ENVELOPE = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/home/ann/p x",
    "sessionId": "s-1",
    "version": "2.1.9",
}


def user(uuid: str, parent: str | None, content: object, **more: object) -> dict:
    message = {"role": "user", "content": content}
    return {
        "parentUuid": parent,
        **ENVELOPE,
        "type": "user",
        "message": message,
        "uuid": uuid,
        "timestamp": "T1",
        **more,
    }


def agent(uuid: str, parent: str | None, *blocks: dict, api: str = "", **more: object) -> dict:
    message = {"id": api or f"msg_{uuid}", "type": "message", "role": "assistant", "content": list(blocks)}
    return {
        "parentUuid": parent,
        **ENVELOPE,
        "type": "assistant",
        "message": message,
        "uuid": uuid,
        "timestamp": "T2",
        **more,
    }


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def use(call: str, **arguments: object) -> dict:
    return {"type": "tool_use", "id": call, "name": "Bash", "input": arguments}


def result(call: str, content: object) -> dict:
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def boundary(uuid: str, logical: str, **metadata: object) -> dict:
    kind = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
    fields = {"parentUuid": None, "logicalParentUuid": logical, **ENVELOPE, **kind, "uuid": uuid, "timestamp": "T3"}
    return {**fields, "compactMetadata": {"trigger": "auto", "preTokens": 9, **metadata}}


def transcript(*rows: dict | bytes) -> Transcript:
    lines = [
        r if isinstance(r, bytes) else json.dumps(r, ensure_ascii=False, separators=(",", ":")).encode() for r in rows
    ]
    return read(Source("x.jsonl", b"\n".join(lines) + b"\n"), format="claude-code")


def change(
    t: Transcript, dropped: set[str] = frozenset(), texts: dict[str, str] | None = None, brief: str = "B"
) -> Compaction:
    """Drop messages by id, and put new texts in place of old ones by what they say."""
    session = t.sessions[0]
    new = {p.ordinal: (texts or {})[p.text] for p in session.parts if p.text in (texts or {})}
    gone = frozenset(m.index for m in session.messages if m.id in dropped or m.abandoned)
    return Compaction(session, new, gone, brief, 0, laws.MARK)


def rows(t: Transcript) -> list[dict]:
    return [json.loads(line) for line in bytes(t.raw).splitlines()]


def parents(t: Transcript) -> dict[str, str | None]:
    return {r["uuid"]: r["parentUuid"] for r in rows(t) if "uuid" in r}


PARALLEL = (
    user("u1", None, "do it"),
    agent("a1", "u1", use("c1", command="ls"), api="m"),
    agent("a2", "a1", use("c2", command="pwd"), api="m"),
    user("r1", "a1", [result("c1", "one")], toolUseResult={"stdout": "one", "stderr": ""}),
    user("r2", "a2", [result("c2", "two")]),
    {**ENVELOPE, "parentUuid": "r2", "type": "progress", "uuid": "p1", "data": {}},
    agent("a3", "p1", text("done")),
)


def test_parallel_calls_are_siblings_and_stay_a_fork():
    t = transcript(*PARALLEL)
    assert all(m.live and not m.abandoned for m in t.sessions[0].messages)
    assert [(c.id, c.message, c.results) for c in t.sessions[0].calls] == [("c1", 1, (3,)), ("c2", 2, (4,))]

    out = laws.rewrite(t, change(t, {"u1"}))

    summary = next(r["uuid"] for r in rows(out) if r.get("isCompactSummary"))
    kept = {k: v for k, v in parents(out).items() if k in ("a1", "a2", "r1", "r2", "a3")}
    assert kept == {"a1": summary, "a2": "a1", "r1": "a1", "r2": "a2", "a3": "r2"}
    assert all(m.live for m in out.sessions[0].messages)


def test_a_branch_that_nobody_went_on_from_is_abandoned_and_leaves():
    t = transcript(
        user("u1", None, "first"),
        agent("a1", "u1", text("x")),
        user("u2", "a1", "wrong turn"),
        user("u3", "a1", "right turn"),
    )
    assert [m.id for m in t.sessions[0].messages if m.abandoned] == ["u2"]

    out = laws.rewrite(t, change(t))

    assert [m.id for m in out.sessions[0].messages][1:] == ["u1", "a1", "u3"]


def test_history_goes_on_over_a_boundary_whose_parent_is_gone():
    t = transcript(
        user("u1", None, "first"),
        agent("a1", "u1", text("x")),
        boundary("b", "gone"),
        user("s", "b", "This session is being continued", isCompactSummary=True),
        agent("a2", "s", text("y")),
    )
    messages = t.sessions[0].messages
    assert [(m.id, m.live, m.abandoned, m.generation) for m in messages] == [
        ("u1", False, False, 0),
        ("a1", False, False, 0),
        ("s", True, False, 1),
        ("a2", True, False, 0),
    ]


@pytest.mark.parametrize(
    "metadata",
    [
        {"preservedMessages": {"anchorUuid": "s", "uuids": ["u2", "a2"]}},
        {"preservedSegment": {"headUuid": "u2", "anchorUuid": "s", "tailUuid": "a2"}},
    ],
    ids=["list", "segment"],
)
def test_what_a_boundary_preserves_is_live(metadata: dict):
    t = transcript(
        user("u1", None, "first"),
        user("u2", "u1", "second"),
        agent("a2", "u2", text("x")),
        boundary("b", "a2", **metadata),
        user("s", "b", "So far", isCompactSummary=True),
    )
    assert [m.id for m in t.sessions[0].messages if m.live] == ["u2", "a2", "s"]


def test_words_beside_a_result_are_the_persons():
    t = transcript(
        user("u1", None, "go"),
        agent("a1", "u1", use("c1", n=1)),
        user("r1", "a1", [result("c1", "out"), text("and hurry")]),
    )
    out, said = t.sessions[0].messages[2:]
    assert (out.role, out.origin, out.id) == (Role.TOOL, Origin.TOOL, "r1")
    assert (said.role, said.origin, said.id) == (Role.USER, Origin.PERSON, "r1#text")
    assert out.group == said.group


@pytest.mark.parametrize(
    ("words", "origin"),
    [
        ("<system-reminder>be quick</system-reminder>", Origin.HARNESS),
        ("<system-reminder>be quick</system-reminder>\nnow do it", Origin.PERSON),
        ("<command-name>/clear</command-name>\n<command-args></command-args>", Origin.HARNESS),
        ("<command-name>/do</command-name>\n<command-args>the thing</command-args>", Origin.PERSON),
        ("[Request interrupted by user]", Origin.HARNESS),
        ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", Origin.HARNESS),
        ("<task-notification>\n<summary>done</summary>\n</task-notification>\nRead: /tmp/out", Origin.HARNESS),
        ('<teammate-message teammate_id="lead">go on</teammate-message>', Origin.HARNESS),
        ("<ide_opened_file>a.py is open</ide_opened_file>", Origin.HARNESS),
        ("<ide_opened_file>a.py is open</ide_opened_file> mend it", Origin.PERSON),
        ("<div> is broken", Origin.PERSON),
        ("", Origin.PERSON),
    ],
)
def test_who_wrote_a_user_record(words: str, origin: Origin):
    assert transcript(user("u1", None, words)).sessions[0].messages[0].origin is origin


def test_who_sent_a_record_if_it_says_so():
    told, typed = (
        transcript(
            user("u1", None, "done", origin={"kind": "task-notification"}),
            user("u2", "u1", "go", origin={"kind": "human"}),
        )
        .sessions[0]
        .messages
    )
    assert (told.origin, typed.origin) == (Origin.HARNESS, Origin.PERSON)


def test_what_the_harness_adds_to_typed_words_is_another_voice():
    added = "<ide_opened_file>a.py is open</ide_opened_file>"
    t = transcript(user("u1", None, [text(added), text("mend it")]))
    context, typed = t.sessions[0].messages
    assert (context.origin, context.parts[0].text) == (Origin.HARNESS, added)
    assert (typed.origin, typed.parts[0].text, typed.id) == (Origin.PERSON, "mend it", "u1")
    assert context.group == typed.group


def test_an_edited_result_is_edited_in_its_copy_too():
    t = transcript(*PARALLEL)

    out = laws.rewrite(t, change(t, texts={"one": "[gone]"}))

    edited = next(r for r in rows(out) if r.get("uuid") == "r1")
    assert edited["toolUseResult"] == "[gone]"
    assert edited["message"]["content"][0]["content"] == "[gone]"


def test_an_edited_call_leaves_no_copy_in_its_result():
    t = transcript(*PARALLEL)

    out = laws.rewrite(t, change(t, texts={"ls": "[cleared]"}))

    assert next(r for r in rows(out) if r.get("uuid") == "r1")["toolUseResult"] == "one"


def test_a_picture_gives_way_to_words():
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400}}
    t = transcript(user("u1", None, [text("look"), picture]))
    assert t.sessions[0].parts[1].text == "image/png, 300 bytes"

    out = laws.rewrite(t, change(t, texts={"image/png, 300 bytes": "[picture]"}))

    assert rows(out)[-1]["message"]["content"] == [text("look"), text("[picture]")]


def test_an_attachment_is_edited_in_both_places():
    attachment = {"type": "file", "content": {"file": {"content": "long " * 40}}}
    row = {**ENVELOPE, "parentUuid": "u1", "type": "attachment", "uuid": "t1", "attachment": attachment}
    t = transcript(user("u1", None, "go"), {**row, "rendered": [{"content": "shown"}], "renderedRole": "user"})
    assert [(m.id, m.origin) for m in t.sessions[0].messages] == [("u1", Origin.PERSON), ("t1", Origin.HARNESS)]

    out = laws.rewrite(t, change(t, texts={"shown": "[file]"}))

    assert b"long" not in bytes(out.raw)


def test_records_of_the_harness_leave_and_are_counted():
    t = transcript(
        {"type": "mode", "mode": "normal", "sessionId": "s-1"},
        *PARALLEL,
        {"type": "summary", "summary": "x", "leafUuid": "elsewhere"},
        {"type": "last-prompt", "lastPrompt": "do it", "leafUuid": "a3", "sessionId": "s-1"},
        {"type": "news", "sessionId": "s-1"},
    )
    written = claude_code.write(t, {0: change(t, {"u1"})})

    kinds = [json.loads(line)["type"] for line in written.data.splitlines()]
    assert kinds[:3] == ["mode", "system", "user"]
    assert kinds[-2:] == ["last-prompt", "news"]
    assert written.left_out == {"progress": 1, "summary": 1}


def test_a_cleared_history_says_so():
    t = transcript(*PARALLEL)

    out = laws.rewrite(t, change(t, {"u1"}, brief=""))

    assert out.sessions[0].brief == 0
    assert "cleared" in out.sessions[0].messages[0].parts[0].text


def test_new_records_take_ids_and_times_from_what_they_replace():
    t = transcript(*PARALLEL)
    once, twice = (claude_code.write(t, {0: change(t, {"u1"})}).data for _ in range(2))
    first, second = (json.loads(line) for line in once.splitlines()[:2])

    assert once == twice
    assert (first["timestamp"], first["logicalParentUuid"], first["cwd"]) == ("T1", "u1", "/home/ann/p x")
    assert second["parentUuid"] == first["uuid"]


def test_a_sub_agents_own_file_is_a_session():
    t = transcript(user("u1", None, "go", isSidechain=True), agent("a1", "u1", text("x"), isSidechain=True))

    assert all(m.live and not m.sidechain for m in t.sessions[0].messages)
    assert claude_code.resume_command(t, "o.jsonl") == ""


def test_inline_steps_of_a_sub_agent_keep_their_own_tree():
    side = (user("x1", None, "inner", isSidechain=True), agent("x2", "x1", text("step"), isSidechain=True))
    t = transcript(PARALLEL[0], *side, *PARALLEL[1:])
    assert [m.id for m in t.sessions[0].messages if m.sidechain] == ["x1", "x2"]

    out = laws.rewrite(t, change(t, {"u1", "x1"}))

    assert parents(out)["x2"] is None
    assert [m.id for m in out.sessions[0].messages if m.sidechain] == ["x2"]


def test_what_the_tool_appended_goes_below_the_original():
    t = transcript(*PARALLEL)
    out = laws.rewrite(t, change(t, {"u1", "a1", "a2", "r1", "r2", "a3"}))
    summary = rows(out)[1]["uuid"]
    grown = bytes(out.raw) + json.dumps(user("u9", summary, "go on")).encode() + b"\n"

    joined = claude_code.join(bytes(t.raw), read(Source("x", grown), format="claude-code"), 1)

    assert joined.startswith(bytes(t.raw))
    messages = read(Source("x", joined), format="claude-code").sessions[0].messages
    assert [m.id for m in messages if m.live] == ["u1", "a1", "a2", "r1", "r2", "a3", "u9"]


def test_resuming_quotes_what_stands_in_the_file():
    command = claude_code.resume_command(transcript(user("u1", None, "go", cwd="/tmp/$(id)'")), "my out.jsonl")

    assert command == (
        "cp 'my out.jsonl' ~/.claude/projects/-tmp---id--/s-1.jsonl && cd '/tmp/$(id)'\"'\"'' && claude --resume s-1"
    )


@pytest.mark.parametrize(
    ("rows", "finding"),
    [
        ([user("u1", "lost", "x")], ("E05", "parent is not in the file", "u1")),
        ([user("u1", "u2", "x"), user("u2", None, "y")], ("E05", "parent stands behind its child", "u1")),
        ([user("u1", None, "x"), user("u1", None, "y")], ("E05", "two records have one uuid", "u1")),
        ([user("u1", None, "x"), boundary("b", "u1")], ("E10", "compaction boundary without its summary", "b")),
        ([agent("a1", None, use("c"))], ("E02", 'call of tool "Bash" without a result', "c")),
        ([user("u1", None, [result("c", "x")])], ("E02", "tool result without its call", "c")),
        (
            [user("u1", None, "x", sessionId="s-2"), user("u2", "u1", "y")],
            ("E12", "records of several sessions", "s-1, s-2"),
        ),
        (
            [
                *PARALLEL[:2],
                user("r1", "a1", [result("c1", "[cleared: Bash, 9 characters]")], toolUseResult={"stdout": "x"}),
            ],
            ("E15", "a cleared result stands whole in its copy", "r1"),
        ),
        ([user("u1", None, "x"), b'{"half'], ("W02", "line cannot be read, it is passed through", "")),
        (
            [user("u1", None, "x", sourceToolAssistantUUID="no")],
            ("E11", "user.sourceToolAssistantUUID names a record that is not in the file", "no"),
        ),
    ],
)
def test_findings(rows: list, finding: tuple[str, str, str]):
    assert finding in laws.findings(transcript(*rows))


def test_a_sound_file_has_no_findings():
    assert laws.findings(transcript(*PARALLEL)) == set()
