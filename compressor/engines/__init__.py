"""Engines: ways to run one function over many items.

An engine is one module of this folder:

    def run(function, items, jobs) -> Iterator[result | Lost]

It yields one result per item, in the order of the items, as soon as it can. The function never raises what
belongs to an item; an item whose worker died yields `Lost`. When the consumer stops (an interrupt, an error),
nothing new is started and what is finished stays finished.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker process died while it had this item: killed, or out of memory."""

    reason: str = "the worker process died: killed, or out of memory"
