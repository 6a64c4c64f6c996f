"""Several threads of this process: for summarizers that wait for a model most of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from compressor.threads import ordered

Item = TypeVar("Item")
Result = TypeVar("Result")


def run(function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 2) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order."""
    return ordered(function, items, jobs)
