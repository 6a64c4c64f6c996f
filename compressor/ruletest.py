"""Run the examples of rules: each is built into a little session and looked at as a real one would be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compressor.model import (
    Call,
    Finding,
    Layer,
    Level,
    Message,
    Origin,
    Part,
    PartType,
    Place,
    Role,
    Session,
)
from compressor.rulefile import Example, Rule, RuleFile, Verb
from compressor.selection import Selector
from compressor.yamlfile import Document

_ORIGIN: Final = {
    Role.SYSTEM: Origin.HARNESS,
    Role.USER: Origin.PERSON,
    Role.ASSISTANT: Origin.AGENT,
    Role.TOOL: Origin.TOOL,
}
#: Which of several types or roles in a scope an example's text is, unless it says more.
_TYPES: Final = (PartType.TEXT, PartType.TOOL_RESULT, PartType.TOOL_CALL, PartType.THINKING, PartType.IMAGE)
_ROLES: Final = (Role.USER, Role.ASSISTANT, Role.SYSTEM, Role.TOOL)


def test_rules(rules: Iterable[RuleFile]) -> Iterator[Finding]:
    """Run the examples of rules; one finding for each that finds something else than it says.

    Raises:
        ConfigError: an example's own options are no options of its kind.
    """
    for rule_file in rules:
        rule = rule_file.rule()
        if rule.action.verb is Verb.REQUIRE:
            continue
        for example in rule_file.examples():
            found = run(rule_file, example)
            if found != example.finds:
                message = f"the example finds {_shown(found)}, not {_shown(example.finds)}"
                yield Finding(rule.id, Level.ERROR, message, example.text, Place(rule.file, example.line))


# pytest takes a function of this name for one of its own when a test module imports it
test_rules.__test__ = False  # type: ignore[attr-defined]


def run(rule_file: RuleFile, example: Example, document: Document | None = None) -> tuple[str, ...]:
    """The texts that a rule finds in an example; `document` is the file that it stands in, if not the rule's own."""
    blame = dict.fromkeys(example.options, (document or rule_file.document, example.at))
    rule = rule_file.rule({"with": example.options}, blame)
    session = build(rule, example)
    layer = next((word for word in Layer if word in rule.scope.layer), None)
    layers = [layer or _layer(part) for part in session.parts]
    turn = _turns(session)
    selector = Selector(session, layers, turn, facts=rule.action.verb in _GUARDS)
    return tuple(session.parts[m.part].text[m.start : m.end] for m in selector.find(rule))


_GUARDS: Final = frozenset({Verb.PROTECT, Verb.KEEP, Verb.REDACT})


def build(rule: Rule, example: Example) -> Session:
    """The little session of an example."""
    made = _Making()
    for step in example.session or ():
        _step(made, step)
    if not example.session:
        _single(made, rule, example)
    return Session("example", tuple(made.messages), tuple(made.parts), tuple(made.calls))


@dataclass(slots=True)
class _Making:
    """A session being built."""

    messages: list[Message] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def add(self, role: Role, origin: Origin, type_: PartType, texts: Mapping[str, str], name: str = "") -> int:
        """A message with one part for each text (the keys are argument names)."""
        index = len(self.messages)
        call = len(self.calls) if name else -1
        first = len(self.parts)
        for offset, (key, text) in enumerate(texts.items()):
            self.parts.append(Part(first + offset, index, type_, (key,), text, name, call, key))
        parts = tuple(self.parts[first:])
        self.messages.append(Message(index, f"#{index}", role, origin, parts, index, index + 1))
        return index


def _step(made: _Making, step: Mapping[str, Any]) -> None:
    for role in (Role.SYSTEM, Role.USER, Role.ASSISTANT):
        if role.value in step:
            made.add(role, _ORIGIN[role], PartType.TEXT, {"": step[role.value]})
    if "image" in step:
        made.add(Role.USER, Origin.PERSON, PartType.IMAGE, {"": step["image"]})
    if "tool" in step:
        _call(made, step["tool"], step.get("call", {}), step.get("result"))


def _call(made: _Making, name: str, arguments: Mapping[str, str], result: str | None) -> None:
    message = made.add(Role.ASSISTANT, Origin.AGENT, PartType.TOOL_CALL, arguments, name)
    results: tuple[int, ...] = ()
    if result is not None:
        results = (made.add(Role.TOOL, Origin.TOOL, PartType.TOOL_RESULT, {"": result}, name),)
    made.calls.append(Call(len(made.calls), f"call{len(made.calls)}", name, message, results))


def _single(made: _Making, rule: Rule, example: Example) -> None:
    """One text, of the first type and role that the rule's scope takes."""
    type_ = _first(_TYPES, rule.scope.type)
    name = example.name or ("tool" if type_ in (PartType.TOOL_CALL, PartType.TOOL_RESULT) else "")
    if type_ is PartType.TOOL_RESULT:
        _call(made, name, example.call, example.text)
    elif type_ is PartType.TOOL_CALL:
        _call(made, name, {**example.call, "": example.text}, None)
    else:
        role = _first(_ROLES, rule.scope.role)
        origin = next((word for word in Origin if word in rule.scope.origin), _ORIGIN[role])
        made.add(role, origin, type_, {"": example.text})


def _first(order: Sequence[Any], scope: frozenset[Any]) -> Any:
    return next((word for word in order if word in scope), order[0])


def _layer(part: Part) -> Layer:
    return Layer.TOOL_RESULT if part.type in (PartType.TOOL_RESULT, PartType.IMAGE) else Layer.NOTE


def _turns(session: Session) -> list[int]:
    turns, now = [], -1
    for message in session.messages:
        now += message.origin is Origin.PERSON
        turns.append(max(now, 0))
    return turns


def _shown(texts: Sequence[str]) -> str:
    shown = ", ".join(f'"{t}"' if len(t) <= 60 else f'"{t[:59]}…"' for t in texts)
    return shown or "nothing"
