"""Rules and presets: what YAML says, every mistake in it, and the cases of every shipped rule."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from compressor import plugins, rulefile, rules, ruletest, schemacheck, yamlfile
from compressor.errors import ConfigError
from compressor.model import Layer, Level, Loss, Message, Origin, Part, PartType, Role, Session
from compressor.rules import Budget, Keep, Scope, Verb, load_preset, load_rules

ROOT = Path(__file__).resolve().parent.parent
CASES = sorted((ROOT / "tests" / "rules").glob("*.yaml"))
SHIPPED = {r.data["id"]: r for r in load_rules()}

GOOD = """\
id: X1
description: Something.
kind: whole
scope: {role: user}
with: {max: 10}
action: {protect: verbatim}
level: error
"""


def write(folder: Path, text: str, name: str = "r.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def said(caught, folder: Path) -> str:
    return str(caught.value).replace(f"{folder}/", "")


# -- rule files ---------------------------------------------------------------------------------------------


def test_a_rule_as_it_is_read(tmp_path):
    text = GOOD.replace("{role: user}", "{role: [user, tool], type: text, tool: [Read, mcp__*], layer: note}")
    (found,) = rulefile.read(write(tmp_path, text))
    rule = found.rule()

    assert rule.id == "X1"
    assert rule.kind == "whole"
    assert rule.scope == Scope(
        role=frozenset({Role.USER, Role.TOOL}),
        type=frozenset({PartType.TEXT}),
        layer=frozenset({Layer.NOTE}),
        tool=("Read", "mcp__*"),
    )
    assert rule.action.verb is Verb.PROTECT
    assert rule.action.value == "verbatim"
    assert rule.options == {"max": 10}
    assert rule.level is Level.ERROR


@pytest.mark.parametrize(
    ("action", "verb", "value", "loss"),
    [
        ("{clear: gone}", "clear", "gone", Loss.RESULTS),
        ('{clear: ""}', "clear", "", Loss.RESULTS),
        ("{drop: true}", "drop", "", Loss.NONE),
        ("{summarize: Tell it.}", "summarize", "Tell it.", Loss.NOTES),
        ("{keep: true}", "keep", "", Loss.NONE),
        ("{redact: '[secret]'}", "redact", "[secret]", Loss.NONE),
    ],
)
def test_every_action(tmp_path, action, verb, value, loss):
    (found,) = rulefile.read(write(tmp_path, GOOD.replace("{protect: verbatim}", action)))
    rule = found.rule()

    assert (rule.action.verb, rule.action.value, rule.loss) == (verb, value, loss)


def test_a_file_may_hold_a_list_of_rules(tmp_path):
    second = GOOD.replace("X1", "X2").replace("max: 10", "max: ten")
    text = "".join("- " + t.rstrip().replace("\n", "\n  ") + "\n" for t in (GOOD, second))
    first, other = rulefile.read(write(tmp_path, text))

    assert first.rule().id == "X1"
    with pytest.raises(ConfigError) as caught:
        other.rule()
    assert said(caught, tmp_path) == 'r.yaml:12:15: "max" must be a whole number, not "ten"'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: whole", "kindd: whole", 'r.yaml:3:1: unknown key "kindd" in the rule\nhint: did you mean "kind"?'),
        ("kind: whole\n", "", 'r.yaml:1:1: the rule has no "kind"\nhint: known kinds: {kinds}'),
        ("kind: whole", "kind: hole", 'r.yaml:3:7: unknown kind "hole"\nhint: did you mean "whole"?'),
        ("id: X1\n", "", 'r.yaml:1:1: the rule has no "id"\nhint: add `id: …`'),
        ("id: X1", "id: 'X 1'", 'r.yaml:1:5: "id" cannot be "X 1"'),
        ("id: X1", "id: [X1]", 'r.yaml:1:5: "id" must be text, not a list'),
        ("description: Something.", 'description: ""', 'r.yaml:2:14: "description" must not be empty'),
        ("protect: verbatim", "protect: verbatin", 'r.yaml:6:19: "protect" cannot be "verbatin"\nhint: did you mean "verbatim"?'),
        ("protect: verbatim", "guard: verbatim", 'r.yaml:6:10: unknown key "guard" in "action"\nhint: known: clear, drop, keep, protect, redact, require, summarize'),
        ("{protect: verbatim}", "{protect: verbatim, keep: true}", 'r.yaml:6:9: "action" must have one key'),
        ("{protect: verbatim}", "{keep: false}", 'r.yaml:6:16: "keep" cannot be "false"\nhint: known: True'),
        ("{protect: verbatim}", "{clear: 'a] b'}", 'r.yaml:6:17: "clear" cannot be "a] b"'),
        ("{protect: verbatim}", "verbatim", 'r.yaml:6:9: "action" must be a mapping, not "verbatim"'),
        ("{role: user}", "{role: users}", 'r.yaml:4:15: "role" cannot be "users"\nhint: did you mean "user"?'),
        ("{role: user}", "{role: [user, usr]}", 'r.yaml:4:22: an item of "role" cannot be "usr"\nhint: did you mean "user"?'),
        ("{role: user}", "{roles: user}", 'r.yaml:4:9: unknown key "roles" in "scope"\nhint: did you mean "role"?'),
        ("{role: user}", "{role: [user, user]}", 'r.yaml:4:15: "role" names something twice'),
        ("{role: user}", "{tool: 3}", 'r.yaml:4:15: "tool" must be text or a list, not 3'),
        ("level: error", "level: eror", 'r.yaml:7:8: "level" cannot be "eror"\nhint: did you mean "error"?'),
        ("level: error", "loss: none", 'r.yaml:7:1: "loss" says nothing here\nhint: only clear, drop, summarize cost something'),
        ("{max: 10}", "{maximum: 10}", 'r.yaml:5:8: unknown key "maximum" in "with"\nhint: did you mean "max"?'),
        ("{max: 10}", "{max: 0}", 'r.yaml:5:13: "max" must be at least 1, not 0'),
        ("{max: 10}", "{max: ten}", 'r.yaml:5:13: "max" must be a whole number, not "ten"'),
        ("{max: 10}", "[max]", 'r.yaml:5:7: "with" must be a mapping, not a list'),
        ("{protect: verbatim}", "{require: facts}", "r.yaml:3:1: a check picks out no text\nhint: a `require` rule names its check in the action"),
        ("level: error", "examples: [{text: a}]", 'r.yaml:7:12: an item of "examples" has no "finds"\nhint: add `finds: …`'),
        ("level: error", "examples: [{finds: []}]", 'r.yaml:7:12: an example has either "text" or "session"'),
        (GOOD, "", "r.yaml:1:1: the file holds no rule\nhint: write `id: …`, one key a line"),
        (GOOD, "text", 'r.yaml:1:1: the rule must be a mapping, not "text"'),
        (GOOD, "[]", "r.yaml:1:1: the file holds no rule\nhint: write `id: …`, one key a line"),
    ],
)  # fmt: skip
def test_mistakes_in_rules(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        for found in rulefile.read(write(tmp_path, GOOD.replace(old, new))):
            found.rule()
    assert said(caught, tmp_path) == message.replace("{kinds}", ", ".join(plugins.names("kinds")))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("pattern", "{}", 'r.yaml:5:7: the kind "pattern" needs the option "pattern"\nhint: add `with: {pattern: …}`'),
        ("pattern", "{pattern: '(a'}", "r.yaml:5:17: is not a pattern that we take: missing ): (?m)(a\nhint: RE2 syntax: no look-around, no back-references"),
        ("pattern", "{pattern: [ok, '(?=a)b']}", "r.yaml:5:22: is not a pattern that we take: invalid perl operator: (?=\nhint: RE2 syntax: no look-around, no back-references"),
        ("pattern", "{pattern: 'a*'}", "r.yaml:5:17: matches the empty text\nhint: let it match at least one character"),
        ("pattern", "{pattern: 'ab', group: 1}", 'r.yaml:5:30: the pattern has no group "1"\nhint: groups: none'),
        ("phrase", "{lang: en}", 'r.yaml:5:7: the kind "phrase" needs "phrases" or "patterns"\nhint: add one of them'),
        ("phrase", "{patterns: [[{IS_PUNCT: true}]]}", 'r.yaml:5:19: has no literal word to look for\nhint: give one of its tokens a TEXT or LOWER, or add "anchors"'),
        ("phrase", "{patterns: [[{LOWER: {REGEX: '(a+)+'}}]]}", 'r.yaml:5:29: unknown key "REGEX" in "LOWER"\nhint: known: <=, >=, IN, NOT_IN'),
        ("blob", "{what: [base65]}", 'r.yaml:5:15: an item of "what" cannot be "base65"\nhint: did you mean "base64"?'),
    ],
)  # fmt: skip
def test_mistakes_in_options(tmp_path, kind, options, message):
    text = GOOD.replace("kind: whole", f"kind: {kind}").replace("{max: 10}", options)
    with pytest.raises(ConfigError) as caught:
        for found in rulefile.read(write(tmp_path, text)):
            found.rule()
    assert said(caught, tmp_path) == message


# -- schemas ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rule", "preset"])
def test_schemas_are_schemas(name):
    jsonschema.Draft202012Validator.check_schema(rulefile.schema(name))


@pytest.mark.parametrize("name", plugins.names("kinds"))
def test_options_of_kinds_are_schemas_that_refuse_unknown_keys(name):
    options = plugins.load("kinds", name).OPTIONS

    jsonschema.Draft202012Validator.check_schema(options)
    assert options["type"] == "object"
    assert options["additionalProperties"] is False


def mutations(value):
    """The value with one thing wrong (or at least different) somewhere."""
    yield from (None, True, 3, 0.5, "", "zzz", [], {}, ["user"], {"a": 1})
    if isinstance(value, dict):
        for key, child in value.items():
            yield {k: v for k, v in value.items() if k != key}
            for changed in mutations(child):
                yield {**value, key: changed}
        yield {**value, "surplus": 1}
    elif isinstance(value, list):
        for index, child in enumerate(value):
            for changed in mutations(child):
                yield [*value[:index], changed, *value[index + 1 :]]
        yield [*value, *value]


@pytest.mark.parametrize("name", ["rule", "preset"])
def test_the_quick_check_and_jsonschema_agree(name):
    """Whatever is wrong with a shipped file, the quick check sees it; what is right it lets pass without help."""
    folder = ROOT / "rules" / ("presets" if name == "preset" else "")
    schema = rulefile.schema(name)
    judge = jsonschema.Draft202012Validator(schema)
    tried = 0
    for number, path in enumerate(sorted(folder.glob("*.yaml"))):
        value = yamlfile.load(path).value
        value.pop("examples", None) if path.stem not in {"superseded", "blob"} else None
        assert schemacheck.sure(value, schema, schema), f"{path} needs jsonschema to be read"
        for changed in mutations(value) if name == "preset" or number % 5 == 0 else ():
            tried += 1
            assert schemacheck.sure(changed, schema, schema) == judge.is_valid(changed), changed
    assert tried > 300


def test_reading_rules_does_not_import_jsonschema_or_spacy():
    code = (
        "import sys\nfrom compressor.rules import load_preset\nload_preset('archive')\n"
        "print([m for m in ('jsonschema', 'spacy', 'ruamel', 'tiktoken', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert out.stdout.strip() == "[]"


# -- presets ------------------------------------------------------------------------------------------------


def test_shipped_presets():
    assert rules.preset_names() == ("archive", "fixtures", "resume", "strict")
    archive, resume, strict = (load_preset(name) for name in ("archive", "resume", "strict"))

    assert archive.budget == Budget(window=200_000, soft=0, hard=0.95, target_share=0.25)
    assert archive.keep == Keep(head=1, tail=6, tail_share=0.3)
    assert archive.generations == 2
    assert (archive.share.min, archive.share.max) == (0.01, 0.8)
    assert archive.summarizer == "extractive"
    assert resume.budget == Budget(window=200_000, soft=0.8, hard=0.95, target_window=0.5)
    assert {r.id for r in archive.rules} < {r.id for r in strict.rules}
    assert len({p.digest for p in (archive, resume, strict)}) == 3


def test_every_shipped_rule_is_in_a_preset():
    used = {r.id for name in rules.preset_names() for r in load_preset(name).rules}

    # what redacts is asked for with --redact, whatever the preset
    assert used == {name for name, r in SHIPPED.items() if "redact" not in r.data["action"]}


def test_overrides_off_and_extends(tmp_path):
    write(tmp_path, GOOD, "own.yaml")
    parent = """\
