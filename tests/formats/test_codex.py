from __future__ import annotations

import json
from pathlib import Path

import agent_laws as laws
import pytest

from compressor.formats import codex
from compressor.formats._records import Source
from compressor.model import Compaction, Origin, Transcript
from compressor.reading import detect, open_source, read

FILES = laws.fixtures("codex/**/*.jsonl", "dirty/codex-*.jsonl") + laws.corpus("codex", "current/codex")


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_is_detected(path: Path):
    assert detect(open_source(path)) == "codex"


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
    if session.messages:
        out = laws.assert_compacted(transcript, laws.compaction(session, new_id="3f0c"))
        assert out.sessions[0].id == "3f0c"


@pytest.mark.parametrize("path", FILES, ids=laws.name)
def test_the_schema_holds(path: Path):
    transcript = laws.load(path)
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0]))

    assert laws.invalid(transcript) == set()
    assert laws.invalid(out) == set()


# -- single cases ------------------------------------------------------------------------------------------------

META = {"timestamp": "T0", "type": "session_meta", "payload": {"id": "s-1", "timestamp": "2026-02-03T04:05:06.789Z"}}
CONTEXT = {"timestamp": "T0", "type": "turn_context", "payload": {"cwd": "/src", "model": "m"}}


def item(kind: str, **fields: object) -> dict:
    return {"timestamp": "T1", "type": "response_item", "payload": {"type": kind, **fields}}


def said(role: str, *words: str, **fields: object) -> dict:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": w} for w in words], **fields)


def call(call_id: str, arguments: str = '{"cmd":"ls"}', **fields: object) -> dict:
    return item("function_call", name="shell", arguments=arguments, call_id=call_id, **fields)


def output(call_id: str, out: object) -> dict:
    return item("function_call_output", call_id=call_id, output=out)


def thought(words: str, **fields: object) -> dict:
    return item("reasoning", summary=[{"type": "summary_text", "text": words}], encrypted_content="e", **fields)


def compacted(*items: dict, message: str | None = "", **fields: object) -> dict:
    history = {"replacement_history": [i["payload"] for i in items]} if items else {}
    text = {} if message is None else {"message": message}
    return {"timestamp": "T2", "type": "compacted", "payload": {**text, **history, **fields}}


def event(kind: str, **fields: object) -> dict:
    return {"timestamp": "T1", "type": "event_msg", "payload": {"type": kind, **fields}}


def transcript(*rows: dict | bytes) -> Transcript:
    lines = [
        r if isinstance(r, bytes) else json.dumps(r, ensure_ascii=False, separators=(",", ":")).encode() for r in rows
    ]
    return read(Source("x.jsonl", b"\n".join(lines) + b"\n"), format="codex")


def change(t: Transcript, at: int, dropped: set[int] = frozenset(), texts: dict[str, str] | None = None) -> Compaction:
    session = t.sessions[0]
    new = {p.ordinal: (texts or {})[p.text] for p in session.parts if p.text in (texts or {})}
    gone = frozenset(dropped) | {m.index for m in session.messages if m.abandoned}
    return Compaction(session, new, gone, "B", at, laws.MARK)


def rows(t: Transcript) -> list[dict]:
    return [json.loads(line) for line in bytes(t.raw).splitlines()]


def texts(t: Transcript) -> list[str]:
    return [" ".join(p.text for p in m.parts) for m in t.sessions[0].messages]


TURN = (
    META,
    said("developer", "<permissions>"),
    said("user", "<environment_context>"),
    CONTEXT,
    said("user", "list it"),
    event("user_message", message="list it"),
    thought("hm", id="rs_1"),
    call("c1", id="fc_1"),
    output("c1", "a.py"),
    event("exec_command_end", aggregated_output="a.py"),
    event("token_count", info=None),
    said("assistant", "done", id="msg_1"),
)


def test_what_was_read_and_from_whom():
    messages = transcript(*TURN).sessions[0].messages

    assert [(m.role.value, m.origin.value) for m in messages] == [
        ("system", "harness"),
        ("user", "harness"),
        ("user", "person"),
        ("assistant", "agent"),
        ("assistant", "agent"),
        ("tool", "tool"),
        ("assistant", "agent"),
    ]
    assert messages[3].group == messages[4].group
    assert messages[3].parts[0].type == "thinking"


def test_the_head_goes_into_the_history_and_the_rest_follows_as_it_was():
    t = transcript(*TURN)

    out = laws.rewrite(t, change(t, 3))

    found = rows(out)
    assert [r["payload"].get("type", r["type"]) for r in found] == [
        "session_meta",
        "compacted",
        "context_compacted",
        "turn_context",
        "user_message",
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
    ]
    history = found[1]["payload"]["replacement_history"]
    assert [i["content"][0]["text"] for i in history] == ["<permissions>", "<environment_context>", "list it", "B"]
    assert found[5:8] == [json.loads(json.dumps(r)) for r in TURN[6:9]]
    assert laws.findings(out) == set()


