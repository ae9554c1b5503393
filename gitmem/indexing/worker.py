"""The main loop of a worker process: batches of blobs on standard input, rows on standard output.

Started as `python -P -m gitmem.indexing.worker`, or forked from the process that needs it (`processes.fork`). Parsing
holds the interpreter lock and may crash on hostile content; therefore it runs in processes of its own.
"""

import gc
import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

from gitmem.errors import Cancelled
from gitmem.indexing.worker_protocol import Batch, read_batch, write_rows, write_stopped
from gitmem.processes.limits import limit_seconds
from gitmem.processes.memory import resident_bytes

if TYPE_CHECKING:
    from gitmem.embedding.bundled import BundledEncoder

BATCH_SECONDS: Final = 10.0
BYTE_SECONDS: Final = 1e-5
"""Limits of processor time, per batch and per byte: some ten times what the slowest batch needs. If they end a worker
wrongly, its blobs are tried again one by one, so nothing is lost."""

_GARBAGE_THRESHOLD: Final = 200_000
"""Allocations before the first garbage collection: imports and names make many objects, none of them garbage."""


def main() -> None:
    """Serve batches until the parent closes the pipe."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a library prints must not reach the pipe
    gc.set_threshold(_GARBAGE_THRESHOLD)
    # Imported after the redirection, because an import may print too.
    from gitmem.indexing.known_vectors import KnownVectors
    from gitmem.indexing.row_builder import RowBuilder

    encoder = _shared_encoder()
    builder = RowBuilder(encoder)
    known_segments, known = None, KnownVectors()
    while True:
        try:
            batch, stop, segments, bounds, embeds = read_batch(requests)
        except EOFError:
            return
        if segments != known_segments:
            known_segments, known = segments, KnownVectors(segments)
        if (builder.bounds, builder.embeds) != (bounds, embeds):
            builder = RowBuilder(encoder if embeds else None, bounds)
        limit_seconds(seconds_for(batch))
        try:
            try:
                rows = builder.build(batch, stop.checks() if stop else _go_on, known)
            except Cancelled:
                write_stopped(answers)
            else:
                write_rows(answers, rows._replace(resident=resident_bytes()))
        except BrokenPipeError:
            os._exit(0)  # the parent was killed; a traceback would only disturb the user


def load_for_all(languages: Iterable[str], *, embeds: bool) -> None:
    """Load, before several workers are forked, what each of them would load: modules, the model, patterns of languages.

    It is the same for any content, so a hostile blob still meets only a worker. If something cannot be loaded, each
    worker finds out by itself, and its last words are the error of the run.
    """
    try:
        from gitmem.chunking.chunk import load_syntax
        from gitmem.indexing import row_builder  # noqa: F401 (for the workers)

        if embeds:
            _shared_encoder().load()
        for language in languages:
            load_syntax(language)
    except Exception:
        return


@cache
def _shared_encoder() -> "BundledEncoder":
    """Return the encoder of this process, which may be that of the process it was forked from."""
    from gitmem.embedding.bundled import BundledEncoder

    return BundledEncoder()


def _go_on() -> None:
    """Check for nothing: this run cannot be stopped by a request."""


def seconds_for(batch: Batch) -> float:
    """Return the processor time that a batch may take."""
    return BATCH_SECONDS + BYTE_SECONDS * sum(len(blob.content) for blob in batch)


if __name__ == "__main__":
    main()
