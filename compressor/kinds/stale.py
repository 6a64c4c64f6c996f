"""Texts that are old, counted in tool calls or in requests since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.model import Match, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "calls": {"type": "integer", "minimum": 0, "description": "At least this many tool calls came later (6)."},
        "turns": {"type": "integer", "minimum": 0, "description": "And at least this many requests (0)."},
        "min": {"type": "integer", "minimum": 1, "description": "Shorter texts do not match, in characters (101)."},
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """The whole text of each part that is old enough."""
    calls, turns, least = options.get("calls", 6), options.get("turns", 0), options.get("min", 101)
    later = _calls_later(view)
    last = max(view.turn, default=0)
    for part in view.parts:
        if len(part.text) < least or later[part.message] < calls:
            continue
        if turns and last - (view.turn[part.message] if view.turn else 0) < turns:
            continue
        yield Match(part.ordinal, 0, len(part.text))


def _calls_later(view: View) -> list[int]:
    """For each message how many calls were made after it; a result counts from its own call on."""
    messages = view.session.messages
    made = [0] * (len(messages) + 1)
    for call in view.session.calls:
        if call.message >= 0 and not messages[call.message].abandoned:
            made[call.message] += 1
    later, count = [0] * len(messages), 0
    for index in range(len(messages) - 1, -1, -1):
        later[index] = count
        count += made[index]
    for call in view.session.calls:
        for result in call.results:
            if call.message >= 0:
                later[result] = later[call.message]
    return later
