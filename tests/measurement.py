"""Plugin of pytest that measures coverage where it is cheap; `python -m tests` uses it.

Coverage makes Python code some 40 % slower, and adds 0.2 s to each start of a program. Therefore neither programs that
tests start are measured, nor slow tests: those repeat, with other data, the lines that fast tests run.
"""

import os
from collections.abc import Generator
from typing import Final

import pytest
from coverage import Coverage

from tests.quick import find_slow, read_durations

MEASURED_SHARE: Final = 0.4
"""Share of the duration of all tests that the measured ones take, the fastest tests."""

VARIABLE: Final = "COVERAGE_PROCESS_CONFIG"
"""Variable by which coverage measures the programs that a measured program starts."""

_SLOW: Final = pytest.StashKey[set[str]]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Find the slow tests."""
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
