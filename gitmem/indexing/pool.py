"""A pool of worker processes. A worker that dies or hangs costs one blob, never the run."""

import math
import queue
import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Self

from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds
from gitmem.errors import GitmemError, WorkersFailed
from gitmem.indexing.memory_budget import MIN_FORKED, MIN_WORKER, MemoryBudget
from gitmem.indexing.spare_worker import SpareWorker, spare_worker
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker import load_for_all
from gitmem.indexing.worker_process import WORKER_COMMAND, WorkerProcess
from gitmem.indexing.worker_protocol import Batch, KnownSegments, PackedRows
from gitmem.processes.fork import can_fork, join_thread


class Pool:
    """Turns batches of blobs into rows on several processes; `run` yields results in the order of the batches.

    Each worker process has a thread in this process that feeds it from a common queue. `concurrent.futures` is not
    used: its pool breaks as a whole when one worker dies, and it cannot identify the blob that killed it.
    """

    def __init__(
        self,
        workers: int,
        command: Sequence[str] = WORKER_COMMAND,
        budget: MemoryBudget | None = None,
        known: KnownSegments | None = None,
        bounds: ChunkBounds = DEFAULT_BOUNDS,
        *,
        embeds: bool = True,
        languages: Iterable[str] = (),
        spare: SpareWorker = spare_worker,
    ) -> None:
        """Start processes; they take the vectors of chunks that are in `known` from there.

        Unless the pool `embeds`, rows have texts instead of vectors. `languages` are those of many of the blobs. One
        worker is taken from `spare`, if it has one, and may stay there afterwards.
        """
        self._budget = budget
        self._retiring = threading.Lock()
        self._jobs: queue.SimpleQueue[tuple[int, Batch, StopRequest | None] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[int, list[PackedRows] | GitmemError]] = queue.SimpleQueue()
        self._is_usual = command is WORKER_COMMAND
        self._spare = spare
        idle = spare.take() if self._is_usual else None
        self._workers = [idle or WorkerProcess(command), *(WorkerProcess(command) for _ in range(workers - 1))]
        for worker in self._workers:
            worker.known_segments, worker.bounds, worker.embeds = known, bounds, embeds
        self._working = list(self._workers)
        self._finished = False
        self._early: dict[int, list[PackedRows]] = {}
        self._unanswered = 0
        # Forking needs a process with a single thread, so it comes before the threads below.
        if self._is_usual and can_fork():
            if workers > 1:
                load_for_all(languages, embeds=embeds)
            # Asked again, because a library may start threads when it is loaded.
            for worker in self._workers if can_fork() else ():
                if worker is not idle:
                    worker.fork()
        self._threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in self._workers]
        for thread in self._threads:
            thread.start()

    def run(self, batches: Iterable[Batch], stop: StopRequest | None = None) -> Iterator[list[PackedRows]]:
        """Yield for each batch one or more consecutive results.

        A blob that kills its worker has the outcome `failed`. Raises the error of a worker, and Cancelled if one met
        the request to stop.
        """
        # Workers finish out of order; `_early` holds results until it is their turn. The order makes the segments of
        # a run independent of the speed of the workers. The bound on batches in flight limits memory, and two per
        # worker are enough to keep every worker busy while the caller handles a result.
        early = self._early
        sent = expected = 0
        remaining = iter(batches)
        exhausted = False
        in_flight: deque[int] = deque()  # bytes of the batches that have not been yielded
        while not exhausted or expected < sent:
            while not exhausted and self._has_room(in_flight):
                batch = next(remaining, None)
                if batch is None:
                    exhausted = True
                    break
                in_flight.append(sum(len(blob.content) for blob in batch))
                self._jobs.put((sent, batch, stop))
                sent += 1
                self._unanswered += 1
            if expected == sent:
                break
            if expected not in early:
                problem = self._receive(wait=True)
                if problem is not None:
                    raise problem
                continue
            result = early.pop(expected)
            expected += 1
            in_flight.popleft()
            yield result
        self._finished = True

    def _has_room(self, in_flight: Collection[int]) -> bool:
        """Return whether another batch may be sent, given the sizes of those that have not been yielded."""
        if not in_flight:
            return True
        room = math.inf if self._budget is None else self._budget.in_flight_bytes
        return len(in_flight) < 2 * len(self._workers) + 2 and sum(in_flight) < room

    def take_finished(self, *, wait: bool) -> Iterator[tuple[int, list[PackedRows]]]:
        """Yield the results that a stopped run has not yielded, each with the number of its batch.

        With `wait` also those that the workers are about to finish: once they know of the request, that is soon.
        """
        while self._unanswered:
            try:
                self._receive(wait=wait)
            except queue.Empty:
                break
        while self._early:
            yield self._early.popitem()

    def _receive(self, *, wait: bool) -> GitmemError | None:
        """Take one answer from the workers; return it if it is an error. Raises queue.Empty without `wait`."""
        number, result = self._results.get(block=wait)
        self._unanswered -= 1
        if isinstance(result, GitmemError):
            return result
        self._early[number] = result
        return None

    def close(self) -> None:
        """End the workers at once, even in the middle of a batch. An idle one may stay as the spare worker.

        Only a pool of usual workers that has finished its run keeps one. After an early end the worker may be in the
        middle of a batch, whose answer would be read as the answer to the next request.
        """
        reusable = self._finished and self._is_usual and len(self._working) == len(self._workers)
        idle = self._workers[0] if reusable and self._spare.enabled else None
        for worker in self._workers:
            if worker is not idle:
                worker.end()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            join_thread(thread, timeout=5)
        for worker in self._workers:
            if worker is not idle:
                worker.close()
        if idle is not None:
            self._spare.put(idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self, worker: WorkerProcess) -> None:
        while (job := self._jobs.get()) is not None:
            number, batch, stop = job
            try:
                self._results.put((number, worker.build_rows(batch, stop)))
                if self._budget is not None and not self._is_within_budget(worker, self._budget):
                    return
            except GitmemError as problem:
                self._results.put((number, problem))
            except Exception as problem:  # a thread that ends without an answer would leave the run waiting forever
                self._results.put((number, WorkersFailed(f"an indexing worker cannot be used: {problem!r}")))

    def _is_within_budget(self, worker: WorkerProcess, budget: MemoryBudget) -> bool:
        """Replace a worker that occupies more than its share. Return False if it has to end for good.

        The number of workers falls by one if their shares have become too small to work with.
        """
        with self._retiring:
            needed = sum(map(_least_share, self._working))
            retires = len(self._working) > 1 and budget.share_of(1) < needed
            if retires:
                self._working.remove(worker)
        if retires:
            worker.end()
        else:
            worker.recycle(max(_least_share(worker), budget.share_of(len(self._working))))
        return not retires


def _least_share(worker: WorkerProcess) -> int:
    """Return the smallest share with which a worker is useful. One that replaces a forked one needs more."""
    return MIN_FORKED if worker.is_forked else MIN_WORKER
