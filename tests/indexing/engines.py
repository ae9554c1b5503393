"""Engines without a cluster: tasks run in this process, or when a test lets them."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from gitmem.errors import GitmemError, WorkersFailed
from gitmem.indexing.batch_task import answer_request
from gitmem.indexing.remote_pool import OpenEngine, TaskEngine


def engine(submit: Callable[[bytes], "Future[bytes]"]) -> OpenEngine:
    """Return how to connect to an engine that starts tasks by `submit`."""

    @contextmanager
    def connect() -> Iterator[TaskEngine]:
        yield TaskEngine(submit, _explain)

    return connect


def _explain(problem: BaseException) -> GitmemError:
    return WorkersFailed(f"the engine failed: {problem}", hint="run it again")


def finished(answer: bytes) -> "Future[bytes]":
    """Return a task that has ended."""
    task: Future[bytes] = Future()
    task.set_result(answer)
    return task


def failed(problem: Exception) -> "Future[bytes]":
    """Return a task that was lost too often."""
    task: Future[bytes] = Future()
    task.set_exception(problem)
    return task


def answer_now(request: bytes) -> "Future[bytes]":
    """Run a task at once."""
    return finished(answer_request(request))
