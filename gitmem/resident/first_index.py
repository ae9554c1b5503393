"""First index of a repository, built in a background thread while calls wait for it and report its progress."""

import threading
from typing import Final

from gitmem.display import count
from gitmem.errors import Cancelled, GitmemError
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.indexing.run import Progress
from gitmem.resident.call import Call
from gitmem.workspace import Workspace

_REPORT_SECONDS: Final = 0.25
"""Interval between two progress notifications."""


class FirstIndex:
    """Running build of an index. `finished` is set at its end, and `error` too if it failed.

    `announced` says which data a provider gets, and how large the index becomes.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.finished = threading.Event()
        self.error: GitmemError | None = None
        self._workspace = workspace
        self._progress = Progress(0)
        self.announced: list[str] = []
        self._cancelled = False
        threading.Thread(target=self._run, name="first index", daemon=True).start()

    def cancel(self) -> None:
        """Stop after the current batch. Finished rows are published, and a later run continues from them."""
        self._cancelled = True

    def wait(self, call: Call, seconds: float) -> bool:
        """Wait for the end and notify the client of the progress; return whether the build has ended.

        Raises: CallCancelled.
        """
        for _ in range(max(1, round(seconds / _REPORT_SECONDS))):
            # Before waiting: a client learns at once why the answer takes longer.
            progress = self._progress
            call.report_progress(progress.blobs, progress.blobs_total or None, self.describe())
            if call.wait(self.finished, _REPORT_SECONDS):
                return True
        return self.finished.is_set()

    def describe(self) -> str:
        """Return a message about the progress."""
        progress = self._progress
        parts = ["the first index is being built"]
        if progress.blobs_total:
            parts = [f"{parts[0]}: {progress.blobs:,} of {count(progress.blobs_total, 'file')}"]
        return "; ".join([*parts, *filter(None, [progress.waiting]), *self.announced])

    def _run(self) -> None:
        try:
            settings = RefreshSettings(uncommitted=True, switches_model=True, event="mcp")
            tree = self._workspace.location.head_tree
            refresh(self._workspace, tree, settings, report=self._receive, announce=self.announced.append)
        except GitmemError as error:
            self.error = error
        finally:
            self.finished.set()

    def _receive(self, progress: Progress) -> None:
        """Record the progress after each batch. Raising Cancelled here makes the run publish and end."""
        if self._cancelled:
            raise Cancelled("the server is shutting down")
        self._progress = progress
