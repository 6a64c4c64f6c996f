from __future__ import annotations

import os
import signal
import time

import pytest

from compressor.engines import Lost, processes, serial


def double(n: int) -> int:
    time.sleep(0.02 * (n % 3))
    return 2 * n


def die_at_three(n: int) -> int:
    if n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return n


def fail_at_two(n: int) -> int:
    if n == 2:
        raise KeyError(n)
    return n


def pid(_: int) -> int:
    return os.getpid()


def test_serial_runs_in_order() -> None:
    assert list(serial.run(double, range(4))) == [0, 2, 4, 6]


def test_processes_keep_the_order_of_the_items() -> None:
    assert list(processes.run(double, range(12), 2)) == [2 * n for n in range(12)]


def test_workers_are_kept_warm() -> None:
    assert len(set(processes.run(pid, range(12), 2))) <= 2


def test_a_worker_that_dies_costs_its_own_item_alone() -> None:
    assert list(processes.run(die_at_three, range(6), 2)) == [0, 1, 2, Lost(), 4, 5]


def test_what_the_function_raises_comes_through() -> None:
    got = processes.run(fail_at_two, range(6), 2)

    assert [next(got), next(got)] == [0, 1]
    with pytest.raises(KeyError):
        next(got)


def test_nothing_new_starts_when_the_consumer_stops() -> None:
    got = processes.run(double, iter(range(1000)), 2)
    assert next(got) == 0

    started = time.monotonic()
    got.close()

    assert time.monotonic() - started < 5
