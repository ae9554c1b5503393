"""Worker processes made by copying this one: what it has imported already, numpy above all, costs no second import.

Only a process with one thread is copied: of several, the others' locks would stay locked for ever. The copy keeps
nothing open but its pipes, so the writer's lock is free as soon as the writer is gone.
"""

import gc
import os
import signal
import sys
import threading
from pathlib import Path
from typing import BinaryIO, Final

_THREADS: Final = Path("/proc/self/task")
_ENDING: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def can_fork() -> bool:
    """Whether this process has one thread, those of libraries counted; False where nobody can tell."""
    if sys.platform != "linux":
        return False
    try:
        return len(list(_THREADS.iterdir())) == 1
    except OSError:
        return False


class ForkedWorker:
    """A worker that is a copy of this process; the part of `subprocess.Popen` that a pool needs."""

    def __init__(self, stderr: BinaryIO) -> None:
        requests, to_worker = os.pipe()
        from_worker, answers = os.pipe()
        # A signal that is raised while Python's own handlers of a fork run would be swallowed by them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _serve(requests, answers, stderr.fileno())
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(requests)
        os.close(answers)
        self.stdin: BinaryIO = os.fdopen(to_worker, "wb")
        self.stdout: BinaryIO = os.fdopen(from_worker, "rb")
        self._reaped = False
        self._reaping = threading.Lock()

    def kill(self) -> None:
        """End the process, unless it was waited for: its number may be another's by then."""
        with self._reaping:
            if not self._reaped:
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Take leave of a process that was killed."""
        with self._reaping:
            if not self._reaped:
                os.waitpid(self.pid, 0)
                self._reaped = True


def _serve(requests: int, answers: int, stderr: int) -> None:
    """What the copy does. It never returns: what lies above on the stack belongs to the other process."""
    code = 1
    try:
        os.setsid()  # with SIGINT blocked for good: an interrupt of the terminal is the other process's to answer
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        gc.freeze()  # an object of the other process that went would close a number that is a new file's here
        for number, wanted in enumerate((requests, answers, stderr)):
            os.dup2(wanted, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        from gitmem.indexing.worker import main

        main()
        code = 0
    except Exception as problem:
        os.write(2, f"{type(problem).__name__}: {problem}\n".encode("utf-8", "replace"))
    finally:
        os._exit(code)
