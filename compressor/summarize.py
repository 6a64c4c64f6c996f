"""Ask a summarizer for the brief; when it fails, ask a humbler one. Facts never depend on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from compressor import briefs, plugins
from compressor.brief import Brief, Entry, Summarizer, Task
from compressor.errors import SummarizeError
from compressor.model import Fact

#: Who is asked when the chosen summarizer has failed; `none` cannot.
FALLBACKS: Final = ("extractive", "none")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A brief that a summarizer wrote, and a line for the report on how it came about."""

    brief: Brief
    summarizer: str
    step: str


def attempts(name: str, options: Mapping[str, Any], repairs: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Whom to ask, in order: the chosen summarizer, again after a repair, then the fallbacks."""
    deterministic = plugins.load("summarizers", name).DETERMINISTIC
    yield name, options
    if not deterministic:
        for _ in range(repairs):
            yield name, options
    for other in FALLBACKS:
        if other != name:
            yield other, {}


def ask(name: str, options: Mapping[str, Any], task: Task) -> Attempt | str:
    """One attempt: a brief within its budget, or the reason why there is none."""
    summarizer: Summarizer = plugins.load("summarizers", name)  # type: ignore[assignment]
    try:
        brief = summarizer.summarize(task, options)
    except SummarizeError as error:
        return f"{name}: {error.message}"
    # whatever a summarizer says is carried is not: that list is the code's own
    brief = replace(brief, carried=())
    brief = briefs.trim(brief, task.budget, task.count, task.language, task.session)
    return Attempt(brief, name, f"{name}: brief written")


def carry(brief: Brief, facts: tuple[Fact, ...]) -> Brief:
    """The brief with these facts carried forward verbatim."""
    entries = dict.fromkeys(Entry(f.text, (f.message,) if f.message else ()) for f in facts)
    return replace(brief, carried=(*brief.carried, *entries))
