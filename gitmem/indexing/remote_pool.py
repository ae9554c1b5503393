"""A pool of workers on other machines: each batch is a task of an engine that already runs there.

The engine places tasks, moves their data, and repeats those of a process or machine that it lost. This process alone
writes rows, each batch once and in order. So a task that ran twice changes nothing, and a run that fails is continued
by the next one.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from contextlib import AbstractContextManager, suppress
from itertools import islice
from typing import Final, Self

from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds
from gitmem.errors import GitmemError, WorkersFailed
from gitmem.indexing.batch_task import encode_request, read_answer
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker_protocol import Batch, BatchRequest, PackedRows
from gitmem.named_tuple import NamedTuple

MAX_TASKS: Final = 256
"""Batches on their way: two for each of 128 processors. Large ones are bounded by their bytes instead."""

STOP_SECONDS: Final = 0.5
"""Time between two looks for a request to stop. Tasks cannot read it: the file is on this machine."""

REPEAT_SECONDS: Final = 60.0
"""Time without the next answer in order after which batches are sent again, and twice as long for each further time. An
engine sees a connection that was closed at once, but one to a machine without power or network only after minutes."""


class TaskEngine(NamedTuple):
    """Connection to an engine that runs `batch_task.answer_request` on some machine.

    `submit` starts a task for a request. `explain` turns the exception of a task into an error of gitmem.
    """

    submit: Callable[[bytes], "Future[bytes]"]
    explain: Callable[[BaseException], GitmemError]


OpenEngine = Callable[[], AbstractContextManager[TaskEngine]]


class _Task(NamedTuple):
    """Batch on its way: the bytes of its text, and the answers of which the first one counts."""

    size: int
    request: bytes
    answers: "list[Future[bytes]]"

    def find_ended(self) -> "Future[bytes] | None":
        """Return an answer that has arrived, one with rows if there is one. One copy may be lost, and another not."""
        arrivals = [answer for answer in self.answers if answer.done()]
        return next((answer for answer in arrivals if answer.exception() is None), arrivals[0] if arrivals else None)


class RemotePool:
    """Turns batches of blobs into rows, as `pool.Pool` does. It is connected to the engine for a `with` block.

    `in_flight_bytes` bounds the text that is on its way, or waits as rows for its turn. Unless the pool `embeds`, rows
    have texts instead of vectors.
    """

    def __init__(
        self,
        open_engine: OpenEngine,
        in_flight_bytes: float = math.inf,
        bounds: ChunkBounds = DEFAULT_BOUNDS,
        *,
        embeds: bool = True,
    ) -> None:
        self._connection = open_engine()
        self._in_flight_bytes = in_flight_bytes
        self._bounds, self._embeds = bounds, embeds
        self._tasks: deque[_Task] = deque()
        self._taken = 0

    def __enter__(self) -> Self:
        self._engine = self._connection.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        # The engine drops the tasks of a connection that has ended.
        self._connection.__exit__(None, None, None)

    def run(self, batches: Iterable[Batch], stop: StopRequest | None = None) -> Iterator[list[PackedRows]]:
        """Yield the results of each batch, in order. Raises WorkersFailed, and Cancelled if `stop` was made."""
        remaining = iter(batches)
        is_exhausted = False
        while not is_exhausted or self._tasks:
            while not is_exhausted and self._has_room():
                batch = next(remaining, None)
                if batch is None:
                    is_exhausted = True
                else:
                    self._send(batch)
            if self._tasks:
                answers = self._receive(self._tasks[0], stop)
                self._tasks.popleft()
                self._taken += 1
                yield answers

    def take_finished(self, *, wait: bool) -> Iterator[tuple[int, list[PackedRows]]]:
        """Yield the results that an ended run has not yielded, each with the number of its batch.

        With `wait` others have a moment to end. They are not waited for longer, since their machine may be lost.
        """
        wait_for([answer for task in self._tasks for answer in task.answers], STOP_SECONDS if wait else 0)
        for number, task in enumerate(self._tasks, self._taken):
            answer = task.find_ended()
            # The run has an error already, which the refusal of another node must not replace.
            with suppress(WorkersFailed):
                if answer is not None and answer.exception() is None:
                    yield number, read_answer(answer.result())

    def _has_room(self) -> bool:
        if not self._tasks:
            return True
        return len(self._tasks) < MAX_TASKS and sum(task.size for task in self._tasks) < self._in_flight_bytes

    def _send(self, batch: Batch) -> None:
        # No vectors of the index are sent along: a vector costs less to compute than to move.
        request = encode_request(BatchRequest(batch, bounds=self._bounds, embeds=self._embeds))
        size = sum(len(blob.content) for blob in batch)
        self._tasks.append(_Task(size, request, [self._engine.submit(request)]))

    def _receive(self, task: _Task, stop: StopRequest | None) -> list[PackedRows]:
        # Counted from here: in a full cluster a batch waits for its turn longer than it takes.
        patience = REPEAT_SECONDS
        repetition = time.monotonic() + patience
        while (answer := task.find_ended()) is None:
            if stop is not None:
                stop.check()
            if time.monotonic() > repetition:
                self._repeat_overtaken()
                patience *= 2
                repetition = time.monotonic() + patience
            wait_for(task.answers, STOP_SECONDS, FIRST_COMPLETED)
        problem = answer.exception()
        if problem is not None:
            raise self._engine.explain(problem) from problem
        return read_answer(answer.result())

    def _repeat_overtaken(self) -> None:
        """Send the first batch again, and those that later ones overtook: the silent machine may hold several."""
        overtaking = (number for number, task in enumerate(self._tasks) if task.find_ended() is not None)
        last = max(overtaking, default=0)
        for task in islice(self._tasks, last + 1):
            if task.find_ended() is None:
                task.answers.append(self._engine.submit(task.request))
