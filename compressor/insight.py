"""A look into a session without changing it: tokens, layers, facts, and the handover note alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from compressor import tokens
from compressor.layers import Layers, assign
from compressor.ledger import Ledger
from compressor.model import VISIBLE, Part, Session

if TYPE_CHECKING:
    from compressor.pipeline import Settings

#: Tokens of a handover note, where no budget is said: this share of the history, within these bounds.
_NOTE_SHARE: Final = 0.1
_NOTE_LEAST, _NOTE_MOST = 700, 4000


@dataclass(frozen=True, slots=True)
class Insight:
    """What is known of a session before any plan; `counts` are tokens by part ordinal."""

    session: Session
    counts: tuple[int, ...]
    layers: Layers
    ledger: Ledger

    def visible(self) -> Iterator[tuple[Part, int]]:
        """The parts that the model reads, with their tokens; abandoned branches apart."""
        for m in self.session.messages:
            if not m.abandoned:
                yield from ((p, self.counts[p.ordinal]) for p in m.parts if p.type in VISIBLE)

    def total(self) -> int:
        """Tokens of the whole history."""
        return sum(n for _, n in self.visible())


def look(session: Session, settings: Settings) -> Insight:
    """Count, layer and register; nothing is planned."""
    from compressor import ledger

    counts = tuple(tokens.count_all([p.text for p in session.parts], settings.encoding))
    keep = settings.preset.keep
    room = int(sum(counts) * keep.tail_share)
    layers = assign(session, counts, tail_calls=keep.tail, tail_room=room, pinned=frozenset())
    extra = ledger.from_pins(settings.pins)
    if settings.facts_file is not None:
        extra += ledger.from_file(settings.facts_file)
    registered = ledger.register(session, settings.preset, layers.layer, layers.turn, extra)
    return Insight(session, counts, layers, registered)


def by_role(insight: Insight) -> Counter[str]:
    """Tokens by who speaks."""
    out: Counter[str] = Counter()
    for part, n in insight.visible():
        out[insight.session.messages[part.message].role.value] += n
    return out


def by_tool(insight: Insight) -> Counter[str]:
    """Tokens by tool, calls and results together."""
    out: Counter[str] = Counter()
    for part, n in insight.visible():
        if part.name:
            out[part.name] += n
    return out


def by_layer(insight: Insight) -> Counter[str]:
    """Tokens by how compressible they are."""
    out: Counter[str] = Counter()
    for part, n in insight.visible():
        out[insight.layers.layer[part.ordinal].value] += n
    return out


def handover(session: Session, settings: Settings) -> str:
    """The brief of a whole session, as it would stand in for all of it."""
    from compressor import briefs, summarize
    from compressor.brief import Task
    from compressor.language import language
    from compressor.salience import scan

    insight = look(session, settings)
    wanted = settings.preset.language
    tongue = language(session) if wanted in {"", "auto"} else wanted
    share = int(insight.total() * _NOTE_SHARE)
    task = Task(
        session=session,
        layers=insight.layers.layer,
        leaving=frozenset(m.index for m in session.messages if not m.abandoned),
        staying=frozenset(),
        facts=insight.ledger.facts,
        budget=settings.budget or min(_NOTE_MOST, max(_NOTE_LEAST, share)),
        language=tongue,
        count=lambda text: tokens.count(text, settings.encoding),
        focus=settings.focus,
        value=scan(session, settings.focus).value,
    )
    asking = summarize.Asking(settings.summarizer, settings.summarizer_options, 0, settings.terms)
    return briefs.render(asking.brief, tongue, session) if asking.next(task) else ""
