"""Problems of the HTTP server: one line each, and no line again and again."""

import asyncio
import logging
from collections.abc import Iterator

import pytest

from gitmem.mcp.transport.http_log import OneLineHandler


class Clock:
    """Clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def log(lines: list[str], clock: Clock) -> Iterator[logging.Logger]:
    logger, handler = logging.getLogger("tests.http_log"), OneLineHandler(lines.append, clock)
    logger.addHandler(handler)
    logger.propagate = False
    yield logger
    logger.removeHandler(handler)


def test_a_traceback_is_one_line_with_its_place(log: logging.Logger, lines: list[str]) -> None:
    try:
        raise OSError(24, "Too many open files\x1b[2J")
    except OSError:
        log.exception("a call failed\nwith\ndetails")
    (line,) = lines
    assert line.startswith("gitmem: a call failed: OSError: [Errno 24] Too many open files\\e[2J (")
    assert "test_http_log.py:" in line
    assert "\n" not in line


def test_the_same_problem_is_not_logged_again_within_a_minute(
    log: logging.Logger, lines: list[str], clock: Clock
) -> None:
    for second in range(0, 121, 10):
        clock.now = float(second)
        log.error("refused %s", second)
    assert lines == ["gitmem: refused 0", "gitmem: refused 60", "gitmem: refused 120"]
    log.error("another")
    log.error("refused %s", "x", exc_info=ValueError("of another kind"))
    assert len(lines) == 5


def test_ever_new_problems_cost_no_memory(log: logging.Logger, lines: list[str]) -> None:
    for number in range(1000):
        log.error(f"problem {number}")
    assert len(lines) == 1000
    log.error("problem 0")
    assert len(lines) == 1001  # forgotten meanwhile


def test_cancelled_requests_and_those_of_the_shutdown_are_no_problem(log: logging.Logger, lines: list[str]) -> None:
    log.error("a request failed", exc_info=asyncio.CancelledError())
    log.info("started")
    assert lines == []
    handler = log.handlers[0]
    assert isinstance(handler, OneLineHandler)
    handler.mute()
    log.error("cut off")
    assert lines == []
