"""How a model is asked: on which terms, what came of it, and what the report is told. Types alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

#: Seconds that a session may wait for a model, if nothing else is said.
DEADLINE: Final = 600.0

#: `live` asks now; `plan` only reckons what asking would cost; `batch` writes requests down, to be answered later.
AskMode = Literal["live", "plan", "batch"]


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs: currency units for a million tokens, as somebody published it on a day.

    Attributes:
        name: the pattern of the price table that the model's name matched.
        cached: of input tokens that the provider found in its prompt cache.
        batch: factor of the provider's batch endpoint.
        as_of: day of the table's entry.
    """

    name: str
    input: float
    output: float
    cached: float
    batch: float = 1.0
    as_of: str = ""

    def of(self, given: int, written: int, cached: int = 0, *, batch: bool = False) -> float:
        """The price of one answer."""
        whole = (given - cached) * self.input + cached * self.cached + written * self.output
        return whole / 1_000_000 * (self.batch if batch else 1.0)


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a run asks a model. None of this decides what is answered.

    Attributes:
        run: name of the run: what is spent is added up over it.
        answers: folder of the answers that are kept; None: they are not kept.
        cassette: file of recorded answers: read by `replay`, written by every other summarizer.
        price: None: not known.
        max_cost: stop before the run has cost more.
        max_tokens: stop before the run has used more tokens, in and out together.
        deadline: seconds that a session may wait for the model, all in all.
        concurrency: requests at once.
        rpm: requests per minute; 0: no limit.
        tpm: tokens per minute; 0: no limit.
        spool: where requests of a batch are written down.
        batch: they will be answered at the price of a batch.
    """

    mode: AskMode = "live"
    run: str = ""
    answers: Path | None = None
    cassette: Path | None = None
    price: Price | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    deadline: float = DEADLINE
    concurrency: int = 1
    rpm: float = 0.0
    tpm: float = 0.0
    spool: Path | None = None
    batch: bool = False


@dataclass(slots=True)
class Usage:
    """What one session asked of a model. `given`, `written` and `cached` are tokens as the endpoint reports them.

    Attributes:
        requests: answers that were paid for in this run.
        stored: answers that were at hand already.
        retries: requests that were sent again.
        cached: of `given`, what came out of the provider's prompt cache.
        cost: None: the price is not known.
        planned: requests that would be sent, with the tokens and the cost of `plan` mode in the other fields.
    """

    requests: int = 0
    stored: int = 0
    retries: int = 0
    given: int = 0
    written: int = 0
    cached: int = 0
    cost: float | None = None
    planned: int = 0

    def spend(self, cost: float | None) -> None:
        """Add to the cost, as far as it is known."""
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def document(self) -> dict[str, Any]:
        """For the report; empty if no model was asked."""
        if not (self.requests or self.stored or self.planned or self.retries):
            return {}
        cost = None if self.cost is None else round(self.cost, 6)
        return {
            "requests": self.requests,
            "stored": self.stored,
            "retries": self.retries,
            "planned": self.planned,
            "tokens": {"input": self.given, "output": self.written, "cached": self.cached},
            "cost": cost,
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fact that the model wants to see kept; code admits it only if a source holds it word for word."""

    text: str
    sources: tuple[str, ...]


@dataclass(slots=True)
class Journal:
    """What a summarizer tells of its work on one session, over all attempts.

    Attributes:
        steps: lines for the report, in order.
        proposals: of the newest brief.
        seen: how many of the parts that leave the model was shown whole.
        shortened: parts (`#message.part`) of which the model was shown the beginning, the end and what matters.
        unseen: parts that it was not shown.
        waited: seconds that the session has spent with the model.
        state: the summarizer's own, from one attempt to the next.
    """

    steps: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    proposals: tuple[Proposal, ...] = ()
    seen: int = 0
    shortened: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    waited: float = 0.0
    state: Any = None
