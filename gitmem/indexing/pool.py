"""A few worker processes that survive each other: one that dies or hangs costs one blob, never the run."""

import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from gitmem.errors import GitmemError, WorkersFailed
from gitmem.indexing.fork import ForkedWorker, can_fork
from gitmem.indexing.worker import read_frame, write_frame

Job = Sequence[tuple[str, bytes]]

SECONDS_PER_BATCH: Final = 120.0
SECONDS_PER_BLOB: Final = 5.0
"""After these, on the wall, a worker is taken for one that waits for ever, and ended. One that computes for ever ends
by itself (`worker.limit_seconds`); but a machine may be so busy that two seconds of computing take a minute."""

_WORKER: Final = (sys.executable, "-P", "-m", "gitmem.indexing.worker")


_TRIAL: Final[Job] = (("text", b"one line of text\n"),)
"""Who cannot do this lacks memory, or the model: it is not the fault of the blob before, and no index is to be made."""

_SHORT: Final = "free some memory, or run `gitmem doctor`"


class Pool:
    """Digests batches on several processes; `run` yields results in the order of the batches."""

    def __init__(self, workers: int, command: Sequence[str] = _WORKER) -> None:
        self._jobs: queue.SimpleQueue[tuple[int, Job] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[int, list[dict[str, Any]] | GitmemError]] = queue.SimpleQueue()
        kept = spare.take() if command is _WORKER else None
        self._workers = [kept or _Worker(command), *(_Worker(command) for _ in range(workers - 1))]
        self._done = False
        if command is _WORKER and can_fork():
            for worker in self._workers:
                if worker is not kept:
                    worker.fork()
        self._threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in self._workers]
        for thread in self._threads:
            thread.start()

    def run(self, batches: Iterable[Job]) -> Iterator[list[dict[str, Any]]]:
        """Digest batches; each yields one or more results that follow each other. At most two a worker are on the way.

        A blob that brings its worker down is reported as `failed` in the result that holds it.
        """
        waiting: dict[int, list[dict[str, Any]]] = {}
        sent = expected = 0
        feed = iter(batches)
        exhausted = False
        while not exhausted or expected < sent:
            while not exhausted and sent - expected < 2 * len(self._workers) + 2:
                batch = next(feed, None)
                if batch is None:
                    exhausted = True
                    break
                self._jobs.put((sent, batch))
                sent += 1
            if expected == sent:
                break
            if expected not in waiting:
                number, result = self._results.get()
                if isinstance(result, GitmemError):
                    raise result
                waiting[number] = result
                continue
            yield waiting.pop(expected)
            expected += 1
        self._done = True

    def close(self) -> None:
        """End the workers, whatever they are doing; one that is idle may be kept for the next pool."""
        kept = self._workers[0] if self._done and spare.wanted else None
        for worker in self._workers:
            if worker is not kept:
                worker.end()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(timeout=5)
        for worker in self._workers:
            if worker is not kept:
                worker.close()
        if kept is not None:
            spare.put(kept)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self, worker: "_Worker") -> None:
        while (item := self._jobs.get()) is not None:
            number, batch = item
            try:
                self._results.put((number, worker.digest(batch)))
            except GitmemError as problem:
                self._results.put((number, problem))
            except Exception as problem:  # a thread that ends without an answer would leave the run waiting for ever
                self._results.put((number, WorkersFailed(f"an indexing worker cannot be used: {problem!r}")))


class Spare:
    """An idle worker kept for the next pool, in a process that stays and digests a few blobs now and then: starting
    one costs many times what they do. Off until `seconds` is set, for which it is kept.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._worker: _Worker | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    @property
    def wanted(self) -> bool:
        """Whether one is kept at all."""
        return self.seconds > 0

    def take(self) -> "_Worker | None":
        """The worker, for whoever asks first."""
        with self._lock:
            worker, self._worker = self._worker, None
            if self._timer is not None:
                self._timer.cancel()
        return worker

    def put(self, worker: "_Worker") -> None:
        """Keep a worker that is idle, unless there is one."""
        with self._lock:
            if self._worker is None and self.wanted:
                self._worker = worker
                self._timer = threading.Timer(self.seconds, self.end)
                self._timer.daemon = True
                self._timer.start()
                return
        worker.end()
        worker.close()

    def end(self) -> None:
        """End the one that is kept."""
        worker = self.take()
        if worker is not None:
            worker.end()
            worker.close()


spare = Spare()
"""The one of this process."""


class _Worker:
    """One process, started when first needed and again after it died."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | ForkedWorker | None = None
        self._ended = False
        self._answered = self._worked = False
        self._starting = threading.Lock()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)

    def fork(self) -> None:
        """Start as a copy of this process, before it has threads; after a death a new program is started."""
        with suppress(OSError):
            self._process = ForkedWorker(self._stderr)

    def digest(self, batch: Job) -> list[dict[str, Any]]:
        """Digest a batch; when that fails, each blob alone, so that the culprit is found and the others are kept."""
        result = self._ask(batch)
        if result is not None:
            return [result]
        if not self._answered and self._ask([]) is None:
            raise WorkersFailed(f"the indexing worker does not start{self._last_words()}")
        return [self._digest_alone(language, data) for language, data in batch]

    def _digest_alone(self, language: str, data: bytes) -> dict[str, Any]:
        result = self._ask([(language, data)])
        if result is None and not self._worked:
            if self._ask(_TRIAL) is None:
                raise WorkersFailed(f"the indexing worker fails at any file{self._last_words()}", hint=_SHORT)
            result = self._ask([(language, data)])
        if result is None:
            result = self._ask([])
            if result is None:
                raise WorkersFailed("the indexing worker does not start again")
            result["blobs"] = [(language, "failed", 0)]
        return result

    def _ask(self, batch: Job) -> dict[str, Any] | None:
        process = self._process or self._start()
        timer = threading.Timer(SECONDS_PER_BATCH + SECONDS_PER_BLOB * len(batch), process.kill)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            write_frame(process.stdin, list(batch))  # type: ignore[arg-type]
            result: dict[str, Any] = read_frame(process.stdout)  # type: ignore[arg-type]
            self._answered = True
            self._worked = self._worked or bool(batch)
        except (EOFError, OSError, ValueError, TypeError):
            self._stop()
            return None
        finally:
            timer.cancel()
            timer.join()
        return result

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with self._starting:
            if self._ended:
                raise WorkersFailed("the run was stopped")
            try:
                process = self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._stderr,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as problem:
                raise WorkersFailed(f"the indexing worker does not start: {problem}") from problem
        return process

    def _last_words(self) -> str:
        """The last line that the worker complained in."""
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        told = [line.strip() for line in lines if line.strip()]
        return f": {told[-1][:200]}" if told else ""

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    if stream is not None:
                        stream.close()
            process.wait()

    def end(self) -> None:
        """End the process for good; a call that waits for it returns at once."""
        with self._starting:
            self._ended = True
            process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def close(self) -> None:
        """Let go of the pipes, once nothing uses them any more."""
        self._stop()
        self._stderr.close()
