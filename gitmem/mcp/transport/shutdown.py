"""When a server ends: its client closed standard input, died, or asked it to. It is gone within two seconds, whatever
it was doing; what it wrote is whole, since every write is (`gitmem.fsio`), and the system frees its locks."""

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

_LOOK_SECONDS: Final = 0.5
_GRACE_SECONDS: Final = 1.2
"""Between being told to end and ending in any case."""


class Shutdown:
    """Runs out once; `over` is set then, and `on_end` called from the thread that saw it first."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._on_end: list[Callable[[], None]] = []
        self._ending = threading.Lock()

    def watch(self) -> None:
        """End with the parent process, and on the signals that ask for it. Call from the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
            signal.signal(number, self._signalled)
        threading.Thread(target=self._watch_parent, args=(os.getppid(),), name="parent", daemon=True).start()

    def on_end(self, action: Callable[[], None]) -> None:
        """Have something done at the end; at once if it has come."""
        self._on_end.append(action)
        if self.over.is_set():
            action()

    def end(self) -> None:
        """Begin to end. May be called from any thread and any number of times."""
        with self._ending:
            if self.over.is_set():
                return
            self.over.set()
        threading.Thread(target=_leave_at_last, name="end", daemon=True).start()
        for action in list(self._on_end):
            action()

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        # in a thread of its own: a signal may have come while this thread held the lock
        threading.Thread(target=self.end, name="signal", daemon=True).start()

    def _watch_parent(self, parent: int) -> None:
        while not self.over.wait(_LOOK_SECONDS):
            if os.getppid() != parent:
                self.end()


def _leave_at_last() -> None:
    time.sleep(_GRACE_SECONDS)
    os._exit(0)
