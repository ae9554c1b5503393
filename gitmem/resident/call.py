"""One call to a process that stays, as the serving thread sees it: cancellation, progress and notes."""

import threading
import time
from collections.abc import Callable


class CallCancelled(Exception):
    """The client cancelled the call or is gone. Ends the serving thread; no message is sent."""


ReportProgress = Callable[[float, float | None, str], None]
"""Reports progress to the client: amount done, total if known, and a message. May raise CallCancelled."""


def report_nothing(_done: float, _total: float | None, _message: str) -> None:
    """Report to a caller that does not listen, for example the warm-up."""


class Call:
    """One call.

    Python cannot stop a thread from outside. The serving code therefore calls `check` between its steps, and `wait`
    instead of waiting for an event. With `builds_index` the first index is built if there is none.

    `received` is when its message was read, by `time.monotonic`: the answer is that of this moment or a later one.
    """

    def __init__(
        self,
        report_progress: ReportProgress = report_nothing,
        *,
        builds_index: bool = True,
        received: float | None = None,
    ) -> None:
        self.received = time.monotonic() if received is None else received
        self._cancelled = threading.Event()
        self.report_progress = report_progress
        self.builds_index = builds_index
        self.notes: list[str] = []
        """Notes for the answer, from the choice of the repository and from a repair."""
        self.seen_files: dict[str, tuple[int, int, int] | None] = {}
        """Signatures of configuration files that this call has read, see `watching.state_signature`."""

    def cancel(self) -> None:
        """Stop the serving thread at its next step. May be called from any thread, also after the end of the call."""
        self._cancelled.set()

    def is_cancelled(self) -> bool:
        """Return whether the call was cancelled."""
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raise CallCancelled if the call was cancelled."""
        if self.is_cancelled():
            raise CallCancelled

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for an event, but not longer than `seconds`; return whether it is set. Raises CallCancelled."""
        is_set = event.wait(seconds)
        self.check()
        return is_set
