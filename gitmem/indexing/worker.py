"""The main loop of a worker process: batches of blobs on standard input, rows on standard output.

Started as `python -P -m gitmem.indexing.worker`, or forked from the process that needs it (`fork.py`). Parsing holds
the interpreter lock and may crash on hostile content; therefore it runs in processes of its own.
"""

import gc
import math
import os
import time
from contextlib import suppress
from typing import Final

from gitmem.errors import Cancelled
from gitmem.indexing.worker_protocol import Batch, read_batch, write_rows, write_stopped

BATCH_SECONDS: Final = 10.0
BYTE_SECONDS: Final = 1e-5
"""Limits of processor time, per batch and per byte: some ten times what the slowest batch needs. If they end a worker
wrongly, its blobs are tried again one by one, so nothing is lost."""

_GARBAGE_THRESHOLD: Final = 50_000
"""Allocations before the first garbage collection: imports make thousands of objects, none of them garbage."""


def main() -> None:
    """Serve batches until the parent closes the pipe."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a library prints must not reach the pipe
    gc.set_threshold(_GARBAGE_THRESHOLD)
    # Imported after the redirection, because an import may print too.
    from gitmem.embedding.bundled import BundledEncoder
    from gitmem.indexing.row_builder import build_rows

    encoder = BundledEncoder()
    while True:
        try:
            batch, stop = read_batch(requests)
        except EOFError:
            return
        limit_seconds(batch)
        try:
            try:
                rows = build_rows(batch, encoder, check_stop=stop.check if stop else _go_on)
            except Cancelled:
                write_stopped(answers)
            else:
                write_rows(answers, rows)
        except BrokenPipeError:
            os._exit(0)  # the parent was killed; a traceback would only disturb the user


def _go_on() -> None:
    """Check for nothing: this run cannot be stopped by a request."""


def limit_seconds(batch: Batch) -> None:
    """Have the system end this process if a batch takes too much processor time.

    Wall time cannot distinguish a parser that hangs from a busy machine. The timeout of the parent
    (`worker_process.SECONDS_PER_BATCH`) is the last resort, for a worker that waits forever and for systems without
    such limits.
    """
    try:
        import resource
    except ImportError:
        return
    seconds = BATCH_SECONDS + BYTE_SECONDS * sum(len(blob.content) for blob in batch)
    # RLIMIT_CPU counts from the start of the process, so the limit moves on with every batch.
    limit = math.ceil(time.process_time() + seconds)
    with suppress(ValueError, OSError):  # a hard limit below ours is in force
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


if __name__ == "__main__":
    main()
