"""Rules: what one is, and how it is read from its YAML file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson

from compressor import plugins, yamlfile
from compressor.data import resource
from compressor.errors import ConfigError
from compressor.model import Layer, Level, Loss, Origin, PartType, Role
from compressor.schemacheck import check
from compressor.yamlfile import Document, Steps


class Verb(StrEnum):
    """What a rule does with a match."""

    PROTECT = "protect"
    KEEP = "keep"
    CLEAR = "clear"
    DROP = "drop"
    SUMMARIZE = "summarize"
    REDACT = "redact"
    REQUIRE = "require"


#: The verbs that propose edits, with the loss that they mean unless the rule says another.
EDITS: Final[Mapping[Verb, Loss]] = {Verb.CLEAR: Loss.RESULTS, Verb.DROP: Loss.NONE, Verb.SUMMARIZE: Loss.NOTES}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a rule looks; each empty set means everywhere, hidden part types (thinking, images) apart."""

    role: frozenset[Role] = frozenset()
    type: frozenset[PartType] = frozenset()
    layer: frozenset[Layer] = frozenset()
    origin: frozenset[Origin] = frozenset()
    tool: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """`value` is the mode (protect), the reason (clear), the instruction, the placeholder (redact) or the check."""

    verb: Verb
    value: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A case of a rule: one text in its scope, or a little session, and what is found in it."""

    finds: tuple[str, ...]
    text: str = ""
    name: str = ""
    call: Mapping[str, str] = field(default_factory=dict)
    session: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    at: Steps = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """Scope, kind and action; `file` and `line` say where it is written.

    For a `require` rule `kind` is the name of its check.
    """

    id: str
    description: str
    kind: str
    action: ActionSpec
    scope: Scope = Scope()
    options: Mapping[str, Any] = field(default_factory=dict)
    level: Level = Level.ERROR
    loss: Loss = Loss.NONE
    file: str = ""
    line: int = 1


#: Where a preset says something otherwise: for "action" and for each option the document and the steps to the
#: override in it.
Blame = Mapping[str, tuple[Document, Steps]]


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule file as read; `at` are the steps to its rule."""

    document: Document
    at: Steps = ()

    @property
    def data(self) -> Mapping[str, Any]:
        value = self.document.value
        for step in self.at:
            value = value[step]
        assert isinstance(value, dict)
        return value

    def rule(self, override: Mapping[str, Any] | None = None, blame: Blame | None = None) -> Rule:
        """The rule, with what a preset says otherwise; mistakes in that are the preset's (`blame`)."""
        data = dict(self.data)
        for key, value in (override or {}).items():
            data[key] = {**data.get(key, {}), **value} if key == "with" else value
        verb, value = next(iter(data["action"].items()))
        action = ActionSpec(Verb(verb), "" if value is True else str(value))
        kind = action.value if action.verb is Verb.REQUIRE else data.get("kind", "")
        rule = Rule(
            id=data["id"],
            description=data["description"],
            kind=kind,
            action=action,
            scope=_scope(data.get("scope", {})),
            options=data.get("with", {}),
            level=Level(data.get("level", "error")),
            loss=Loss(data["loss"]) if "loss" in data else EDITS.get(action.verb, Loss.NONE),
            file=self.document.file,
            line=1 if not self.at else self.document.place(self.at).line,
        )
        _check_plugin(rule, self, blame or {})
        return rule

    def examples(self) -> Iterator[Example]:
        """The cases that stand in the file."""
        items: Sequence[Mapping[str, Any]] = self.data.get("examples", ())
        for index, item in enumerate(items):
            steps = (*self.at, "examples", index)
            yield example(item, steps, self.document.place(steps).line)


def read(path: Path | Traversable, file: str = "") -> list[RuleFile]:
    """The rules of a file: one mapping, or a list of them.

    Raises:
        ConfigError: with file, line and column.
    """
    document = yamlfile.load(path, file)
    many = isinstance(document.value, list)
    if document.value in (None, []):
        raise document.mistake("the file holds no rule", hint="write `id: …`, one key a line")
    found = []
    for steps in [(i,) for i in range(len(document.value))] if many else [()]:
        check(document, schema("rule"), steps, "a rule" if many else "the rule")
        rule_file = RuleFile(document, steps)
        _check_action(rule_file)
        found.append(rule_file)
    return found


@cache
def schema(name: str) -> Mapping[str, Any]:
    """A shipped JSON Schema."""
    value = orjson.loads(resource(f"schemas/{name}.schema.json").read_bytes())
    assert isinstance(value, dict)
    return value