description: Parent.
extends: archive
rules:
- own.yaml
- X1: {level: note, with: {min: 3}}
- LONG001: off
- STALE*: {with: {calls: 9}}
"""
    child = """\
description: Child.
extends: parent.yaml
budget: {tokens: 5000}
share: {max: 0.5}
generations: {max: 1}
summarizer: {head: {characters: 100}}
rules:
- X1: {with: {max: 20}, action: {protect: present}}
- LONG001
- NOTE001: off
"""
    write(tmp_path, parent, "parent.yaml")
    preset = load_preset(write(tmp_path, child, "child.yaml"))
    found = {r.id: r for r in preset.rules}

    assert preset.name == "child"
    assert preset.budget == Budget(window=200_000, soft=0, hard=0.95, tokens=5000)
    assert (preset.share.min, preset.share.max) == (0.01, 0.5)
    assert (preset.summarizer, preset.summarizer_options) == ("head", {"characters": 100})
    assert found["X1"].options == {"max": 20, "min": 3}
    assert found["X1"].level is Level.NOTE
    assert found["X1"].action.value == "present"
    assert found["STALE001"].options["calls"] == 9
    assert "LONG001" in found
    assert "NOTE001" not in found
    assert found["GEN001"].options == {"max": 1}
    assert found["RATIO001"].options == {"min": 0.01, "max": 0.5}


def test_extra_rule_files_join_and_replace(tmp_path):
    own = write(tmp_path, GOOD)
    replaced = write(tmp_path, GOOD.replace("X1", "PIN001"), "pin.yaml")
    preset = load_preset("archive", [own, replaced])
    found = {r.id: r for r in preset.rules}

    assert found["X1"].file == str(own)
    assert found["PIN001"].options == {"max": 10}
    assert len(preset.rules) == len(load_preset("archive").rules) + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: []\n", 'p.yaml:1:1: the preset has no "description"\nhint: add `description: …`'),
        ("extends: archiv\n", 'p.yaml:2:10: unknown preset "archiv"\nhint: did you mean "archive"?'),
        ("extends: other.yaml\n", "p.yaml:2:10: cannot be read: no such file or directory"),
        ("extends: p.yaml\n", "p.yaml:2:10: extends itself: p -> p\nhint: break the circle"),
        ("ruels: []\n", 'p.yaml:2:1: unknown key "ruels" in the preset\nhint: did you mean "rules"?'),
        ("rules: [NEGG001]\n", None),
        ("rules: [ZZZ*]\n", None),
        ("rules:\n- nope.yaml\n", 'p.yaml:3:3: no such rule file: "nope.yaml"\nhint: looked for nope.yaml'),
        ("rules:\n- PIN001: of\n", 'p.yaml:3:11: "PIN001" cannot be "of"\nhint: did you mean "off"?'),
        ("rules:\n- PIN001: {levle: note}\n", 'p.yaml:3:12: unknown key "levle" in "PIN001"\nhint: did you mean "level"?'),
        ("rules:\n- PIN001: {level: nota}\n", 'p.yaml:3:19: "level" cannot be "nota"\nhint: did you mean "note"?'),
        ("rules:\n- PIN001: {with: {mix: 3}}\n", 'p.yaml:3:19: unknown key "mix" in "with"\nhint: did you mean "min"?'),
        ("rules:\n- PIN001: {with: {max: x}}\n", 'p.yaml:3:24: "max" must be a whole number, not "x"'),
        ("rules:\n- PIN001: {action: {protect: no}}\n", None),
        ("rules: PIN001\n", 'p.yaml:2:8: "rules" must be a list, not "PIN001"'),
        ("rules: [3]\n", 'p.yaml:2:9: an item of "rules" must be text or a mapping, not 3'),
        ("budget: {soft: -1}\n", 'p.yaml:2:16: "soft" must be at least 0, not -1'),
        ("budget: {target_share: 25}\n", 'p.yaml:2:24: "target_share" must be at most 1, not 25'),
        ("budget: {target_share: 0.2, tokens: 9}\n", 'p.yaml:2:29: a second target "tokens" beside "target_share"\nhint: keep one'),
        ("budget: {soft: 0.9, hard: 0.5}\n", 'p.yaml:2:16: "soft" is above "hard"'),
        ("share: {min: 0.9, max: 0.5}\n", 'p.yaml:2:14: "min" is above "max"'),
        ("keep: {tail: six}\n", 'p.yaml:2:14: "tail" must be a whole number, not "six"'),
        ("generations: 2\n", 'p.yaml:2:14: "generations" must be a mapping, not 2'),
        ("weights: {warn: 1}\n", 'p.yaml:2:11: unknown key "warn" in "weights"\nhint: did you mean "warning"?'),
    ],
)  # fmt: skip
def test_mistakes_in_presets(tmp_path, text, message):
    head = "" if text.startswith("rules: []") else "description: Mine.\n"
    path = write(tmp_path, head + text, "p.yaml")
    with pytest.raises(ConfigError) as caught:
        load_preset(path)
    if message is None:
        assert said(caught, tmp_path).startswith("p.yaml:")
        assert "hint: " in str(caught.value)
    else:
        assert said(caught, tmp_path) == message


def test_extends_may_not_go_in_circles(tmp_path):
    write(tmp_path, "description: A.\nextends: b.yaml\n", "a.yaml")
    write(tmp_path, "description: B.\nextends: a.yaml\n", "b.yaml")
    with pytest.raises(ConfigError) as caught:
        load_preset(tmp_path / "a.yaml")
    assert said(caught, tmp_path) == "b.yaml:2:10: extends itself: a -> b -> a\nhint: break the circle"


def test_an_unknown_preset():
    with pytest.raises(ConfigError) as caught:
        load_preset("strickt")
    assert str(caught.value) == 'unknown preset "strickt"\nhint: did you mean "strict"?'


def test_the_digest_says_whether_an_output_could_differ(tmp_path):
    base = "description: D.\nextends: archive\n"
    digest = load_preset(write(tmp_path, base, "p.yaml")).digest

    def changed(text: str, name: str = "p.yaml") -> str:
        return load_preset(write(tmp_path, text, name)).digest

    assert changed(base) == digest
    assert changed(base, "other-name.yaml") == digest
    assert changed(base.replace("D.", "Other words.")) == digest
    assert changed("# a comment\n" + base) == digest
    assert changed(base + "keep: {tail: 6}\n") == digest
    assert changed(base + "keep: {tail: 7}\n") != digest
    assert changed(base + "rules: [{PIN001: {level: note}}]\n") != digest
    assert changed(base + "rules: [{PIN001: {with: {min: 2}}}]\n") != digest
    assert changed(base + "rules: [{PIN001: off}]\n") != digest
    assert changed(base + "language: zh\n") != digest


def test_the_digest_is_the_same_in_another_process():
    code = "from compressor.rules import load_preset\nprint(load_preset('strict').digest)"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }

    assert runs == {load_preset("strict").digest}


# -- scopes -------------------------------------------------------------------------------------------------


def session_of(*messages) -> Session:
    made, parts = [], []
    for index, (role, origin, type_, text, more) in enumerate(messages):
        name = more.pop("name", "")
        part = Part(len(parts), index, type_, (), text, name)
        parts.append(part)
        made.append(Message(index, f"m{index}", role, origin, (part,), index, index + 1, **more))
    return Session("s", tuple(made), tuple(parts))


PERSON, AGENT, TOOL = (Role.USER, Origin.PERSON), (Role.ASSISTANT, Origin.AGENT), (Role.TOOL, Origin.TOOL)


def texts(session: Session, **scope) -> list[str]:
    rule = SHIPPED["PIN001"].rule()
    made = rules.Rule("R", "", "whole", rule.action, Scope(**scope))
    return [p.text for p in rules.select(made, session, (), ()).parts]


def test_scopes():
    session = session_of(
        (Role.SYSTEM, Origin.HARNESS, PartType.TEXT, "sys", {}),
        (*PERSON, PartType.TEXT, "ask", {}),
        (*AGENT, PartType.THINKING, "hm", {}),
        (*AGENT, PartType.TOOL_CALL, "ls", {"name": "Bash"}),
        (*TOOL, PartType.TOOL_RESULT, "out", {"name": "Bash"}),
        (*TOOL, PartType.TOOL_RESULT, "more", {"name": "mcp__x__get"}),
        (*PERSON, PartType.IMAGE, "image/png", {}),
        (*AGENT, PartType.TEXT, "lost", {"abandoned": True}),
    )

    assert texts(session) == ["sys", "ask", "ls", "out", "more"]
    assert texts(session, role=frozenset({Role.USER, Role.SYSTEM})) == ["sys", "ask"]
    assert texts(session, type=frozenset({PartType.IMAGE, PartType.THINKING})) == ["hm", "image/png"]
    assert texts(session, origin=frozenset({Origin.PERSON})) == ["ask"]
    assert texts(session, tool=("bash", "nope")) == ["ls", "out"]
    assert texts(session, tool=("mcp__*",)) == ["more"]
    assert texts(session, layer=frozenset({Layer.TOOL_RESULT})) == ["out", "more"]
    assert texts(session, role=frozenset({Role.TOOL}), tool=("Read",)) == []


def test_summaries_are_looked_at_only_when_they_are_all_that_is_left():
    old = (*AGENT, PartType.TEXT, "original", {"live": False})
    summary = (*PERSON, PartType.TEXT, "summary", {"generation": 1})
    new = (*AGENT, PartType.TEXT, "new", {})

    assert texts(session_of(old, summary, new)) == ["original", "new"]
    assert texts(session_of(summary, new)) == ["summary", "new"]
    again = (*PERSON, PartType.TEXT, "second", {"generation": 2})
    assert texts(session_of(summary, old, again, new)) == ["summary", "original", "new"]
    frame = (Role.SYSTEM, Origin.HARNESS, PartType.TEXT, "sys", {"live": False})
    assert texts(session_of(frame, summary)) == ["sys", "summary"]


# -- cases --------------------------------------------------------------------------------------------------


def test_examples_of_shipped_rules():
    assert [f"{f.at.file}:{f.at.line}: {f.message}" for f in rules.test_rules(load_rules())] == []


def test_a_wrong_example_is_a_finding(tmp_path):
    text = GOOD + "examples:\n- text: short\n  finds: [short]\n- text: short\n  finds: [shirt]\n"
    (finding,) = rules.test_rules(rulefile.read(write(tmp_path, text)))

    assert finding.check == "X1"
    assert finding.message == 'the example finds "short", not "shirt"'
    assert finding.at.line == 11


def test_a_mistake_in_an_examples_options(tmp_path):
    text = GOOD + "examples:\n- {text: short, with: {max: x}, finds: []}\n"
    with pytest.raises(ConfigError) as caught:
        list(rules.test_rules(rulefile.read(write(tmp_path, text))))
    assert said(caught, tmp_path) == 'r.yaml:9:29: "max" must be a whole number, not "x"'


def cases(path: Path):
    """The cases of a file in tests/rules: a list of examples for the rule of the same file name."""
    document = yamlfile.load(path)
    schema = {"$defs": rulefile.schema("rule")["$defs"], "type": "array", "items": {"$ref": "#/$defs/example"}}
    schemacheck.check(document, schema, (), "the list of cases")
    for index, item in enumerate(document.value):
        yield document, rulefile.example(item, (index,), document.place((index,)).line)


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_cases_of_shipped_rules(path):
    (rule_file,) = [r for r in SHIPPED.values() if Path(r.document.file).stem == path.stem]
    for document, example in cases(path):
        assert ruletest.run(rule_file, example, document) == example.finds, f"{path}:{example.line}"


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_rule_has_a_positive_and_a_negative_case(name):
    rule_file = SHIPPED[name]
    if rule_file.rule().action.verb is Verb.REQUIRE:
        return
    found = [bool(example.finds) for example in rule_file.examples()]
    path = ROOT / "tests" / "rules" / Path(rule_file.document.file).name
    if path.exists():
        found += [bool(example.finds) for _, example in cases(path)]

    assert True in found, "no example in which it finds something"
    assert False in found, "no example in which it finds nothing"


def test_every_case_file_belongs_to_a_rule():
    assert {p.stem for p in CASES} <= {Path(r.document.file).stem for r in SHIPPED.values()}
