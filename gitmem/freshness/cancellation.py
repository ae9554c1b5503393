"""Stop a run from another process, or by a signal, and keep its completed work.

A run of `refresh` or of a healing query writes a random token to `state/running`, and how far it is to
`state/progress`. To stop it, another process writes
that token to `state/cancel`, which the workers read between a few chunks. A run that ends for that reason renames the
request to `state/stopped`. Each run has its own token, so that a late request never stops the next run.
"""

import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Final

from gitmem.errors import Cancelled, StorageFailed
from gitmem.fsio import read_file, remove_file, rename_file, write_atomic
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.indexing.stop_request import StopRequest
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths

if TYPE_CHECKING:
    from gitmem.indexing.run import Progress

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_TOKEN_BYTES: Final = 32
_RUN_BYTES: Final = 4096
_PROGRESS_BYTES: Final = 64 * 1024
_PROGRESS_SECONDS: Final = 0.5
"""Time between two writes of the progress: readers look once a second."""

RESUME: Final = "gitmem index"
"""Command that continues a run unless the run names another one."""


def resume_command(rev: str = "", *, full: bool = False, uncommitted: bool = False) -> str:
    """Return the command that continues an index run of HEAD or of a revision."""
    options = {f"--rev {shlex.quote(rev)}": bool(rev), "--uncommitted": uncommitted, "--full": full}
    return " ".join([RESUME, *(option for option, given in options.items() if given)])


class StoppableRun(NamedTuple):
    """Run that other processes can stop: the request that its workers look for, and the callback for its progress."""

    stop: StopRequest
    report: "Callable[[Progress], None]"


class RunningRun(NamedTuple):
    """Run in any process: its token, and the command that continues it."""

    token: bytes
    resume: str


class RunProgress(NamedTuple):
    """Progress of a run in any process: finished and all blobs, chunks so far, and the path that was finished last."""

    blobs: int
    blobs_total: int
    chunks: int
    path: str = ""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP as an exception: the process unwinds as after ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def stoppable(
    paths: IndexPaths,
    report: "Callable[[Progress], None]" = lambda _: None,
    *,
    resume: str = RESUME,
    things: str = "file",
) -> "Iterator[StoppableRun]":
    """Make a run visible and stoppable. The caller holds the lock and calls `report` after each batch.

    `resume` is the command that continues the run, `things` the name of what it indexes. Raises: Cancelled, with the
    progress and that command, if another process requested the end of this run. An interrupt gets the same message as a
    note.
    """
    stop = StopRequest(os.fspath(paths.cancel), os.urandom(_TOKEN_BYTES // 2).hex().encode())
    reached: list[Progress] = []
    written = 0.0

    def report_or_stop(progress: "Progress") -> None:
        nonlocal written
        reached[:] = [progress]
        report(progress)
        now = time.monotonic()
        if not written or now - written >= _PROGRESS_SECONDS:
            written = now
            _write_progress(paths, stop.token, progress)
        stop.check()

    remove_file(paths.stopped)
    write_atomic(paths.running, [b"%s %s" % (stop.token, os.fsencode(resume))], durable=False)
    try:
        yield StoppableRun(stop, report_or_stop)
    except Cancelled:
        if not stop.is_made():
            raise
        rename_file(paths.cancel, paths.stopped)
        hint = f"completed work is kept; continue with: {resume}"
        raise Cancelled(f"stopped by `gitmem cancel`{_describe(reached, things)}", hint=hint) from None
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"stopped{_describe(reached, things)}; completed work is kept, continue with: {resume}")
        raise
    finally:
        remove_file(paths.progress)
        remove_file(paths.running)
        remove_file(paths.cancel)


def _write_progress(paths: IndexPaths, token: bytes, progress: "Progress") -> None:
    """Write how far a run is. Failures are ignored: they must not end the run."""
    values = (progress.blobs, progress.blobs_total, progress.rows, path_bytes(progress.path))
    with suppress(StorageFailed):
        write_atomic(paths.progress, [b"%s %d %d %d %s" % (token, *values)], durable=False)


def read_progress(paths: IndexPaths, run: RunningRun) -> RunProgress | None:
    """Return how far a run is, None before its first batch. Raises: StorageFailed."""
    token, *values = (read_file(paths.progress, _PROGRESS_BYTES) or b"").split(b" ", len(RunProgress._fields))
    numbers = values[:-1]
    # A killed run leaves its file behind, which another run has not replaced yet.
    if token != run.token or len(values) != len(RunProgress._fields) or not all(map(bytes.isdigit, numbers)):
        return None
    return RunProgress(int(values[0]), int(values[1]), int(values[2]), path_text(values[3]))


def _describe(reached: "list[Progress]", things: str) -> str:
    """Return the progress of a run as the end of a sentence."""
    if not reached:
        return f" before its first {things}"
    return f" after {reached[0].blobs:,} of {reached[0].blobs_total:,} {things}s"


def read_run(paths: IndexPaths) -> RunningRun | None:
    """Return the current run, or one that was killed; None if there is none."""
    content = read_file(paths.running, _RUN_BYTES)
    if content is None:
        return None
    token, _, resume = content.partition(b" ")
    return RunningRun(token, os.fsdecode(resume) or RESUME)


def is_stopping(paths: IndexPaths, run: RunningRun) -> bool:
    """Return whether the end of a run was requested."""
    return StopRequest(os.fspath(paths.cancel), run.token).is_made()


def was_stopped(paths: IndexPaths, run: RunningRun) -> bool:
    """Return whether a run ended because that was requested. The answer is known until the next run begins."""
    return read_file(paths.stopped, _TOKEN_BYTES) == run.token


def request_stop(paths: IndexPaths, run: RunningRun) -> None:
    """Ask a run to end after its next few chunks."""
    write_atomic(paths.cancel, [run.token], durable=False)


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
