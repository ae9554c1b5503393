"""A spare worker: the next pool uses the same process, unless it died, was busy or is not kept."""

import os
import threading
from collections.abc import Iterator

import pytest

from gitmem.indexing import pool as pool_module
from gitmem.indexing.pool import Pool
from gitmem.indexing.spare_worker import SpareWorker
from gitmem.indexing.worker_process import WORKER_COMMAND
from gitmem.indexing.worker_protocol import BlobContent

BATCH = [BlobContent("python", b"def f():\n    return 1\n")]


@pytest.fixture
def spare(monkeypatch: pytest.MonkeyPatch) -> Iterator[SpareWorker]:
    """Make a spare worker of the test's own: pools in threads of other tests use that of the process."""
    monkeypatch.setattr(pool_module, "can_fork", lambda: False)  # as in a process with threads
    spare = SpareWorker()
    spare.seconds = 60.0
    yield spare
    spare.seconds = 0.0
    spare.end()


def run_batch(spare: SpareWorker, workers: int = 1) -> list[int]:
    """Run one batch in a new pool; return the ids of its processes."""
    with Pool(workers, spare=spare) as pool:
        ((rows,),) = pool.run([BATCH])
        assert rows.blobs[0].language == "python"
        return processes_of(pool)


def processes_of(pool: Pool) -> list[int]:
    return [worker.process.pid for worker in pool._workers if worker.process is not None]


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_next_pool_uses_the_process_of_the_last(spare: SpareWorker) -> None:
    (first,) = run_batch(spare)
    assert run_batch(spare) == [first]
    assert first in run_batch(spare, 2)
    spare.end()
    assert not is_alive(first)


def test_no_worker_is_kept_unless_enabled(spare: SpareWorker) -> None:
    spare.seconds = 0.0
    (first,) = run_batch(spare)
    assert not is_alive(first)
    assert spare.take() is None


def test_a_pool_closed_during_its_run_keeps_no_worker(spare: SpareWorker) -> None:
    with Pool(1, spare=spare) as pool:
        next(pool.run([BATCH, BATCH, BATCH]))
    assert spare.take() is None


def test_a_worker_of_another_program_is_not_kept(spare: SpareWorker) -> None:
    with Pool(1, [*WORKER_COMMAND], spare=spare) as pool:
        list(pool.run([BATCH]))
    assert spare.take() is None


def test_a_spare_worker_that_died_is_replaced(spare: SpareWorker) -> None:
    (first,) = run_batch(spare)
    os.kill(first, 9)
    (second,) = run_batch(spare)
    assert second != first


def test_a_spare_worker_ends_after_its_time(spare: SpareWorker) -> None:
    spare.seconds = 0.05
    (first,) = run_batch(spare)
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(20)
    assert not is_alive(first)


def test_only_one_of_two_pools_gets_the_spare_worker(spare: SpareWorker) -> None:
    (first,) = run_batch(spare)
    with Pool(1, spare=spare) as one, Pool(1, spare=spare) as two:
        for pool in (one, two):
            list(pool.run([BATCH]))
        processes = {*processes_of(one), *processes_of(two)}
        assert len(processes) == 2
        assert first in processes
