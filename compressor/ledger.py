"""Run the rules over a session: facts that must survive, parts that are pinned, edits that are proposed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson

from compressor.errors import ConfigError, Location
from compressor.model import (
    VISIBLE,
    Action,
    Edit,
    Fact,
    Layer,
    Level,
    Match,
    Mode,
    Part,
    Session,
)
from compressor.rules import Preset, Rule, Selector, Verb
from compressor.schemacheck import check
from compressor.selection import retold
from compressor.yamlfile import Document

#: Rule of the facts that the user gave.
FACTS_FILE: Final = "facts-file"
PIN: Final = "pin"

_ACTIONS: Final = {Verb.CLEAR: Action.CLEAR, Verb.DROP: Action.DROP, Verb.SUMMARIZE: Action.SUMMARIZE}
_EDITABLE: Final = frozenset({Layer.TOOL_RESULT, Layer.NOTE})
_SEVERITY: Final = {Level.NOTE: 0, Level.WARNING: 1, Level.ERROR: 2}

#: What a file of facts may hold: the shape that `to_json` gives.
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["facts"],
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text"],
                "properties": {
                    "kind": {"type": "string", "minLength": 1},
                    "text": {"type": "string", "minLength": 1},
                    "value": {"type": "string"},
                    "mode": {"enum": [mode.value for mode in Mode]},
                    "message": {"type": "string"},
                    "line": {"type": "integer", "minimum": 0},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Ledger:
    """What must survive in a session.

    Attributes:
        facts: each fact once, at the place where it stands first, in the order of their places.
        newest: for each fact the part, start and end where it stands last.
        pins: ordinals of the parts that may not be touched.
        stats: matches by rule id.
        absent: facts that the user gave and that do not occur in this session: nothing to keep.
    """

    facts: tuple[Fact, ...] = ()
    newest: tuple[tuple[int, int, int], ...] = ()
    pins: frozenset[int] = frozenset()
    stats: Mapping[str, int] = field(default_factory=dict)
    absent: tuple[Fact, ...] = ()


def register(
    session: Session,
    preset: Preset,
    layers: Sequence[Layer] = (),
    turn: Sequence[int] = (),
    extra: Iterable[Fact] = (),
) -> Ledger:
    """Run the guard rules of a preset.

    Args:
        session: the whole logical history.
        preset: its `protect` and `keep` rules run.
        layers: layer by part ordinal.
        turn: number of the request that each message belongs to, by index.
        extra: facts from `from_file` and `from_pins`; they are looked for in the session.

    Abandoned branches give no facts, nor do summaries whose originals are in the session.
    """
    book = _Book(session)
    selector = Selector(session, layers, turn, facts=True)
    pins: set[int] = set()
    stats: Counter[str] = Counter()
    for rule in preset.rules:
        if rule.action.verb not in (Verb.PROTECT, Verb.KEEP):
            continue
        stats[rule.id] = 0
        for match in selector.find(rule):
            stats[rule.id] += 1
            if rule.action.verb is Verb.KEEP:
                pins.add(match.part)
            else:
                book.enter(_fact(session, rule, match), match.label)
    absent = tuple(fact for fact in extra if not book.look_for(fact, pins))
    facts, newest = book.close()
    return Ledger(facts, newest, frozenset(pins), dict(stats), absent)


def proposals(
    session: Session, preset: Preset, layers: Sequence[Layer] = (), turn: Sequence[int] = ()
) -> tuple[Edit, ...]:
    """The edits that a preset's rules propose, rule by rule, in part order; only where a layer may be edited."""
    selector = Selector(session, layers, turn, facts=False)
    edits: list[Edit] = []
    for rule in preset.rules:
        if rule.action.verb in _ACTIONS:
            edits += _edits(session, rule, selector.find(rule), layers)
    return tuple(edits)


def from_file(path: Path) -> tuple[Fact, ...]:
    """Facts that a person (or `compress facts --json`) wrote down.

    Raises:
        ConfigError: the file cannot be read or has another shape.
    """
    document = _json(path)
    check(document, _SCHEMA, (), "the file of facts")
    return tuple(
        Fact(
            rule=FACTS_FILE,
            kind=item.get("kind", "text"),
            mode=Mode(item.get("mode", "verbatim")),
            level=Level.ERROR,
            text=item["text"],
            value=item.get("value", ""),
            part=-1,
            message=item.get("message", ""),
            line=item.get("line", 0),
        )
        for item in document.value["facts"]
    )


