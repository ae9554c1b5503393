"""Child processes forked from this one, so that its imports, above all numpy, need not be repeated.

Only a process with a single thread is forked: locks that other threads hold would stay locked in the copy forever. The
copy closes all files but its pipes, so the writer lock is free as soon as the writer is gone.
"""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final, NoReturn

_THREADS: Final = Path("/proc/self/task")
_EXIT_SECONDS: Final = 1.0
_TERMINATING: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def can_fork(threads: Path = _THREADS) -> bool:
    """Return whether this process has a single thread, counting threads of libraries; False if that is unknown.

    `threads` is a folder with an entry for each thread.
    """
    if sys.platform != "linux":
        return False
    try:
        return len(list(threads.iterdir())) == 1
    except OSError:
        return False


def join_thread(thread: threading.Thread, timeout: float) -> None:
    """Wait until a thread has ended, at most `timeout` seconds, and `can_fork` no longer counts it.

    `Thread.join` returns when the thread runs no more Python code, shortly before the kernel removes it.
    """
    thread.join(timeout)
    task = _THREADS / str(thread.native_id)
    deadline = time.monotonic() + _EXIT_SECONDS
    while not thread.is_alive() and task.exists() and time.monotonic() < deadline:
        time.sleep(0.0001)


class ForkedWorker:
    """Child forked from this process; offers the part of `subprocess.Popen` that `ChildProcess` needs.

    `multiprocessing` is not used: its forked children inherit all open files, among them the writer lock.
    """

    def __init__(self, stderr: BinaryIO, main: Callable[[], None]) -> None:
        """Fork a copy that runs `main`, with pipes as standard input and output. Raises OSError."""
        requests, to_worker = os.pipe()
        from_worker, answers = os.pipe()
        # Python's own handlers around a fork would swallow the exception of a signal that arrives while they run.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_TERMINATING})
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _serve(requests, answers, stderr.fileno(), main)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(requests)
        os.close(answers)
        self.stdin: BinaryIO = os.fdopen(to_worker, "wb")
        self.stdout: BinaryIO = os.fdopen(from_worker, "rb")
        self._reaped = False
        self._code = 0
        self._reaping = threading.Lock()

    def kill(self) -> None:
        """End the process, unless it was reaped: its id may belong to another process by then."""
        with self._reaping:
            if not self._reaped:
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Reap a process that was killed. Return its exit code, the negative number of the signal that ended it."""
        with self._reaping:
            if not self._reaped:
                self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
                self._reaped = True
            return self._code


def _serve(requests: int, answers: int, stderr: int, main: Callable[[], None]) -> NoReturn:
    """Run `main` in the forked copy. Never return: the frames above on the stack belong to the parent."""
    code = 1
    try:
        # A session of its own, with SIGINT blocked for good: an interrupt of the terminal is the parent's to handle.
        os.setsid()
        for ending in _TERMINATING:
            signal.signal(ending, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _TERMINATING)
        # Objects of the parent must never be collected here: closing their descriptors would close new files that
        # have the same numbers in the copy.
        gc.freeze()
        for number, descriptor in enumerate((requests, answers, stderr)):
            os.dup2(descriptor, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        main()
        code = 0
    except Exception as problem:
        os.write(2, f"{type(problem).__name__}: {problem}\n".encode("utf-8", "replace"))
    finally:
        # _exit: buffers of the parent's streams must not be flushed twice, and its exit handlers must not run here.
        os._exit(code)
