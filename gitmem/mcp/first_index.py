"""The first index of a repository, built behind the calls that arrive meanwhile."""

import threading

from gitmem.display import count
from gitmem.errors import Cancelled, GitmemError
from gitmem.freshness.refresh import refresh
from gitmem.indexing.run import Progress
from gitmem.mcp.tools.progress_and_cancellation import Call
from gitmem.workspace import Workspace


class FirstIndex:
    """A run under way in a thread. `done` is set at its end; `problem` is why it failed, if it did."""

    def __init__(self, workspace: Workspace) -> None:
        self.done = threading.Event()
        self.problem: GitmemError | None = None
        self._workspace = workspace
        self._progress = Progress(0)
        self._stopped = False
        threading.Thread(target=self._run, name="first index", daemon=True).start()

    def stop(self) -> None:
        """End the run at its next step; what it has published stays."""
        self._stopped = True

    def wait(self, call: Call, seconds: float) -> bool:
        """Wait for the end, telling the client of the call how far it is; returns whether it came. Raises Cancelled."""
        for _ in range(max(1, round(seconds / _TURN))):
            if call.wait(self.done, _TURN):
                return True
            progress = self._progress
            call.report(progress.blobs, progress.blobs_total or None, self.describe())
        return self.done.is_set()

    def describe(self) -> str:
        """How far it is."""
        progress = self._progress
        if not progress.blobs_total:
            return "the first index is being built"
        return f"the first index is being built: {progress.blobs:,} of {count(progress.blobs_total, 'file')}"

    def _run(self) -> None:
        try:
            refresh(self._workspace, self._workspace.location.head_tree, uncommitted=True, report=self._note)
        except GitmemError as problem:
            self.problem = problem
        finally:
            self.done.set()

    def _note(self, progress: Progress) -> None:
        if self._stopped:
            raise Cancelled("the server has ended")
        self._progress = progress


_TURN = 0.25
"""Seconds between two words of progress."""
