"""Call of a tool: what it can ask of its client besides progress and cancellation. No import of the SDK."""

from collections.abc import Callable, Sequence

from gitmem.paths import IndexPaths
from gitmem.resident.call import Call, ReportProgress, report_nothing

ReadRoots = Callable[[], Sequence[str] | None]
"""Asks the client for the URIs of its open folders. Returns None if it does not answer. May raise CallCancelled."""


def _read_no_roots() -> None:
    """Answer for a client that does not name its open folders."""


class ToolCall(Call):
    """One call of a tool, as the thread that serves it sees it."""

    def __init__(
        self, report_progress: ReportProgress = report_nothing, read_roots: ReadRoots = _read_no_roots
    ) -> None:
        super().__init__(report_progress)
        self.read_roots = read_roots
        self.paths: IndexPaths | None = None
        """Index folder of the last repository that the call used, whose journal counts it."""
