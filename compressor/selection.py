"""The parts of a session that a rule looks at."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Final

from compressor import plugins
from compressor.model import VISIBLE, Layer, Match, Message, Origin, Part, PartType, Role, Session, View
from compressor.rulefile import Rule, Scope

#: What scopes tell apart.
_Group = tuple[Role, Origin, PartType, Layer, str]

_ordinal: Final = attrgetter("ordinal")


class Selector:
    """Gives each rule of a run its view of one session; the parts are sorted into groups once.

    Args:
        facts: the views are for facts and pins: abandoned branches are left out, and summaries whose originals
            are in the session. Otherwise they are for edits: summaries of every kind are left out.
    """

    def __init__(self, session: Session, layers: Sequence[Layer], turn: Sequence[int], *, facts: bool) -> None:
        self._session = session
        self._layers = layers
        self._turn = turn
        self._groups = _grouped(session, layers, retold(session) if facts else _summaries(session))
        self._views: dict[Scope, View] = {}

    def view(self, scope: Scope) -> View:
        """The parts in this scope, in order."""
        view = self._views.get(scope)
        if view is None:
            view = View(self._session, self._parts(scope), self._layers, self._turn)
            self._views[scope] = view
        return view

    def find(self, rule: Rule) -> Iterator[Match]:
        """The rule's matches."""
        view = self.view(rule.scope)
        if not view.parts:
            return iter(())
        matches: Iterator[Match] = plugins.load("kinds", rule.kind).find(view, rule.options)
        return matches

    def _parts(self, scope: Scope) -> Sequence[Part]:
        chosen = [parts for group, parts in self._groups.items() if _within(group, scope)]
        if len(chosen) == 1:
            return chosen[0]
        return sorted((part for parts in chosen for part in parts), key=_ordinal)


def select(rule: Rule, session: Session, layers: Sequence[Layer] = (), turn: Sequence[int] = ()) -> View:
    """The parts in a rule's scope; for all rules of a run use one `Selector`."""
    return Selector(session, layers, turn, facts=True).view(rule.scope)


def retold(session: Session) -> frozenset[int]:
    """Summaries whose originals are in the session: what they say is said there, and truer.

    A summary stands for the originals between the summary before it and itself that its tool sends no more.
    One without such originals is all that is left of them.
    """
    found = set()
    originals = False
    for message in session.messages:
        if message.abandoned:
            continue
        if message.generation > 0 or message.index == session.brief:
            if originals:
                found.add(message.index)
            originals = False
        elif not message.live and message.role is not Role.SYSTEM:
            originals = True
    return frozenset(found)


def _summaries(session: Session) -> frozenset[int]:
    return frozenset(m.index for m in session.messages if m.generation > 0 or m.index == session.brief)


def _grouped(session: Session, layers: Sequence[Layer], hidden: frozenset[int]) -> dict[_Group, list[Part]]:
    groups: dict[_Group, list[Part]] = {}
    for message in session.messages:
        if message.abandoned or message.index in hidden:
            continue
        for part in message.parts:
            layer = layers[part.ordinal] if layers else _layer(message, part)
            groups.setdefault((message.role, message.origin, part.type, layer, part.name), []).append(part)
    return groups


def _layer(message: Message, part: Part) -> Layer:
    """Without layers from outside, what a part's type says."""
    return Layer.TOOL_RESULT if part.type is PartType.TOOL_RESULT or message.role is Role.TOOL else Layer.NOTE


def _within(group: _Group, scope: Scope) -> bool:
    role, origin, type_, layer, name = group
    return (
        (role in scope.role or not scope.role)
        and (type_ in scope.type if scope.type else type_ in VISIBLE)
        and (layer in scope.layer or not scope.layer)
        and (origin in scope.origin or not scope.origin)
        and (not scope.tool or _tools(scope.tool).fullmatch(name) is not None)
    )


@cache
def _tools(globs: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for all globs; `fnmatch` translates to what cannot go super-linear on a name."""
    return re.compile("|".join(fnmatch.translate(glob) for glob in globs), re.IGNORECASE)
