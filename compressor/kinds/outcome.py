"""How things ended: what is said to be done, failed or pending, and command runs that failed and were not mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.guards.outcomes import DONE, FAILED, PENDING, outcomes
from compressor.kinds._failures import open_failures
from compressor.kinds._prose import spoken
from compressor.model import Match, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "of": {
            "enum": ["words", "runs"],
            "description": "`words`: what is said; `runs`: failing command runs without a later success (words).",
        },
        "status": {
            "type": "array",
            "minItems": 1,
            "items": {"enum": [DONE, FAILED, PENDING]},
            "description": "Which statements (failed and pending).",
        },
        "max": {"type": "integer", "minimum": 20, "description": "A longer line or clause is cut or left out (200)."},
        "most": {"type": "integer", "minimum": 1, "description": "Only the newest so many failing runs (20)."},
    },
}


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each statement (its value is its status), or for the telling line of each open failure."""
    longest = options.get("max", 200)
    if options.get("of", "words") == "runs":
        failures = open_failures(view, longest, options.get("most", 20))
        for part, start, end in sorted(failures, key=lambda f: f[0].ordinal):
            yield Match(part.ordinal, start, end, "", "error")
        return
    wanted = frozenset(options.get("status", (FAILED, PENDING)))
    for part in spoken(view):
        for outcome in outcomes(part.text):
            if outcome.status in wanted and outcome.end - outcome.start <= longest:
                yield Match(part.ordinal, outcome.start, outcome.end, outcome.status, outcome.status)
