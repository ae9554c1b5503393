"""Index runs that the server has started: at most one for each repository, each in a thread, with its progress."""

import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gitmem.actions.cancel import cancel
from gitmem.answering.answer_json import json_path
from gitmem.errors import Busy, Cancelled, GitmemError
from gitmem.freshness.cancellation import resume_command
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.secrets.masking import mask_text
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.indexing.run import Progress

RUNNING = "running"
DONE = "done"
CANCELLED = "cancelled"
FAILED = "failed"
STATES = (RUNNING, DONE, CANCELLED, FAILED)

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class IndexJob:
    """Index run of the server: its progress in files and chunks, and how it ended."""

    repository: str
    full: bool
    started: float = field(default_factory=time.time)
    seconds: float = 0.0
    state: str = RUNNING
    files: int = 0
    files_total: int = 0
    chunks: int = 0
    bytes: int = 0
    waiting: str = ""
    """What a provider makes the run wait for, "" if nothing."""
    path: str = ""
    """The file that was finished last."""
    message: str = ""
    report: dict[str, Any] | None = None

    def follow(self, progress: "Progress") -> None:
        """Take over the progress of the run."""
        self.files, self.files_total = progress.blobs, progress.blobs_total
        self.chunks, self.bytes, self.waiting = progress.rows, progress.bytes, mask_text(progress.waiting)
        self.path = json_path(progress.path)

    def as_json(self) -> dict[str, Any]:
        """Return the run as JSON values; `percent` counts files."""
        percent = 100.0 if self.state == DONE else 100 * self.files / max(1, self.files_total)
        return {
            "repository": self.repository,
            "full": self.full,
            "state": self.state,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "seconds": round(self.seconds or time.time() - self.started, 1),
            "percent": round(percent, 1),
            "files": self.files,
            "files_total": self.files_total,
            "chunks": self.chunks,
            "bytes": self.bytes,
            "waiting": self.waiting if self.state == RUNNING else "",
            "path": self.path if self.state == RUNNING else "",
            "message": self.message,
        }


class IndexJobs:
    """Table of the last run of each repository."""

    def __init__(self) -> None:
        self._jobs: dict[str, IndexJob] = {}
        self._workspaces: dict[str, Workspace] = {}
        self._lock = threading.Lock()

    def start(self, name: str, workspace: Workspace, *, full: bool, uncommitted: bool) -> IndexJob:
        """Start to index HEAD and the staged files, with `uncommitted` all changed files. Raises: Busy."""
        # One table entry decides within this process, the writer lock between processes.
        job = IndexJob(name, full)
        with self._lock:
            former = self._jobs.get(name)
            if former is not None and former.state == RUNNING:
                raise Busy(f"`{name}` is being indexed already")
            self._jobs[name] = job
            self._workspaces[name] = workspace
        threading.Thread(
            target=self._run, args=(job, workspace, uncommitted), name=f"index {name}", daemon=True
        ).start()
        return job

    def find(self, name: str) -> IndexJob | None:
        """Return the last run of a repository since the start of the server, None without one."""
        with self._lock:
            return self._jobs.get(name)

    def running(self) -> list[IndexJob]:
        """Return the runs that have not ended."""
        with self._lock:
            return [job for job in self._jobs.values() if job.state == RUNNING]

    def stop_all(self, seconds: float) -> None:
        """Ask all runs to end and wait for a while; completed work is kept."""
        for job in self.running():
            try:
                cancel(self._workspaces[job.repository], max_wait=seconds)
            except GitmemError as problem:
                _log.debug("a run did not end: %s", problem)

    def _run(self, job: IndexJob, workspace: Workspace, uncommitted: bool) -> None:
        state, message = FAILED, ""
        try:
            settings = RefreshSettings(
                staged=True, wait=False, event="web", full=job.full, uncommitted=uncommitted,
                resume=resume_command(full=job.full, uncommitted=uncommitted),
            )  # fmt: skip
            result = refresh(workspace, workspace.location.head_tree, settings, report=job.follow)
            job.report = result.as_json()
            state, message = DONE, "; ".join(result.problems[:3])
        except Cancelled as stopped:
            state, message = CANCELLED, f"{stopped.message}; {stopped.hint}"
        except GitmemError as problem:
            message = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
        except Exception:
            _log.exception("an index run failed")
            message = "the run failed; gitmem doctor"
        # The state last: who sees the end of a run must see how it ended.
        job.seconds = time.time() - job.started
        job.message = mask_text(message)
        job.state = state
