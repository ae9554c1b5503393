"""One worker process of an index run: ask, repeat blob by blob after a failure, end."""

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

from gitmem.chunking.chunk_size import DEFAULT_BOUNDS
from gitmem.errors import WorkersFailed
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker import main
from gitmem.indexing.worker_protocol import (
    Batch,
    BatchRequest,
    BlobContent,
    BlobOutcome,
    KnownSegments,
    PackedRows,
    read_rows,
    write_batch,
)
from gitmem.processes.child import ChildProcess
from gitmem.processes.fork import ForkedWorker
from gitmem.processes.memory import own_bytes

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
    """A worker process that is started when first needed, and again after it died.

    `known_segments` are the segments whose vectors it may use again, `bounds` the sizes of chunks.
    Unless it `embeds`, it answers with texts instead of vectors.
    """

    def __init__(self, command: Sequence[str] = WORKER_COMMAND) -> None:
        self._stop_request: StopRequest | None = None
        self.known_segments: KnownSegments | None = None
        self.bounds = DEFAULT_BOUNDS
        self.embeds = True
        self._child = ChildProcess(command, "indexing worker")
        self._has_answered = self._has_processed_blobs = False
        self._resident = 0

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
        loss = self._child.last_failure
        if not self._has_answered and self._ask([]) is None:
            raise WorkersFailed(f"the indexing worker does not start{self._last_error_line()}")
        singles = [self._build_single(blob) for blob in batch]
        # If a blob failed again, it is to blame, and its own answer says how. Otherwise the cause was something else.
        if singles and not any(single.losses for single in singles):
            files = f"{len(batch)} files" if len(batch) > 1 else "file"
            loss = f"an indexing worker {loss}; its {files} were indexed again, one by one"
            singles[0] = singles[0]._replace(losses=(loss,))
        return singles

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
            loss = f"the worker {self._child.last_failure}"
            empty = self._ask([])
            if empty is None:
                raise WorkersFailed("the indexing worker does not start again")
            rows = empty._replace(blobs=[BlobOutcome(blob.language, "failed", 0)], losses=(loss,))
        return rows

    def _ask(self, batch: Batch) -> PackedRows | None:
        """Return the worker's answer, or None if it died, exceeded the timeout or answered garbage."""
        seconds = SECONDS_PER_BATCH + SECONDS_PER_BLOB * len(batch)
        request = BatchRequest(batch, self._stop_request, self.known_segments, self.bounds, self.embeds)
        rows = self._child.ask(partial(write_batch, request=request), read_rows, seconds)
        if rows is not None:
            self._resident = rows.resident
            self._has_answered = True
            self._has_processed_blobs = self._has_processed_blobs or bool(batch)
        return rows

    def _last_error_line(self) -> str:
        """Return the last line of the worker's standard error as a suffix for a message."""
        line = self._child.last_error_line()
        return f": {line}" if line else ""

    @property
    def is_forked(self) -> bool:
        """Return whether the process shares its loaded modules with this one. One that replaces it does not."""
        return isinstance(self._child.process, ForkedWorker)

    def recycle(self, share: int) -> bool:
        """End the idle process if it occupies more than `share` bytes of its own; the next batch starts another one.

        Return whether it was ended. Caches, fragmented memory and leaks of libraries go with it.
        """
        process = self._child.process
        if process is None or self._resident <= share or (own_bytes(process.pid) or self._resident) <= share:
            return False
        self._child.replace()
        return True

    def end(self) -> None:
        """End the process for good; a call that waits for its answer returns at once."""
        self._child.end()

    def close(self) -> None:
        """Close the pipes. Call it after `end`, when no thread uses the worker any more."""
        self._child.close()
