"""The brief: the handover note that replaces a stretch of history. One shape for every summarizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from compressor.asking import Journal, Terms
from compressor.model import Fact, Layer, Session


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement of the brief; `sources` are ids (or `#index`) of the messages it rests on."""

    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided and why; a decision without its reason is a finding."""

    decision: str
    reason: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileNote:
    """What the next worker must know of a file."""

    path: str
    purpose: str = ""
    exports: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    notes: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """An insight, dead end, pattern, decision or to-do."""

    type: str
    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Brief:
    """See `schemas/brief.schema.json`; lists are in the order of importance, most important first."""

    goal: Entry = Entry("")
    progress: Entry = Entry("")
    completed: tuple[Entry, ...] = ()
    pending: tuple[Entry, ...] = ()
    findings: tuple[Entry, ...] = ()
    errors: tuple[Entry, ...] = ()
    decisions: tuple[Decision, ...] = ()
    files: tuple[FileNote, ...] = ()
    notes: tuple[Note, ...] = ()
    red_lines: tuple[Entry, ...] = ()
    carried: tuple[Entry, ...] = ()


class Count(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str, /) -> int: ...


@dataclass(frozen=True, slots=True)
class Task:
    """What a summarizer is given.

    Attributes:
        session: the originals; the summarizer may read all of it, our old brief apart.
        layers: layer of each part, by ordinal.
        leaving: indexes of the messages that leave the transcript or are cut short: what the brief is for.
        staying: indexes of the messages that stay verbatim beside the brief (no need to repeat them).
        facts: the ledger: what is guaranteed anyway; `guaranteed` of them stand elsewhere in the output.
        budget: tokens the rendered brief may take, `carried` apart.
        language: BCP 47 tag of the brief ("en", "zh", …).
        focus: words that the user wants to see kept, or "".
        value: worth of a hard item (path, identifier, number, …) to a later reader, by item; 0 if unknown.
        count: the token counter of this run.
        problems: what verification found missing, changed or invented in the last attempt, as text lines.
        terms: on which a model may be asked.
        journal: where a summarizer tells of its work.
    """

    session: Session
    layers: Sequence[Layer]
    leaving: frozenset[int]
    staying: frozenset[int]
    facts: Sequence[Fact]
    budget: int
    language: str
    count: Count
    focus: str = ""
    value: Mapping[str, float] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    terms: Terms = field(default_factory=Terms)
    journal: Journal = field(default_factory=Journal, compare=False, repr=False)


class Summarizer(Protocol):
    """A summarizer is one module of `compressor/summarizers/`.

    `OPTIONS` is a JSON Schema of its options; `summarize` returns a brief or raises `SummarizeError`;
    `DETERMINISTIC` says whether equal input gives equal output.

    Optional names: `REPAIRS = True` if it heeds `Task.problems` (what is not deterministic does so anyway);
    `QUOTES = True` if its entries are the transcript's own words, so that one which does not stand goes alone;
    `WAITS = True` if it spends its time waiting, so that many sessions can be at work at once; `INCIDENTAL`, names
    of options that decide nothing in the output; `ready(options, terms)`, which raises `ConfigError` before any
    file is touched if it cannot work.
    """

    OPTIONS: Mapping[str, Any]
    DETERMINISTIC: bool

    @staticmethod
    def summarize(task: Task, options: Mapping[str, Any]) -> Brief: ...
