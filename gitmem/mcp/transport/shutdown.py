"""Shutdown of a server: when its client closes standard input or dies, and on a signal.

The process ends soon afterwards, whatever it is doing: over standard input and output within two seconds.
That is safe: files are replaced atomically (`gitmem.fsio`), and the system releases the locks of a process that ends.
"""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

_PARENT_SECONDS: Final = 0.5
"""Interval between two checks whether the parent process still exists."""

GRACE_SECONDS: Final = 1.2
"""Usual time for an orderly end. After it the process exits anyway, even if a thread hangs in a system call."""


class Shutdown:
    """One-way switch of a process. `requested` is set once, then the callbacks are called, from the thread that asked.

    Closing standard input is how a client ends a server. The parent is watched as well, because a child of a killed
    client can keep its standard input open.
    """

    def __init__(self, grace_seconds: float = GRACE_SECONDS) -> None:
        self.requested = threading.Event()
        self._finished = threading.Event()
        self._exit_lock = threading.Lock()
        """Decides whether the process ends by itself or is ended: it must not do both at once."""

        self._grace_seconds = grace_seconds
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        """Guards the transition, so that only one thread makes it."""

    def watch_parent(self) -> None:
        """Request the shutdown when the parent process dies."""
        threading.Thread(target=self._watch_parent, args=(os.getppid(),), name="parent", daemon=True).start()

    def watch_signals(self) -> None:
        """Request the shutdown when a signal asks for it. Call from the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
            signal.signal(number, self._handle_signal)

    def add_callback(self, callback: Callable[[], None]) -> None:
        """Call a function at the shutdown, or at once if it was already requested; in rare cases both."""
        self._callbacks.append(callback)
        if self.requested.is_set():
            callback()

    def request(self) -> None:
        """Begin the shutdown. May be called from any thread and any number of times."""
        with self._lock:
            if self.requested.is_set():
                return
            self.requested.set()
        threading.Thread(target=self._exit_after_grace, name="exit", daemon=True).start()
        for callback in list(self._callbacks):
            callback()

    def finish(self) -> None:
        """Let the process end by itself: call last. Does not return if the grace period has expired."""
        with self._exit_lock:
            self._finished.set()

    def _handle_signal(self, _number: int, _frame: FrameType | None) -> None:
        # In another thread: the signal may interrupt this one while it holds the lock.
        try:
            threading.Thread(target=self.request, name="signal", daemon=True).start()
        except RuntimeError:  # no more threads: there is no orderly end then
            os._exit(0)

    def _watch_parent(self, parent: int) -> None:
        # An orphan gets another parent. There is no portable notification of that, so it is polled.
        while not self.requested.wait(_PARENT_SECONDS):
            if os.getppid() != parent:
                self.request()

    def _exit_after_grace(self) -> None:
        if not self._finished.wait(self._grace_seconds):
            with self._exit_lock:
                if not self._finished.is_set():
                    os._exit(0)