def test_reading_again_finds_the_brief_and_the_mark():
    t = transcript(*TURN)

    session = laws.rewrite(t, change(t, 3)).sessions[0]

    assert (session.brief, session.mark) == (3, laws.MARK)
    assert session.messages[3].origin is Origin.HARNESS


@pytest.mark.parametrize("kind", ["compaction", "context_compaction"])
def test_an_opaque_summary_is_carried_unchanged(kind: str):
    opaque = item(kind, id="cmp_1", encrypted_content="gAAA")
    t = transcript(*TURN, compacted(TURN[4], opaque), CONTEXT, said("user", "go on"))
    messages = t.sessions[0].messages
    index = next(m.index for m in messages if m.opaque)
    assert messages[index].generation == 1

    out = laws.rewrite(t, change(t, 3, {3, 4, 5, 6}))

    history = rows(out)[1]["payload"]["replacement_history"]
    assert history[-1] == opaque["payload"]
    assert [m.opaque for m in out.sessions[0].messages] == [False, False, False, False, True, False]


def test_a_compaction_keeps_the_old_history_and_repeats_nothing():
    new = said("developer", "<permissions> other")
    t = transcript(
        *TURN, compacted(TURN[4], new, said("user", "Another language model started to solve this problem: x"))
    )
    session = t.sessions[0]

    assert texts(t).count("list it") == 1
    assert [p.text for m in session.messages if m.live for p in m.parts] == [
        "list it",
        "<permissions> other",
        "Another language model started to solve this problem: x",
    ]
    assert [m.generation for m in session.messages if m.live] == [0, 0, 1]


def test_the_oldest_form_of_a_compaction():
    t = transcript(*TURN, compacted(message="so far: listed"))

    assert [texts(t)[m.index] for m in t.sessions[0].messages if m.live] == ["list it", "so far: listed"]
    kept = laws.rewrite(t, change(t, 3, {3, 4, 5, 6}))
    assert texts(kept) == ["<permissions>", "<environment_context>", "list it", "B", "so far: listed"]


@pytest.mark.parametrize(
    "broken",
    [compacted(TURN[4], message=None), compacted(TURN[4], replacement_history_metadata=[])],
    ids=["message", "lists"],
)
def test_a_compaction_that_the_tool_passes_over_is_passed_over(broken: dict):
    t = transcript(*TURN, broken)

    assert all(m.live for m in t.sessions[0].messages)
    assert any(check == "E10" for check, _, _ in laws.findings(t))


def test_turns_that_were_taken_back_are_abandoned():
    t = transcript(
        *TURN,
        said("user", "wrong"),
        said("assistant", "done wrong"),
        event("thread_rolled_back", num_turns=1),
        said("user", "right"),
    )
    assert [texts(t)[m.index] for m in t.sessions[0].messages if m.abandoned] == ["wrong", "done wrong"]

    out = laws.rewrite(t, change(t, 3))

    assert "thread_rolled_back" not in str(rows(out))
    assert texts(out)[-1] == "right"
    assert not any(m.abandoned for m in out.sessions[0].messages)


def test_ordinals_grow_and_stay_where_they_can():
    numbered = [{"timestamp": r["timestamp"], "ordinal": 2 * i, **r} for i, r in enumerate(TURN)]
    numbered[0] = {**numbered[0], "payload": {**META["payload"], "history_mode": "paginated"}}
    t = transcript(*numbered)

    out = laws.rewrite(t, change(t, 3))

    ordinals = [r["ordinal"] for r in rows(out)]
    assert ordinals == sorted(set(ordinals))
    assert ordinals[-4:] == [12, 14, 16, 22]
    assert laws.findings(out) == set()


def test_an_edited_call_goes_without_its_reasoning_and_its_id():
    t = transcript(*TURN)

    out = laws.rewrite(t, change(t, 3, texts={"ls": "[cleared]"}))

    kinds = [r["payload"].get("type") for r in rows(out)]
    edited = next(r["payload"] for r in rows(out) if r["payload"].get("type") == "function_call")
    assert "reasoning" not in kinds
    assert edited == {"type": "function_call", "name": "shell", "arguments": '{"cmd":"[cleared]"}', "call_id": "c1"}


@pytest.mark.parametrize(
    ("out", "text", "after"),
    [
        ("plain", "plain", "[x]"),
        ('{"output":"in","metadata":{"exit_code":0}}', "in", '{"output":"[x]","metadata":{"exit_code":0}}'),
        ('{"output": 3}', '{"output": 3}', "[x]"),
        ([{"type": "input_text", "text": "one"}], "one", [{"type": "input_text", "text": "[x]"}]),
        (
            [{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}],
            "image/png, 3 bytes",
            [{"type": "input_text", "text": "[x]"}],
        ),
        ({"content": "dict", "success": True}, "dict", {"content": "[x]", "success": True}),
    ],
    ids=["text", "wrapped", "not-wrapped", "list", "picture", "object"],
)
def test_outputs(out: object, text: str, after: object):
    t = transcript(*TURN[:8], output("c1", out))
    assert texts(t)[-1] == text

    new = laws.rewrite(t, change(t, 3, texts={text: "[x]"}))

    assert rows(new)[-1]["payload"]["output"] == after


