"""Publish a repository through a cluster, with few tasks at once: `REPOSITORY DSN ADDRESS [careless]`.

A careless publisher takes the files of a lost batch for empty ones, and no task is repeated.
"""

import io
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final

from gitmem.cli.main import run
from gitmem.indexing import remote_pool
from gitmem.indexing.batch_task import answer_request, encode_request
from gitmem.indexing.remote_pool import TaskEngine
from gitmem.indexing.worker_protocol import read_batch
from gitmem.org import ray_cluster
from gitmem.processes.frames import read_frame

TASKS: Final = 4
"""Batches on their way. With as many as usual, all would have ended before anything is killed."""


def main(repository: str, dsn: str, address: str, *options: str) -> int:
    """Publish; return the exit code."""
    remote_pool.MAX_TASKS = TASKS  # type: ignore[misc]
    if options:
        ray_cluster.RETRIES = 0  # type: ignore[misc]
        ray_cluster.open_cluster = _careless(ray_cluster.open_cluster)
    return run(["-C", repository, "org", "publish", "--name", "shop", "--dsn", dsn, "--on", address])


def _careless(connect: Callable[[Any], Any]) -> Any:
    @contextmanager
    def open_cluster(address: Any) -> Iterator[TaskEngine]:
        with connect(address) as engine:
            yield engine._replace(submit=lambda request: _never_failing(engine.submit(request), request))

    return open_cluster


def _never_failing(task: "Future[bytes]", request: bytes) -> "Future[bytes]":
    answer: Future[bytes] = Future()

    def settle(done: "Future[bytes]") -> None:
        answer.set_result(answer_request(_without_contents(request)) if done.exception() else done.result())

    task.add_done_callback(settle)
    return answer


def _without_contents(request: bytes) -> bytes:
    stream = io.BytesIO(request)
    read_frame(stream)
    asked = read_batch(stream)
    return encode_request(asked._replace(batch=[blob._replace(content=b"") for blob in asked.batch]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
