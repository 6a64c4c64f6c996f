"""Run the checks that the rules ask for: on what this run wrote, or on anybody's compaction of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from compressor import plugins
from compressor.model import VISIBLE, Comparison, Finding, Level, Place, Session, Transcript

if TYPE_CHECKING:
    from compressor.formats._records import Source
    from compressor.rules import Preset, Rule
    from compressor.settings import Settings


def run(comparison: Comparison, preset: Preset) -> tuple[Finding, ...]:
    """All findings of the preset's checks, in the order of its rules.

    A check that says `MECHANICAL` looks at the output as it is; the others judge its claims, if code has cut it.
    """
    claims = comparison.claims
    judged = comparison if claims is None else replace(comparison, output=claims, claims=None, shared={})
    found: list[Finding] = []
    for rule in preset.rules:
        if rule.action.verb == "require":
            check = plugins.load("checks", rule.kind)
            found += _check(check, comparison if getattr(check, "MECHANICAL", False) else judged, rule)
    return tuple(found)


def _check(check: Any, comparison: Comparison, rule: Rule) -> Iterator[Finding]:
    fixed = getattr(check, "FIXED_LEVELS", False)
    for finding in check.check(comparison, rule.options):
        # a check may say that what it has found is no more than a note
        level = finding.level if fixed or finding.level is Level.NOTE else rule.level
        yield replace(finding, check=finding.check or rule.id, level=level)


def errors(findings: Sequence[Finding]) -> list[Finding]:
    """Those that stop an output."""
    return [f for f in findings if f.level is Level.ERROR]


def verify_files(original: Source, compacted: Source, settings: Settings) -> tuple[Finding, ...]:
    """Judge a compaction of any shape, made by any tool, against its original.

    Both files may have any format, and not the same one. Sessions are matched by id, else by position.

    Args:
        original: the file before.
        compacted: what somebody made of it.
        settings: the preset says which facts must survive and which checks run; pins and facts of the user's are
            added to them.

    Raises:
        ReadError: one of the files cannot be read.
        ConfigError: an option does not fit the files.
    """
    from compressor import reading

    before = reading.read(original, format=settings.format, options=settings.format_options)
    after = _read_output(compacted, settings)
    found: list[Finding] = []
    for session, output in _paired(before, after):
        if output is None:
            place = Place(before.path, session.messages[0].line if session.messages else 0)
            found.append(Finding("session", Level.ERROR, "the session is not in the compaction", session.id, place))
        else:
            found += run(compare(before, session, after, output, settings), settings.preset)
    return tuple(found)


def _read_output(compacted: Source, settings: Settings) -> Transcript:
    """The compaction, in the format that its content shows; where that is none, in the one that the options name."""
    from compressor import reading

    try:
        return reading.read(compacted, options=settings.format_options)
    except reading.NotATranscript:
        if settings.format is None:
            raise
    return reading.read(compacted, format=settings.format, options=settings.format_options)


def _paired(before: Transcript, after: Transcript) -> Iterator[tuple[Session, Session | None]]:
    by_id = {s.id: s for s in after.sessions if s.id}
    known = {s.id for s in before.sessions}
    rest = iter([s for s in after.sessions if s.id not in known or not s.id])
    alone = len(before.sessions) == len(after.sessions) == 1
    for session in before.sessions:
        if alone:
            yield session, after.sessions[0]
        elif session.id and session.id in by_id:
            yield session, by_id[session.id]
        else:
            yield session, next(rest, None)


def compare(before: Transcript, session: Session, after: Transcript, output: Session, settings: Settings) -> Comparison:
    """What the checks look at: the facts of the original session, and the output as it was read."""
    from compressor import ledger, tokens
    from compressor.layers import assign

    def count(side: Session) -> list[int]:
        return tokens.count_all((p.text if p.type in VISIBLE else "" for p in side.parts), settings.encoding)

    counts, preset = count(session), settings.preset
    layers = assign(session, counts, tail_calls=preset.keep.tail, tail_room=sum(counts), pinned=frozenset())
    extra = list(ledger.from_pins(settings.pins))
    if settings.facts_file is not None:
        extra += ledger.from_file(settings.facts_file)
    book = ledger.register(session, preset, layers.layer, layers.turn, extra)
    if book.pins:
        layers = assign(session, counts, tail_calls=preset.keep.tail, tail_room=sum(counts), pinned=book.pins)
    return Comparison(
        original=session,
        output=output,
        facts=book.facts,
        layers=layers.layer,
        tokens_original=_total(session, counts, live=False),
        tokens_live=_total(session, counts, live=True),
        tokens_output=_total(output, count(output), live=True),
        ours=False,
        baseline=_integrity(before),
        integrity=_integrity(after),
        files=(before.path, after.path),
        raw=before.raw,
    )


def _integrity(transcript: Transcript) -> tuple[Finding, ...]:
    fmt: Any = plugins.load("formats", transcript.format)
    return tuple(fmt.check(transcript))


def _total(session: Session, counts: Sequence[int], *, live: bool) -> int:
    """Visible tokens, abandoned branches apart."""
    return sum(
        counts[p.ordinal]
        for m in session.messages
        if not m.abandoned and (m.live or not live)
        for p in m.parts
        if p.type in VISIBLE
    )
