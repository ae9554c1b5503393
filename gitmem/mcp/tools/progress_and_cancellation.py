"""What a tool call can ask of its client, and its cancellation, for the thread that serves it. No import of the SDK."""

import threading
from collections.abc import Callable, Sequence


class CallCancelled(Exception):
    """The client cancelled the call or is gone. Ends the serving thread; no message is sent."""


ReportProgress = Callable[[float, float | None, str], None]
"""Sends a progress notification: amount done, total if known, and a message. May raise CallCancelled."""


ReadRoots = Callable[[], Sequence[str] | None]
"""Asks the client for the URIs of its open folders. Returns None if it does not answer. May raise CallCancelled."""


def _read_no_roots() -> None:
    """Answer for a client that does not name its open folders."""


def _report_nothing(_done: float, _total: float | None, _message: str) -> None:
    """Report to a caller that does not listen, for example the warm-up."""


class ToolCall:
    """One call of a tool, as the thread that serves it sees it.

    Python cannot stop a thread from outside. The serving code therefore calls `check` between its steps, and `wait`
    instead of waiting for an event.
    """

    def __init__(
        self, report_progress: ReportProgress = _report_nothing, read_roots: ReadRoots = _read_no_roots
    ) -> None:
        self._cancelled = threading.Event()
        self.report_progress = report_progress
        self.read_roots = read_roots
        self.notes: list[str] = []
        """Notes for the answer, from the choice of the repository."""

    def cancel(self) -> None:
        """Stop the serving thread at its next step. May be called from any thread, also after the end of the call."""
        self._cancelled.set()

    def check(self) -> None:
        """Raise CallCancelled if the call was cancelled."""
        if self._cancelled.is_set():
            raise CallCancelled

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for an event, but not longer than `seconds`; return whether it is set. Raises CallCancelled."""
        is_set = event.wait(seconds)
        self.check()
        return is_set
