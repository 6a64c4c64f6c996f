"""The ledger: facts once, pins, facts from outside, and the edits that rules propose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from compressor import ledger, rulefile
from compressor.errors import ConfigError
from compressor.model import (
    Action,
    Call,
    Edit,
    Layer,
    Level,
    Loss,
    Message,
    Mode,
    Origin,
    Part,
    PartType,
    Role,
    Session,
)
from compressor.rules import Preset

PERSON, AGENT, TOOL = (Role.USER, Origin.PERSON), (Role.ASSISTANT, Origin.AGENT), (Role.TOOL, Origin.TOOL)


def session_of(*messages) -> Session:
    """Messages as (who, text, fields of the message)."""
    made, parts, calls = [], [], []
    for index, ((role, origin), text, more) in enumerate(messages):
        type_ = PartType.TOOL_RESULT if role is Role.TOOL else PartType.TEXT
        call = -1
        if role is Role.TOOL:
            call = len(calls)
            calls.append(Call(call, f"c{call}", "Bash", -1, (index,)))
        part = Part(len(parts), index, type_, (), text, "Bash" if role is Role.TOOL else "", call)
        parts.append(part)
        made.append(Message(index, f"m{index}", role, origin, (part,), index, 10 + index, **more))
    return Session("s", tuple(made), tuple(parts), tuple(calls))


def rule(text: str, name: str, folder: Path):
    path = folder / f"{name}.yaml"
    path.write_text(f"id: {name}\ndescription: D.\n{text}", encoding="utf-8")
    return rulefile.read(path)[0].rule()


@pytest.fixture
def ports(tmp_path):
    """A rule that protects port numbers by value, one that keeps, one that clears."""
    return {
        "port": rule('kind: pattern\nwith: {pattern: "port \\\\d+"}\naction: {protect: verbatim}\n', "PORT", tmp_path),
        "same": rule('kind: pattern\nwith: {pattern: "port \\\\d\\\\d"}\naction: {protect: verbatim}\nlevel: note\n', "SAME", tmp_path),
        "keep": rule("kind: pattern\nwith: {pattern: KEEP}\naction: {keep: true}\n", "KEEP", tmp_path),
        "clear": rule('kind: pattern\nwith: {pattern: "noise[^\\\\n]*"}\naction: {clear: noise}\n', "NOISE", tmp_path),
        "whole": rule('kind: whole\nscope: {type: tool_result}\naction: {clear: ""}\nloss: hard\n', "WHOLE", tmp_path),
    }  # fmt: skip


def preset_of(*rules) -> Preset:
    return Preset("t", rules=rules)


def test_the_same_fact_is_carried_once_with_its_first_and_newest_place(ports):
    session = session_of((PERSON, "use port 8080", {}), (AGENT, "ok", {}), (AGENT, "at port 8080 and port 99", {}))
    book = ledger.register(session, preset_of(ports["port"]))

    assert [(f.text, f.part, f.message, f.line, f.start, f.end) for f in book.facts] == [
        ("port 8080", 0, "m0", 10, 4, 13),
        ("port 99", 2, "m2", 12, 17, 24),
    ]
    assert book.newest == ((2, 3, 12), (2, 17, 24))
    assert book.stats == {"PORT": 3}
    assert book.facts[0].kind == "pattern"
    assert book.facts[0].mode is Mode.VERBATIM


def test_two_rules_that_find_the_same_make_one_fact_of_the_graver_level(ports):
    session = session_of((PERSON, "port 80", {}))
    book = ledger.register(session, preset_of(ports["same"], ports["port"]))

    assert [(f.rule, f.level) for f in book.facts] == [("SAME", Level.ERROR)]
    assert book.stats == {"SAME": 1, "PORT": 1}


def test_modes_are_other_facts(ports):
    present = replace(ports["port"], id="P2", action=replace(ports["port"].action, value="present"))
    book = ledger.register(session_of((PERSON, "port 80", {})), preset_of(ports["port"], present))

    assert [f.mode for f in book.facts] == [Mode.VERBATIM, Mode.PRESENT]


def test_keep_pins_parts(ports):
    session = session_of((AGENT, "KEEP this KEEP", {}), (AGENT, "not this", {}))
    book = ledger.register(session, preset_of(ports["keep"]))

    assert book.pins == {0}
    assert book.facts == ()
    assert book.stats == {"KEEP": 2}


def test_abandoned_branches_and_retold_originals_give_no_facts(ports):
    old = (AGENT, "port 1", {"live": False})
    lost = (AGENT, "port 2", {"abandoned": True})
    summary = (PERSON, "port 3", {"generation": 1})
    new = (AGENT, "port 4", {})

    def found(*messages):
        return [f.text for f in ledger.register(session_of(*messages), preset_of(ports["port"])).facts]

    assert found(old, lost, summary, new) == ["port 1", "port 4"]
    assert found(lost, summary, new) == ["port 3", "port 4"]


def test_our_own_brief_gives_facts_only_if_it_is_all_that_is_left(ports):
    brief = session_of((PERSON, "port 3", {}), (AGENT, "port 4", {}))
    alone = replace(brief, brief=0)
    grown = session_of((AGENT, "port 1", {"live": False}), (PERSON, "port 3", {}))

    assert [f.text for f in ledger.register(alone, preset_of(ports["port"])).facts] == ["port 3", "port 4"]
    assert [f.text for f in ledger.register(replace(grown, brief=1), preset_of(ports["port"])).facts] == ["port 1"]


# -- from outside -------------------------------------------------------------------------------------------


def test_pinned_texts_pin_the_parts_that_hold_them():
    session = session_of((AGENT, "the plan: A then B", {}), (AGENT, "A then B, again", {}), (AGENT, "C", {}))
    extra = ledger.from_pins(["A then B", "nowhere", ""])
    book = ledger.register(session, preset_of(), extra=extra)

    assert [(f.rule, f.text, f.part, f.start, f.end, f.message) for f in book.facts] == [
        (ledger.PIN, "A then B", 0, 10, 18, "m0")
    ]
    assert book.newest == ((1, 0, 8),)
    assert book.pins == {0, 1}
    assert [f.text for f in book.absent] == ["nowhere"]


def test_facts_go_out_and_come_back(tmp_path, ports):
    session = session_of((PERSON, "use port 8080", {}), (TOOL, "listening on port 9090", {}))
    facts = ledger.register(session, preset_of(ports["port"])).facts
    path = tmp_path / "facts.json"
    path.write_bytes(orjson.dumps(ledger.to_json(facts)))
    again = ledger.register(session, preset_of(), extra=ledger.from_file(path))

    assert ledger.to_json(again.facts) == ledger.to_json(facts)
    assert again.absent == ()
    assert again.pins == frozenset()
    assert {f.rule for f in again.facts} == {ledger.FACTS_FILE}


def test_a_fact_of_the_user_stands_in_the_message_that_it_names(tmp_path):
    path = tmp_path / "facts.json"
    path.write_bytes(orjson.dumps({"facts": [{"text": "port 1", "message": "m1"}, {"text": "gone"}]}))
    session = session_of((AGENT, "port 1", {}), (AGENT, "port 1 again", {}))
    book = ledger.register(session, preset_of(), extra=ledger.from_file(path))

    assert [(f.part, f.kind, f.mode) for f in book.facts] == [(1, "text", Mode.VERBATIM)]
    assert [f.text for f in book.absent] == ["gone"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "f.json:1:2: is not JSON: unexpected end of data\nhint: write what `compress facts --json` prints"),
        ("[]", "f.json:1:1: the file of facts must be a mapping, not a list"),
        ('{"facts": [\n  {"txt": "a"}\n]}', 'f.json:2:4: unknown key "txt" in an item of "facts"\nhint: did you mean "text"?'),
        ('{"facts": [\n  {"kind": "a"}\n]}', 'f.json:2:3: an item of "facts" has no "text"\nhint: add `text: …`'),
        ('{"facts": [{"text": "a", "mode": "verbatm"}]}', 'f.json:1:34: "mode" cannot be "verbatm"\nhint: did you mean "verbatim"?'),
        ('{"facts": [{"text": ""}]}', 'f.json:1:21: "text" must not be empty'),
        ('{"facts":\n\t[{"text": 3}]}', 'f.json:2:12: "text" must be text, not 3'),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_of_facts(tmp_path, text, message):
    path = tmp_path / "f.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        ledger.from_file(path)
    assert str(caught.value).replace(f"{tmp_path}/", "") == message


def test_a_file_of_facts_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: no such file"):
        ledger.from_file(tmp_path / "none.json")


# -- proposals ----------------------------------------------------------------------------------------------


def test_proposals(ports):
    session = session_of(
        (TOOL, "fine\nnoise 1\nnoise 2\nend", {}), (TOOL, "noise", {}), (AGENT, "noise", {"abandoned": True})
    )
    layers = [Layer.TOOL_RESULT] * 3
    edits = ledger.proposals(session, preset_of(ports["clear"], ports["whole"], ports["port"]), layers)

    assert edits == (
        Edit("NOISE", 0, Action.CLEAR, Loss.RESULTS, "noise", ((5, 12), (13, 20))),
        Edit("NOISE", 1, Action.CLEAR, Loss.RESULTS, "noise"),
        Edit("WHOLE", 0, Action.CLEAR, Loss.HARD, ""),
        Edit("WHOLE", 1, Action.CLEAR, Loss.HARD, ""),
    )


def test_only_layers_that_may_be_edited_are(ports):
    session = session_of(*[(TOOL, "noise", {})] * 5)
    layers = [Layer.TOOL_RESULT, Layer.NOTE, Layer.CONCLUSION, Layer.PINNED, Layer.SUMMARY]

    assert [e.part for e in ledger.proposals(session, preset_of(ports["clear"]), layers)] == [0, 1]


def test_no_edit_touches_a_summary(ports):
    session = session_of((TOOL, "noise", {}), (TOOL, "noise", {"generation": 1}), (TOOL, "noise", {}))

    assert [e.part for e in ledger.proposals(replace(session, brief=2), preset_of(ports["clear"]))] == [0]


# -- real transcripts ---------------------------------------------------------------------------------------


@pytest.mark.corpus
def test_every_rule_on_real_transcripts(corpus):
    """Matches lie in their parts, in order, without overlap; facts are the text at their place; nothing is slow."""
    from compressor.errors import ReadError
    from compressor.layers import assign
    from compressor.reading import read
    from compressor.rules import Selector, Verb, load_rules

    rules = [r for r in (file.rule() for file in load_rules()) if r.action.verb is not Verb.REQUIRE]
    files = sorted(corpus.rglob("*.jsonl"), key=lambda p: (p.stat().st_size, p))
    sessions = 0
    for path in files[:: max(1, len(files) // 20)]:
        try:
            found = read(path).sessions
        except ReadError:
            continue
        for session in found:
            sessions += 1
            counts = [len(p.text) // 4 for p in session.parts]
            layers = assign(session, counts, tail_calls=6, tail_room=20_000, pinned=frozenset())
            for one in rules:
                selector = Selector(session, layers.layer, layers.turn, facts=one.action.verb is Verb.PROTECT)
                ordinals = {p.ordinal for p in selector.view(one.scope).parts}
                last = (-1, 0, 0)
                for m in selector.find(one):
                    assert m.part in ordinals, one.id
                    assert 0 <= m.start < m.end <= len(session.parts[m.part].text), one.id
                    assert m.part > last[0] or (m.part == last[0] and m.start >= last[2]), (one.id, last, m)
                    last = (m.part, m.start, m.end)
            book = ledger.register(session, preset_of(*rules), layers.layer, layers.turn)
            assert all(session.parts[f.part].text[f.start : f.end] == f.text for f in book.facts)
            assert len(book.newest) == len(book.facts)
            edits = ledger.proposals(session, preset_of(*rules), layers.layer, layers.turn)
            assert all(layers.layer[e.part] in (Layer.TOOL_RESULT, Layer.NOTE) for e in edits)
            assert len({(e.rule, e.part) for e in edits}) == len(edits)
    assert sessions > 10
