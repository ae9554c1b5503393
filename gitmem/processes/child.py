"""One child process, seen from the process that uses it: start, ask, restart after a failure, end."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import BinaryIO, Final, TypeVar, cast

from gitmem.errors import WorkersFailed
from gitmem.processes.fork import ForkedWorker

Answer = TypeVar("Answer")

_ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class ChildProcess:
    """A child process that is started when first needed, and again after it died. `name` is its name in errors."""

    def __init__(self, command: Sequence[str], name: str) -> None:
        self._command = command
        self._name = name
        self._process: subprocess.Popen[bytes] | ForkedWorker | None = None
        self._ended = False
        self._starting = threading.Lock()
        self.last_failure = ""
        """How the child failed to answer the last time that it did, for people; "" if it never did."""
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the child)

    def fork(self, main: Callable[[], None]) -> None:
        """Start as a copy of this process, which must not have threads yet. After a death the command is started."""
        with suppress(OSError):
            self._process = ForkedWorker(self._stderr, main)

    def ask(
        self, send: Callable[[BinaryIO], None], receive: Callable[[BinaryIO], Answer], seconds: float
    ) -> Answer | None:
        """Return the answer to a request, or None if the child died, exceeded the time or answered garbage.

        Raises WorkersFailed if it cannot be started.
        """
        process = self._process or self._start()
        expired = threading.Event()

        def give_up() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            send(cast(BinaryIO, process.stdin))
            return receive(cast(BinaryIO, process.stdout))
        except (EOFError, OSError, ValueError, TypeError) as problem:
            code = self._stop()
            if expired.is_set():
                self.last_failure = f"gave no answer within {seconds:,.0f} s"
            elif isinstance(problem, ValueError | TypeError):
                self.last_failure = "gave an answer that cannot be read"
            else:
                self.last_failure = _describe_exit(code, self.last_error_line())
            return None
        finally:
            timer.cancel()
            timer.join()

    @property
    def process(self) -> "subprocess.Popen[bytes] | ForkedWorker | None":
        """The process, None before the first request and after a failure."""
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._ended:
                raise WorkersFailed("the run was stopped")
            try:
                process = self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._stderr,
                    env={**os.environ, **_ONE_THREAD},
                    start_new_session=True,  # an interrupt of the terminal is the parent's to handle
                )
            except OSError as problem:
                raise WorkersFailed(f"the {self._name} does not start: {problem}") from problem
        return process

    def last_error_line(self) -> str:
        """Return the last line of the child's standard error, "" if it wrote none."""
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        messages = [line.strip() for line in lines if line.strip()]
        return messages[-1][:200] if messages else ""

    def replace(self) -> None:
        """End an idle child. The next request starts another one."""
        self._stop()

    def _stop(self) -> int:
        """End the process and return its exit code as `subprocess` does, 0 without a process."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        # A process that had closed its pipes by dying keeps the exit code it died with.
        return process.wait()

    def end(self) -> None:
        """End the process for good; a call that waits for its answer returns at once."""
        with self._starting:
            self._ended = True
            process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def close(self) -> None:
        """Close the pipes. Call it after `end`, when no thread uses the child any more."""
        self._stop()
        self._stderr.close()


def _describe_exit(code: int, error: str) -> str:
    """Say how a process ended, from its exit code (a signal is negative) and the last line of its standard error."""
    if code >= 0:
        return f"ended with exit code {code}" + (f": {error}" if error else "")
    number = -code
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if name == "SIGXCPU":
        return "took too much processor time"
    return f"was killed by {name}" + (" (the system does that when memory runs out)" if name == "SIGKILL" else "")
