"""The first characters of the text that leaves: the baseline that any summarizer must beat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.brief import Brief, Entry, Task
from compressor.briefs import trim
from compressor.summarizers._leaving import leaving_parts, source

OPTIONS: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"characters": {"type": "integer", "minimum": 0, "default": 4000}},
}
DETERMINISTIC: Final = True

#: Longest entry in characters: so that a cut to the budget is a fine one.
_ENTRY: Final = 400


def summarize(task: Task, options: Mapping[str, Any]) -> Brief:
    """The first `characters` of the leaving text as findings, cut to the budget."""
    findings = tuple(_entries(task, options.get("characters", 4000)))
    return trim(Brief(findings=findings), task.budget, task.count, task.language, task.session)


def _entries(task: Task, room: int) -> Iterator[Entry]:
    for message, part in leaving_parts(task):
        text = part.text[:room]
        room -= len(text)
        for start in range(0, len(text), _ENTRY):
            yield Entry(text[start : start + _ENTRY], (source(message),))
        if room <= 0:
            return
