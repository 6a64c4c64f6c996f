"""One function over many items in threads, results in the order of the items: for work that waits for others."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from queue import SimpleQueue
from typing import Any, Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Items handed out ahead of the one that is waited for, per thread: bounds memory.
_AHEAD: Final = 4


def ordered(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order; what it raises is raised in its place.

    When the consumer stops, nothing new is begun. The threads are daemons: an interrupt does not wait for an answer.
    """
    rest = iter(items)
    todo: SimpleQueue[tuple[Item, Future[Result]] | None] = SimpleQueue()
    threads = [threading.Thread(target=_work, args=(function, todo), daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    owed: deque[Future[Result]] = deque()
    try:
        while True:
            for item in islice(rest, workers * _AHEAD - len(owed)):
                future: Future[Result] = Future()
                owed.append(future)
                todo.put((item, future))
            if not owed:
                return
            result = owed[0].result()
            owed.popleft()
            yield result
    finally:
        for future in owed:
            future.cancel()
        for _ in threads:
            todo.put(None)


def _work(function: Callable[[Any], Any], todo: SimpleQueue[Any]) -> None:
    while (got := todo.get()) is not None:
        item, future = got
        if not future.set_running_or_notify_cancel():
            continue
        try:
            future.set_result(function(item))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is wanted
            future.set_exception(error)
