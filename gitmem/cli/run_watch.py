"""Show the progress of an index run in another process until it ends."""

import time
from typing import Final

from gitmem.cli.progress import ProgressLine
from gitmem.freshness.cancellation import read_progress, read_run
from gitmem.locks import is_locked
from gitmem.workspace import Workspace

_INTERVAL: Final = 0.5


def watch_run(workspace: Workspace, *, quiet: bool) -> None:
    """Return when no process writes the index; until then show its progress as the run itself does."""
    paths = workspace.paths
    while is_locked(paths.lock):
        run = read_run(paths)
        # A change without a run, as of `gitmem gc`, has no progress to show.
        title = run.resume if run else "writing"
        with ProgressLine(title, quiet=quiet, unit="file") as line:
            while is_locked(paths.lock) and read_run(paths) == run:
                progress = read_progress(paths, run) if run else None
                if progress is not None:
                    line.step(progress.blobs, progress.blobs_total)
                time.sleep(_INTERVAL)
