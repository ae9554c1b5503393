"""Plugin of pytest that measures coverage where it is cheap; `python -m tests` uses it.

Coverage makes Python code some 40 % slower, and adds 0.2 s to each start of a program. Therefore neither programs that
tests start are measured, nor slow tests: those repeat, with other data, the lines that fast tests run.
"""

import os
import threading
from collections.abc import Generator
from typing import Final

import pytest
from coverage import Coverage

from tests.quick import find_slow, read_durations

MEASURED_SHARE: Final = 0.4
"""Share of the duration of all tests that the measured ones take, the fastest tests."""

VARIABLE: Final = "COVERAGE_PROCESS_CONFIG"
"""Variable by which coverage measures the programs that a measured program starts."""

_LONGEST_START: Final = 10.0
"""Seconds after which the next thread starts although the one before it does not run."""

_SLOW: Final = pytest.StashKey[set[str]]()


def start_one_by_one(thread_type: type[threading.Thread]) -> None:
    """Let threads of a type start one after the other.

    Python before 3.12 ends a new thread whose tracing begins at the same moment as that of another one.
    """
    start, turn = thread_type.start, threading.Lock()

    def start_alone(self: threading.Thread) -> None:
        run, begun = self.run, threading.Event()

        def run_once_traced() -> None:
            begun.set()
            run()

        self.run = run_once_traced  # type: ignore[method-assign]
        has_turn = turn.acquire(timeout=_LONGEST_START)  # a process that was forked meanwhile never gets it
        try:
            start(self)
            begun.wait(_LONGEST_START)
        finally:
            if has_turn:
                turn.release()

    thread_type.start = start_alone  # type: ignore[method-assign]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Find the slow tests, and let threads be traced one after the other."""
    start_one_by_one(threading.Thread)
    durations = read_durations()
    session.config.stash[_SLOW] = find_slow(durations, budget=MEASURED_SHARE * sum(durations.values()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Leave programs out, and pause during a slow test."""
    # Each start of coverage sets it again. The process that starts the workers of xdist, which needs it, runs no test.
    os.environ.pop(VARIABLE, None)
    coverage = Coverage.current()
    if coverage is None or item.nodeid.partition("[")[0] not in item.config.stash[_SLOW]:
        return (yield)
    coverage.stop()
    try:
        return (yield)
    finally:
        coverage.start()


def pytest_sessionfinish() -> None:
    """Save the data at once: xdist kills a worker that takes more than ten seconds to exit, as on a busy machine."""
    coverage = Coverage.current()
    if coverage is not None:
        coverage.save()
