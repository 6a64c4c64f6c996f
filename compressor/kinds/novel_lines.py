"""The lines of a text that tell nothing new: each hard item in them stands elsewhere too.

A hard item is a path, identifier, number, hash, URL or error name. Elsewhere is any text outside the rule's scope,
or a later line within it (the newest telling stays). What matches may go without an item being lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.model import VISIBLE, Match, Part, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "min": {"type": "integer", "minimum": 1, "description": "Shorter texts stay whole, in characters (400)."},
    },
}

#: A word that is a hard item; words are looked at once each.
_HARD: Final = re.compile(r"[0-9]|[/\\_@#]|[a-z][A-Z]|[^\W\d][.:]{1,2}[^\W\d]|Error|Exception")
_EDGES: Final = ".,;:!?()[]{}<>\"'`=*|~。，；：！？（）【】《》「」“”、"
#: A longer word is data, not an item.
_LONGEST: Final = 200


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """Runs of lines without news, as one match each (line ends between them included)."""
    least = options.get("min", 400)
    parts = [part for part in view.parts if len(part.text) >= least]
    seen = _elsewhere(view, parts)
    found = [_stretches(part, seen) for part in reversed(parts)]
    for part, stretches in zip(parts, reversed(found), strict=True):
        for start, end in stretches:
            yield Match(part.ordinal, start, end)


def _elsewhere(view: View, parts: list[Part]) -> set[str]:
    """All words of the visible texts that no line is taken from."""
    own = {part.ordinal for part in parts}
    seen: set[str] = set()
    for message in view.session.messages:
        if message.abandoned or message.index == view.session.brief:
            continue
        for part in message.parts:
            if part.ordinal not in own and part.type in VISIBLE:
                words = set(part.text.split()) - seen
                seen |= words
                seen.update(word.strip(_EDGES) for word in words)
    return seen


def _stretches(part: Part, seen: set[str]) -> list[tuple[int, int]]:
    """The stretches without news of one text; its lines are read from the end."""
    lines = part.text.split("\n")
    end = len(part.text)
    out: list[tuple[int, int]] = []
    for line in reversed(lines):
        start = end - len(line)
        if not _news(line, seen):
            if out and out[-1][0] == end + 1:
                out[-1] = (start, out[-1][1])
            elif start < end:
                out.append((start, end))
        end = start - 1
    return out[::-1]


def _news(line: str, seen: set[str]) -> bool:
    """Does the line hold an item that was not seen yet? All its words are seen from now on."""
    new = [word for word in line.split() if word not in seen]
    if not new:
        return False
    seen.update(new)
    news = False
    for word in new:
        core = word.strip(_EDGES)
        if core not in seen or core == word:
            seen.add(core)
            news = news or (len(core) <= _LONGEST and _HARD.search(core) is not None)
    return news
