"""Several worker processes on this machine, each of which loads vocabulary and language data once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, Final, TypeVar

from compressor.engines import Lost

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Items handed out ahead of the one that is waited for, per worker: bounds memory.
_AHEAD: Final = 4

_function: Callable[[Any], Any] | None = None


def run(function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 2) -> Iterator[Result | Lost]:
    """Yield `function(item)` for each item, in order; function, items and results are pickled."""
    rest = iter(items)
    while True:
        broken = yield from _until_broken(function, rest, jobs)
        if not broken:
            return
        # a worker died, and the pool with it: whose fault it was shows when each goes alone
        for item in broken:
            yield from _alone(function, item)


def _until_broken(
    function: Callable[[Item], Result], rest: Iterator[Item], jobs: int
) -> Generator[Result | Lost, None, list[Item]]:
    """Yield results until the items end or a worker dies; returns the items that are still owed."""
    pool = _pool(function, jobs)
    owed: deque[tuple[Item, Future[Any]]] = deque()
    try:
        while True:
            for item in islice(rest, jobs * _AHEAD - len(owed)):
                owed.append((item, _submit(pool, item)))
            if not owed:
                return []
            try:
                result = owed[0][1].result()
            except BrokenProcessPool:
                return [item for item, _ in owed]
            owed.popleft()
            yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, item: Any) -> Future[Any]:
    try:
        return pool.submit(_call, item)
    except BrokenProcessPool as error:
        future: Future[Any] = Future()
        future.set_exception(error)
        return future


def _alone(function: Callable[[Item], Result], item: Item) -> Iterator[Result | Lost]:
    pool = _pool(function, 1)
    try:
        yield pool.submit(_call, item).result()
    except BrokenProcessPool:
        yield Lost()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _pool(function: Callable[[Any], Any], jobs: int) -> ProcessPoolExecutor:
    # spawn: the same on every system, and no lock of the parent is copied in a locked state
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(function,))


def _start(function: Callable[[Any], Any]) -> None:
    global _function  # noqa: PLW0603 - one per worker process, set once when it starts
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_go_with_parent, daemon=True).start()


def _go_with_parent() -> None:
    """A worker whose parent was killed must not go on beside the next run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(item: Any) -> Any:
    """An interrupt stops the item at work, not the worker that waits for one."""
    assert _function is not None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return _function(item)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
