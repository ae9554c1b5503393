"""A call under way: who serves it can ask whether it still matters, and tell how far it is."""

import threading
from collections.abc import Callable


class Cancelled(Exception):
    """Nobody waits for this call any more. Raised inside its thread and never told to anyone."""


Report = Callable[[float, float | None, str], None]
"""Tells the client how far a call is: done, of how much, and with what."""


def _tell_nobody(_done: float, _total: float | None, _message: str) -> None:
    return


class Call:
    """One call of a tool."""

    def __init__(self, report: Report = _tell_nobody) -> None:
        self._cancelled = threading.Event()
        self.report = report

    def cancel(self) -> None:
        """Let the thread that serves it stop at its next step."""
        self._cancelled.set()

    def check(self) -> None:
        """Go on only if somebody still waits. Raises Cancelled."""
        if self._cancelled.is_set():
            raise Cancelled

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for an event, for so long at most; returns whether it came. Raises Cancelled."""
        came = event.wait(seconds)
        self.check()
        return came
