"""How a run is stopped from outside, keeping what it has done.

A run that has something to do, of `refresh` or of a question that heals, says so in `state/running`, by a word of its
own. Whoever wants it stopped puts that word into `state/cancel`; the run looks there after each batch. A request for a
run that is over is never taken for another.
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
_WORD_BYTES: Final = 32


class Terminated(KeyboardInterrupt):
    """The process was asked to end, and ends like one that was interrupted."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def stoppable(
    paths: IndexPaths, report: "Callable[[Progress], None]" = lambda _: None
) -> "Iterator[Callable[[Progress], None]]":
    """Let others find and stop a run, which calls what is yielded after each batch. The caller holds the lock.

    Raises: Cancelled, from the callable, where somebody asked for the run's end.
    """
    word = os.urandom(_WORD_BYTES // 2).hex().encode()
    write_atomic(paths.running, [word], durable=False)

    def report_or_stop(progress: "Progress") -> None:
        report(progress)
        if read_file(paths.cancel, _WORD_BYTES) == word:
            raise Cancelled(
                f"stopped by `gitmem cancel` after {progress.blobs:,} of {progress.blobs_total:,} files",
                hint="what is done is kept; to go on: gitmem index",
            )

    try:
        yield report_or_stop
    finally:
        remove_file(paths.running)
        remove_file(paths.cancel)


def read_run(paths: IndexPaths) -> bytes | None:
    """The word of the run that is going on, or of one that was killed; None where there is none."""
    return read_file(paths.running, _WORD_BYTES)


def ask_to_stop(paths: IndexPaths, word: bytes) -> None:
    """Ask the run of that word to end after its next batch."""
    write_atomic(paths.cancel, [word], durable=False)


@contextmanager
def ended_gently() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end what is inside like an interrupt, so that it is left in order; then let them kill.

    Only where they would have killed at once, and only in a thread that may say so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]

    def stop(number: int, _: FrameType | None) -> None:
        raise Terminated(number)

    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    except Terminated as asked:
        signal.signal(asked.number, signal.SIG_DFL)
        os.kill(os.getpid(), asked.number)
        raise  # it is on its way
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
