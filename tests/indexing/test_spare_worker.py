"""A worker kept for the next pool: the same process, given up when it was busy or nobody wants it."""

import os
import threading
from collections.abc import Iterator

import pytest

from gitmem.indexing import pool
from gitmem.indexing.pool import Pool, spare

JOB = [("python", b"def f():\n    return 1\n")]


@pytest.fixture(autouse=True)
def _kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool, "can_fork", lambda: False)  # as in a process with threads
    spare.seconds = 60.0
    yield
    spare.seconds = 0.0
    spare.end()


def digest(workers: int = 1) -> list[int]:
    """Digest one batch; returns the processes of the pool."""
    with Pool(workers) as made:
        (result,) = made.run([JOB])
        assert result[0]["blobs"][0][0] == "python"
        return [worker._process.pid for worker in made._workers if worker._process is not None]


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_next_pool_takes_the_process_of_the_last() -> None:
    (first,) = digest()
    assert digest() == [first]
    assert first in digest(2)
    spare.end()
    assert not is_alive(first)


def test_without_being_wanted_none_is_kept() -> None:
    spare.seconds = 0.0
    (first,) = digest()
    assert not is_alive(first)
    assert spare.take() is None


def test_a_pool_that_was_left_in_the_middle_keeps_none() -> None:
    with Pool(1) as made:
        next(made.run([JOB, JOB, JOB]))
    assert spare.take() is None


def test_a_process_that_died_meanwhile_is_replaced() -> None:
    (first,) = digest()
    os.kill(first, 9)
    (second,) = digest()
    assert second != first


def test_it_ends_when_its_time_is_over() -> None:
    spare.seconds = 0.05
    (first,) = digest()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(20)
    assert not is_alive(first)


def test_of_two_pools_at_once_one_finds_it() -> None:
    (first,) = digest()
    with Pool(1) as one, Pool(1) as two:
        for made in (one, two):
            list(made.run([JOB]))
        pids = {worker._process.pid for made in (one, two) for worker in made._workers if worker._process}
        assert len(pids) == 2
        assert first in pids
