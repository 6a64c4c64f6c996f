"""What must, shall or may only be done: the clause with its scope and its exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.guards.negation import OBLIGATION
from compressor.kinds import negation
from compressor.model import Match, View

OPTIONS: Mapping[str, Any] = {
    **negation.OPTIONS,
    "properties": {k: v for k, v in negation.OPTIONS["properties"].items() if k != "sorts"},
}
mistakes = negation.mistakes


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """One match for each clause that obliges."""
    return negation.find(view, {**options, "sorts": [OBLIGATION]})