@cache
def shipped() -> Mapping[str, Traversable]:
    """The file of every shipped rule, by rule id; files are not read further than their id."""
    found: dict[str, Traversable] = {}
    for entry in sorted(resource("rules").iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".yaml") and entry.is_file():
            text = entry.read_text(encoding="utf-8")
            for name in re.findall(r"(?m)^(?:- )?id: *(\S+) *$", text):
                if name in found:
                    raise ConfigError(f'two shipped rules have the id "{name}"', hint=f"see {entry.name}")
                found[name] = entry
    return found


@cache
def shipped_file(name: str) -> RuleFile:
    """A shipped rule by its id (which must be one of `shipped`)."""
    entry = shipped()[name]
    return next(r for r in read(entry, f"rules/{entry.name}") if r.data["id"] == name)


def example(item: Mapping[str, Any], at: Steps = (), line: int = 0) -> Example:
    """A case from its YAML form, which stands at these steps of its file."""
    return Example(
        finds=tuple(item["finds"]),
        text=item.get("text", ""),
        name=item.get("name", ""),
        call=item.get("call", {}),
        session=tuple(item.get("session", ())),
        options=item.get("with", {}),
        at=at,
        line=line,
    )


Word = TypeVar("Word", bound=StrEnum)


def _scope(data: Mapping[str, Any]) -> Scope:
    tools = data.get("tool", ())
    return Scope(
        role=_words(Role, data.get("role", ())),
        type=_words(PartType, data.get("type", ())),
        layer=_words(Layer, data.get("layer", ())),
        origin=_words(Origin, data.get("origin", ())),
        tool=(tools,) if isinstance(tools, str) else tuple(tools),
    )


def _words(words: type[Word], value: str | Sequence[str]) -> frozenset[Word]:
    return frozenset(words(word) for word in ([value] if isinstance(value, str) else value))


def _check_action(rule_file: RuleFile) -> None:
    """A kind says where; `require` looks at the whole and has none."""
    data, at, document = rule_file.data, rule_file.at, rule_file.document
    required = "require" in data["action"]
    if required and "kind" in data:
        hint = "a `require` rule names its check in the action"
        raise document.mistake("a check picks out no text", (*at, "kind"), key=True, hint=hint)
    if not required and "kind" not in data:
        hint = f"known kinds: {', '.join(plugins.names('kinds'))}"
        raise document.mistake('the rule has no "kind"', at, hint=hint)
    if "loss" in data and not EDITS.keys() & data["action"].keys():
        hint = f"only {', '.join(EDITS)} cost something"
        raise document.mistake('"loss" says nothing here', (*at, "loss"), key=True, hint=hint)
    for index, item in enumerate(data.get("examples", ())):
        if ("text" in item) == ("session" in item):
            where = (*at, "examples", index)
            raise document.mistake('an example has either "text" or "session"', where)


def _check_plugin(rule: Rule, rule_file: RuleFile, blame: Blame) -> None:
    """The kind (or check) exists and takes the options; mistakes stand where they were written."""
    group = "checks" if rule.action.verb is Verb.REQUIRE else "kinds"
    own = (rule_file.document, rule_file.at)
    try:
        plugin = plugins.load(group, rule.kind)
    except ConfigError as error:
        document, at = blame.get("action", own) if group == "checks" else own
        named: Steps = ("action", "require") if group == "checks" else ("kind",)
        raise document.mistake(error.message, (*at, *named), hint=error.hint) from error
    for key in rule.options:
        document, at = blame.get(key, own)
        _check_option(plugin, document, (*at, "with"), key)
    missing = [key for key in plugin.OPTIONS.get("required", ()) if key not in rule.options]
    if missing:
        document, at = own
        message = f'the kind "{rule.kind}" needs the option "{missing[0]}"'
        where = (*at, "with") if "with" in rule_file.data else at
        raise document.mistake(message, where, hint=f"add `with: {{{missing[0]}: …}}`")
    for steps, message, hint in plugin.mistakes(rule.options) if hasattr(plugin, "mistakes") else ():
        document, at = blame.get(steps[0] if steps else "", own)
        raise document.mistake(message, (*at, "with", *steps), hint=hint)


def _check_option(plugin: Any, document: Document, at: Steps, key: str) -> None:
    known = plugin.OPTIONS.get("properties", {})
    if key not in known:
        hint = yamlfile.nearest(key, known) or "it has no options"
        raise document.mistake(f'unknown key "{key}" in "with"', (*at, key), key=True, hint=hint)
    check(document, {**known[key], "$defs": plugin.OPTIONS.get("$defs", {})}, (*at, key))