def test_arguments_are_read_one_by_one_if_they_are_an_object():
    t = transcript(META, call("1", '{"a":{"b":["x",1]},"c":"y"}'), call("2", "not json"), call("3", '"string"'))

    assert [(p.key, p.text) for p in t.sessions[0].parts] == [
        ("a.b.0", "x"),
        ("c", "y"),
        ("", "not json"),
        ("", '"string"'),
    ]


def test_a_search_needs_no_result():
    t = transcript(META, item("web_search_call", action={"type": "search", "query": "q"}))

    assert [(p.type.value, p.name, p.text) for p in t.sessions[0].parts] == [("tool_call", "web_search", "q")]
    assert laws.findings(t) == set()


@pytest.mark.parametrize(
    ("provenance", "origin"), [(["harness"], Origin.HARNESS), (["harness", "user"], Origin.PERSON), ([], Origin.PERSON)]
)
def test_the_tool_says_who_wrote_a_message(provenance: list[str], origin: Origin):
    listed = [{"provenance": {"type": p}} for p in provenance]
    passed = {"internal_chat_message_metadata_passthrough": {"content_item_metadata": listed}}

    assert transcript(META, said("user", "hello", **passed)).sessions[0].messages[0].origin is origin


OLD = (
    {"id": "s-0", "timestamp": "2025-05-01T00:00:00Z", "instructions": None},
    {"record_type": "state"},
    said("user", "fix it")["payload"],
    call("c1")["payload"],
    output("c1", "out")["payload"],
    said("assistant", "fixed")["payload"],
)


def test_the_oldest_files_are_lists_of_bare_items():
    t = transcript(*OLD)
    assert detect(Source("x", bytes(t.raw))) == "codex"
    assert t.sessions[0].id == "s-0"

    out = laws.rewrite(t, change(t, 1, {1, 2}))

    assert [next(iter(r)) for r in rows(out)] == ["id", "type", "type", "type"]
    assert out.sessions[0].mark == laws.MARK
    assert (out.sessions[0].brief, texts(out)[0], texts(out)[2]) == (1, "fix it", "fixed")
    assert texts(out)[1].startswith("B\n")


def test_what_the_tool_appended_is_counted_on():
    numbered = [{"timestamp": r["timestamp"], "ordinal": i, **r} for i, r in enumerate(TURN)]
    t = transcript(*numbered)
    out = laws.rewrite(t, change(t, 3, {3, 4, 5, 6}))
    new = {"timestamp": "T9", "ordinal": 900, **said("user", "go on")}
    grown = read(Source("x", bytes(out.raw) + json.dumps(new).encode() + b"\n"), format="codex")

    joined = codex.join(bytes(t.raw), grown, len(out.sessions[0].messages))

    assert joined.startswith(bytes(t.raw))
    assert json.loads(joined.splitlines()[-1])["ordinal"] == len(TURN)
    assert texts(read(Source("x", joined), format="codex"))[-1] == "go on"


def test_resuming_puts_the_file_under_its_name():
    assert codex.resume_command(transcript(*TURN), "an output.jsonl") == (
        "mkdir -p ~/.codex/sessions/2026/02/03 && cp 'an output.jsonl'"
        " ~/.codex/sessions/2026/02/03/rollout-2026-02-03T04-05-06-s-1.jsonl && codex resume s-1"
    )


@pytest.mark.parametrize(
    ("rows", "finding"),
    [
        ([META, call("c")], ("E02", 'call of tool "shell" without a result', "c")),
        ([META, output("c", "x")], ("E02", "tool result without its call", "c")),
        ([META, call("c"), output("c", "x"), call("c"), output("c", "x")], ("E04", "tool call id is used twice", "c")),
        ([META, thought("so"), said("user", "x")], ("E09", "reasoning without the item that it led to", "so")),
        ([META, compacted(TURN[4])], ("E10", "no turn_context after the compaction", "")),
        ([TURN[4]], ("E12", "the first record is not the session's metadata, the tool refuses the file", "")),
        ([{"ordinal": 2, **META}, {"ordinal": 2, **TURN[4]}], ("E16", "ordinal does not grow", "")),
        ([META, b"{half"], ("W02", "line cannot be read, it is passed through", "")),
    ],
)
def test_findings(rows: list, finding: tuple[str, str, str]):
    assert finding in laws.findings(transcript(*rows))
