"""Stop a run from another process, or by a signal, and keep its completed work.

A run of `refresh` or of a healing query writes a random token to `state/running`. To stop it, another process writes
that token to `state/cancel`; the run reads the file after each batch. Each run has its own token, so that a late
request never stops the next run.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

from gitmem.errors import Cancelled
from gitmem.fsio import read_file, remove_file, write_atomic
from gitmem.paths import IndexPaths

if TYPE_CHECKING:
    from gitmem.indexing.run import Progress

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_TOKEN_BYTES: Final = 32


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP as an exception: the process unwinds as after ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def stoppable(
    paths: IndexPaths, report: "Callable[[Progress], None]" = lambda _: None
) -> "Iterator[Callable[[Progress], None]]":
    """Make a run visible and cancellable. The caller holds the lock and calls the yielded function after each batch.

    Raises: Cancelled, from that function, if another process requested the end of this run.
    """
    token = os.urandom(_TOKEN_BYTES // 2).hex().encode()
    write_atomic(paths.running, [token], durable=False)

    def report_or_stop(progress: "Progress") -> None:
        report(progress)
        if read_file(paths.cancel, _TOKEN_BYTES) == token:
            raise Cancelled(
                f"stopped by `gitmem cancel` after {progress.blobs:,} of {progress.blobs_total:,} files",
                hint="completed work is kept; continue with: gitmem index",
            )

    try:
        yield report_or_stop
    finally:
        remove_file(paths.running)
        remove_file(paths.cancel)


def read_run(paths: IndexPaths) -> bytes | None:
    """Return the token of the current run, or of one that was killed; None if there is none."""
    return read_file(paths.running, _TOKEN_BYTES)


def request_stop(paths: IndexPaths, token: bytes) -> None:
    """Ask the run with this token to end after its next batch."""
    write_atomic(paths.cancel, [token], durable=False)


@contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exception inside the block, so that it cleans up; then die of the signal.

    Applies only in the main thread, the only one that may install handlers, and only to signals whose default action is
    in force: a handler of the embedding program stays.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handled = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]

    def stop(number: int, _: FrameType | None) -> None:
        raise Terminated(number)

    for number in handled:
        signal.signal(number, stop)
    try:
        yield
    except Terminated as terminated:
        # Die of the signal itself: shells and supervisors read the exit status to tell a signal from an error.
        signal.signal(terminated.number, signal.SIG_DFL)
        os.kill(os.getpid(), terminated.number)
        raise  # the signal may be delivered a moment later
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
