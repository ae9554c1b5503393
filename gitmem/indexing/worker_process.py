"""One worker process, seen from the process that uses it: start, ask, replace after a failure, end."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import BinaryIO, Final, cast

from gitmem.errors import WorkersFailed
from gitmem.indexing.fork import ForkedWorker
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker_protocol import Batch, BlobContent, BlobOutcome, PackedRows, read_rows, write_batch

WORKER_COMMAND: Final = (sys.executable, "-P", "-m", "gitmem.indexing.worker")

SECONDS_PER_BATCH: Final = 120.0
SECONDS_PER_BLOB: Final = 5.0
"""Timeout of an answer in wall time, after which the worker is considered stuck and killed. A worker that computes
forever ends itself much earlier (`worker.limit_seconds`). This timeout must allow for a machine so busy that two
seconds of processor time take a minute."""

_PROBE: Final[Batch] = (BlobContent("text", b"one line of text\n"),)
"""Blob that any working worker can process. If it fails as well, memory or the model is missing."""

_MEMORY_HINT: Final = "free some memory, or run `gitmem doctor`"


class WorkerProcess:
    """A worker process that is started when first needed, and again after it died."""

    def __init__(self, command: Sequence[str] = WORKER_COMMAND) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | ForkedWorker | None = None
        self._stop_request: StopRequest | None = None
        self._ended = False
        self._has_answered = self._has_processed_blobs = False
        self._starting = threading.Lock()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)

    def fork(self) -> None:
        """Start as a copy of this process, which must not have threads yet. After a death a new program is started."""
        with suppress(OSError):
            self._process = ForkedWorker(self._stderr)

    def build_rows(self, batch: Batch, stop: StopRequest | None = None) -> list[PackedRows]:
        """Return the rows of a batch: one element, or one per blob if the batch as a whole failed.

        A worker may crash on hostile content. Its batch is then repeated blob by blob, so that the offending blob is
        identified and costs only itself. Raises WorkersFailed if no blob at all can be processed, and Cancelled if
        `stop` was made.
        """
        self._stop_request = stop
        rows = self._ask(batch)
        if rows is not None:
            return [rows]
        if not self._has_answered and self._ask([]) is None:
            raise WorkersFailed(f"the indexing worker does not start{self._last_error_line()}")
        return [self._build_single(blob) for blob in batch]

    def _build_single(self, blob: BlobContent) -> PackedRows:
        rows = self._ask([blob])
        # A worker that never processed any blob may lack memory or the model. Without the probe every blob would be
        # reported as failed, and an empty index would replace a good one.
        if rows is None and not self._has_processed_blobs:
            if self._ask(_PROBE) is None:
                raise WorkersFailed(
                    f"the indexing worker fails at any file{self._last_error_line()}", hint=_MEMORY_HINT
                )
            rows = self._ask([blob])
        if rows is None:
            empty = self._ask([])
            if empty is None:
                raise WorkersFailed("the indexing worker does not start again")
            rows = empty._replace(blobs=[BlobOutcome(blob.language, "failed", 0)])
        return rows

    def _ask(self, batch: Batch) -> PackedRows | None:
        """Return the worker's answer, or None if it died, exceeded the timeout or answered garbage."""
        process = self._process or self._start()
        timer = threading.Timer(SECONDS_PER_BATCH + SECONDS_PER_BLOB * len(batch), process.kill)
        timer.daemon = True
        timer.start()
        try:
            write_batch(cast(BinaryIO, process.stdin), batch, self._stop_request)
            rows = read_rows(cast(BinaryIO, process.stdout))
            self._has_answered = True
            self._has_processed_blobs = self._has_processed_blobs or bool(batch)
        except (EOFError, OSError, ValueError, TypeError):
            self._stop()
            return None
        finally:
            timer.cancel()
            timer.join()
        return rows

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
                    start_new_session=True,  # an interrupt of the terminal is the parent's to handle
                )
            except OSError as problem:
                raise WorkersFailed(f"the indexing worker does not start: {problem}") from problem
        return process

    def _last_error_line(self) -> str:
        """Return the last line of the worker's standard error as a suffix for a message."""
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        messages = [line.strip() for line in lines if line.strip()]
        return f": {messages[-1][:200]}" if messages else ""

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
        """End the process for good; a call that waits for its answer returns at once."""
        with self._starting:
            self._ended = True
            process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def close(self) -> None:
        """Close the pipes. Call it after `end`, when no thread uses the worker any more."""
        self._stop()
        self._stderr.close()
