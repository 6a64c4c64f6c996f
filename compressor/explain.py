"""What a brief rests on: its lines, the messages they cite as they were, and what is gone with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from compressor import originals
from compressor.errors import ArchiveError, Location
from compressor.model import Session, Transcript, text_of
from compressor.options import Options
from compressor.reading import read

_CITED: Final = re.compile(r"\[(#\d+(?:, ?#\d+)*)\]")
#: How much of a cited message is shown, in characters.
_SHOWN: Final = 160


@dataclass(frozen=True, slots=True)
class Cited:
    """A message of the original."""

    id: str
    line: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the brief, with the messages that it cites."""

    text: str
    cited: tuple[Cited, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """One session of an output.

    Attributes:
        dropped: messages that are gone, by layer, reason and rule, as the audit record has them.
    """

    session: str
    lines: tuple[Line, ...]
    dropped: Sequence[Mapping[str, Any]]


def explain(output: str, options: Options) -> list[Explanation]:
    """Explain every session of an output.

    Raises:
        ArchiveError: it is no output of ours, or the original is not in the archive.
        ReadError: it cannot be read.
    """
    transcript = read(output, format=options.format, options=options.map)
    key = next((s.mark.archive for s in transcript.sessions if s.mark is not None), "")
    if not key:
        raise ArchiveError(
            "carries no mark of ours", at=Location(output), hint="only what compress run has compacted can be explained"
        )
    opened = originals.near(Path(output), options.archive, key)
    original = opened.read(key)
    records = [r for r in opened.audit.of(key) if r["verdict"] == "compacted"]
    return list(_sessions(transcript, original, records))


def _sessions(
    transcript: Transcript, original: Transcript, records: Sequence[Mapping[str, Any]]
) -> Iterator[Explanation]:
    for position, session in enumerate(transcript.sessions):
        if session.mark is None or position >= len(original.sessions):
            continue
        options = session.mark.options
        record = next(
            (r for r in reversed(records) if r["position"] == position and r["options_digest"] == options), None
        )
        lines = tuple(_lines(session, original.sessions[position]))
        yield Explanation(session.id, lines, record["dropped"] if record else ())


def _lines(session: Session, original: Session) -> Iterator[Line]:
    brief = text_of(session.messages[session.brief]) if session.brief >= 0 else ""
    for text in brief.split("\n"):
        if text.strip():
            numbers = [int(n) for group in _CITED.findall(text) for n in re.findall(r"\d+", group)]
            yield Line(text, tuple(_cited(original, n) for n in numbers if n < len(original.messages)))


def _cited(original: Session, number: int) -> Cited:
    m = original.messages[number]
    words = " ".join(text_of(m)[: 4 * _SHOWN].split())
    return Cited(f"#{number}", m.line, m.role.value, words if len(words) <= _SHOWN else words[:_SHOWN] + "…")
