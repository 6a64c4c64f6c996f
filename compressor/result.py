"""What a run hands to reports, records and the Python API: one `SessionResult` per session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from compressor.model import Dropped, Finding, Verdict

#: What is said of a pinned text, or of a fact that the user wrote down, that the transcript does not have.
ABSENT: Final = "stands nowhere in the transcript, so there was nothing to keep"


@dataclass(frozen=True, slots=True)
class RuleStats:
    """What one rule did: matches found, edits taken, tokens saved."""

    matches: int = 0
    edits: int = 0
    tokens_saved: int = 0


@dataclass(frozen=True, slots=True)
class SessionResult:
    """The outcome of one session.

    Token counts are of model-visible text: `whole_before` of the whole logical history, `live_before` of what
    the source tool would send now, `after` of the output's live context. Bytes are of the file.
    """

    path: str
    output: str
    format: str
    session: str
    verdict: Verdict
    reason: str = ""
    bytes_before: int = 0
    bytes_after: int = 0
    whole_before: int = 0
    live_before: int = 0
    after: int = 0
    abandoned_tokens: int = 0
    budget: int = 0
    messages_before: int = 0
    messages_after: int = 0
    generation: int = 0
    preset: str = ""
    summarizer: str = ""
    rules_digest: str = ""
    archive: str = ""
    language: str = ""
    score: float = 1.0
    rules: Mapping[str, RuleStats] = field(default_factory=dict)
    facts_registered: Mapping[str, int] = field(default_factory=dict)
    facts_kept: Mapping[str, int] = field(default_factory=dict)
    salient_total: int = 0
    salient_kept: int = 0
    findings: tuple[Finding, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    reachability: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    dirt: Mapping[str, int] = field(default_factory=dict)
    brief: str = ""
    resume: str = ""
    parent: str = ""
    timing: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Tokens of the originals / tokens after (1.0 for an unchanged session)."""
        return self.whole_before / self.after if self.after else 1.0
