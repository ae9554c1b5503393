"""Call of a tool: what it can ask of its client besides progress and cancellation. No import of the SDK."""

from collections.abc import Callable, Sequence
from typing import Final

from gitmem.paths import IndexPaths
from gitmem.resident.call import Call, ReportProgress, report_nothing

BLAME_SECONDS: Final = 2.0
"""Time to trace the commits of results: an agent waits for the answer. Finished traces are cached."""

ReadRoots = Callable[[], Sequence[str] | None]
"""Asks the client for the URIs of its open folders. Returns None if it does not answer. May raise CallCancelled."""


def _read_no_roots() -> None:
    """Answer for a client that does not name its open folders."""


class _RisingProgress:
    """Reports progress to a client whose protocol wants every value to exceed the one before it.

    Between two values the same one is reported again, to show that the work goes on and what it waits for. The n-th
    repetition adds n / (n + 1): it exceeds all earlier ones, and stays below the next whole value.
    """

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._value = -1.0
        self._repetitions = 0

    def __call__(self, done: float, total: float | None, message: str) -> None:
        if done > self._value:
            self._value, self._repetitions = done, 0
        elif total is not None and self._value >= total:
            return
        else:
            self._repetitions += 1
        self._report(self._value + self._repetitions / (self._repetitions + 1), total, message)


class ToolCall(Call):
    """One call of a tool, as the thread that serves it sees it."""

    def __init__(
        self,
        report_progress: ReportProgress = report_nothing,
        read_roots: ReadRoots = _read_no_roots,
        received: float | None = None,
    ) -> None:
        super().__init__(_RisingProgress(report_progress), received=received)
        self.read_roots = read_roots
        self.paths: IndexPaths | None = None
        """Index folder of the last repository that the call used, whose journal counts it."""
