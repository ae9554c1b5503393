"""The worker process: batches of blobs on standard input, rows on standard output, until the input ends.

Started as `python -P -m gitmem.indexing.worker`, or copied from the process that needs it (`fork.py`). Parsing holds
the interpreter lock and may crash on hostile content, so it happens here. Frames are a length and a `marshal` of plain
types: the two ends are one version of one program.
"""

import gc
import marshal
import math
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, BinaryIO, Final

HEADER_BYTES = 8
MAX_FRAME = 1 << 34
"""More than any batch: the largest file that may be indexed has 1 GiB."""

BATCH_SECONDS: Final = 10.0
BYTE_SECONDS: Final = 1e-5
"""Processor time that a batch may take, at most: some ten times what the slowest needs. Where one is wrongly ended its
blobs are tried again one by one, so nothing is lost."""

_GARBAGE = 50_000
"""Objects made before the first search for garbage: imports make thousands, none of them garbage."""


def write_frame(stream: BinaryIO, value: Any) -> None:
    """Send one value."""
    payload = marshal.dumps(value)
    stream.write(len(payload).to_bytes(HEADER_BYTES, "little"))
    stream.write(payload)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any:
    """Receive one value; raises EOFError where the other end is gone, ValueError where it talks nonsense."""
    header = stream.read(HEADER_BYTES)
    length = int.from_bytes(header, "little")
    if length > MAX_FRAME:
        raise ValueError("this is no frame: something else writes into the pipe")
    payload = stream.read(length) if len(header) == HEADER_BYTES else b""
    if len(header) < HEADER_BYTES or len(payload) < length:
        raise EOFError("the other process is gone")
    return marshal.loads(payload)  # noqa: S302 (written by our own child)


def limit_seconds(batch: Iterable[tuple[str, bytes]]) -> None:
    """Have the system end this process where a batch takes too much processor time.

    A clock on the wall cannot tell a parser that hangs from a machine that is busy. It remains the last resort
    (`pool.SECONDS_PER_BATCH`), for one that waits for ever and for systems without such limits.
    """
    try:
        import resource
    except ImportError:
        return
    seconds = BATCH_SECONDS + BYTE_SECONDS * sum(len(data) for _, data in batch)
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = math.ceil(time.process_time() + seconds)
    with suppress(ValueError, OSError):  # somebody allows even less
        resource.setrlimit(resource.RLIMIT_CPU, (wanted, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def main() -> None:
    """Serve batches until the parent closes the pipe."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not reach the pipe
    gc.set_threshold(_GARBAGE)
    from gitmem.embedding.bundled import BundledEncoder
    from gitmem.indexing.row_builder import build_rows

    encoder = BundledEncoder()
    while True:
        try:
            batch = read_frame(requests)
        except EOFError:
            return
        limit_seconds(batch)
        try:
            write_frame(answers, build_rows(batch, encoder))
        except BrokenPipeError:
            os._exit(0)  # the parent was killed; whoever did it wants no traceback


if __name__ == "__main__":
    main()