def from_pins(texts: Iterable[str]) -> tuple[Fact, ...]:
    """Facts for `--pin TEXT`: the text stays word for word, and so do the parts that hold it."""
    return tuple(Fact(PIN, "text", Mode.VERBATIM, Level.ERROR, text, "", -1, "", 0) for text in texts if text)


def to_json(facts: Iterable[Fact]) -> dict[str, list[dict[str, str | int]]]:
    """The ledger in the shape that `compress facts --json` prints and `from_file` reads."""
    return {
        "facts": [
            {
                "kind": f.kind,
                "text": f.text,
                "value": f.value,
                "mode": f.mode.value,
                "message": f.message,
                "line": f.line,
            }
            for f in facts
        ]
    }


class _Book:
    """Enters each fact once and remembers its first and newest places."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._first: dict[tuple[str, ...], Fact] = {}
        self._last: dict[tuple[str, ...], tuple[int, int, int]] = {}

    def enter(self, fact: Fact, label: str = "") -> None:
        words = fact.text if fact.mode in (Mode.VERBATIM, Mode.POLARITY) else fact.value or fact.text
        key = (fact.kind, fact.mode.value, label, words)
        place = (fact.part, fact.start, fact.end)
        known = self._first.get(key)
        if known is None:
            self._first[key], self._last[key] = fact, place
            return
        if place < (known.part, known.start, known.end):
            self._first[key], fact = fact, known
        if _SEVERITY[fact.level] > _SEVERITY[self._first[key].level]:
            self._first[key] = replace(self._first[key], level=fact.level)
        self._last[key] = max(self._last[key], place)

    def look_for(self, fact: Fact, pins: set[int]) -> bool:
        """Enter a fact of the user's where it stands; a pinned text also pins the parts that hold it."""
        places = [p for p in _readable(self._session) if fact.text in p.text]
        named = [p for p in places if self._session.messages[p.message].id == fact.message]
        for part in named or places:
            self.enter(_placed(self._session, fact, part))
            if fact.rule == PIN:
                pins.add(part.ordinal)
        return bool(places)

    def close(self) -> tuple[tuple[Fact, ...], tuple[tuple[int, int, int], ...]]:
        keys = sorted(self._first, key=lambda key: (self._first[key].part, self._first[key].start))
        return tuple(self._first[key] for key in keys), tuple(self._last[key] for key in keys)


def _readable(session: Session) -> Iterator[Part]:
    hidden = retold(session)
    for message in session.messages:
        if not message.abandoned and message.index not in hidden:
            yield from (part for part in message.parts if part.type in VISIBLE)


def _placed(session: Session, fact: Fact, part: Part) -> Fact:
    start = part.text.index(fact.text)
    message = session.messages[part.message]
    return replace(
        fact, part=part.ordinal, message=message.id, line=message.line, start=start, end=start + len(fact.text)
    )


def _fact(session: Session, rule: Rule, match: Match) -> Fact:
    part = session.parts[match.part]
    message = session.messages[part.message]
    return Fact(
        rule=rule.id,
        kind=rule.kind,
        mode=Mode(rule.action.value),
        level=rule.level,
        text=part.text[match.start : match.end],
        value=match.value,
        part=match.part,
        message=message.id,
        line=message.line,
        start=match.start,
        end=match.end,
    )


def _edits(session: Session, rule: Rule, matches: Iterable[Match], layers: Sequence[Layer]) -> Iterator[Edit]:
    """One edit for each part; a match of the whole text has no spans."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for match in matches:
        if layers and layers[match.part] not in _EDITABLE:
            continue
        known = spans.setdefault(match.part, [])
        if known and match.start <= known[-1][1]:
            known[-1] = (known[-1][0], max(known[-1][1], match.end))
        else:
            known.append((match.start, match.end))
    for part, found in spans.items():
        whole = found == [(0, len(session.parts[part].text))]
        yield Edit(
            rule=rule.id,
            part=part,
            action=_ACTIONS[rule.action.verb],
            loss=rule.loss,
            placeholder=rule.action.value,
            spans=() if whole else tuple(found),
        )


def _json(path: Path) -> Document:
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise ConfigError(message, at=Location(str(path))) from error
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        hint = "write what `compress facts --json` prints"
        raise ConfigError(
            f"is not JSON: {error.msg}", at=Location(str(path), error.lineno, error.colno), hint=hint
        ) from error
    return Document(str(path), data.decode(), value)
