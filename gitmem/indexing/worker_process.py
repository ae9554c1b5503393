"""One worker process of an index run: ask, repeat blob by blob after a failure, end."""

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

from gitmem.errors import WorkersFailed
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker import main
from gitmem.indexing.worker_protocol import Batch, BlobContent, BlobOutcome, PackedRows, read_rows, write_batch
from gitmem.processes.child import ChildProcess
from gitmem.processes.fork import ForkedWorker

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
        self._stop_request: StopRequest | None = None
        self._child = ChildProcess(command, "indexing worker")
        self._has_answered = self._has_processed_blobs = False

    def fork(self) -> None:
        """Start as a copy of this process, which must not have threads yet. After a death a new program is started."""
        self._child.fork(main)

    @property
    def process(self) -> "subprocess.Popen[bytes] | ForkedWorker | None":
        """The process, None before the first batch and after a failure."""
        return self._child.process

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
        seconds = SECONDS_PER_BATCH + SECONDS_PER_BLOB * len(batch)
        rows = self._child.ask(partial(write_batch, batch=batch, stop=self._stop_request), read_rows, seconds)
        if rows is not None:
            self._has_answered = True
            self._has_processed_blobs = self._has_processed_blobs or bool(batch)
        return rows

    def _last_error_line(self) -> str:
        """Return the last line of the worker's standard error as a suffix for a message."""
        line = self._child.last_error_line()
        return f": {line}" if line else ""

    def end(self) -> None:
        """End the process for good; a call that waits for its answer returns at once."""
        self._child.end()

    def close(self) -> None:
        """Close the pipes. Call it after `end`, when no thread uses the worker any more."""
        self._child.close()
