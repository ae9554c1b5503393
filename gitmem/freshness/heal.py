"""Index what a question finds missing, for as long as it may take; what was done is kept, whatever is left."""

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from gitmem.errors import Cancelled
from gitmem.freshness.cancellation import stoppable
from gitmem.indexing.compact import compact
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.indexing.index_writer import open_index_writer
from gitmem.indexing.plan import Wanted, missing_blobs
from gitmem.indexing.run import Run
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.store.view_file import View

_BLOBS_PER_SECOND: Final = 2000
"""More than any machine digests: beyond what fits into the time, blobs are not even looked at."""


def heal(
    workspace: Workspace, view: "View", files: Mapping[str, bytes], *, deadline: float, wait: bool
) -> Manifest | None:
    """Index blobs of a view that are missing until the deadline (`time.monotonic`); those of `files`, which are
    uncommitted, come first. Whoever asks for its end (`gitmem cancel`) gets it sooner. Returns the manifest as it is
    then, None where it is gone or another makers' by now.

    Raises: Busy where another process writes and `wait` is off, StorageFailed, DamagedFile.
    """
    paths, settings = workspace.paths, workspace.settings
    with open_index_writer(paths, wait=wait) as writer:
        old = writer.manifest
        if old is None or old.fingerprint != current_fingerprint(settings.max_file_bytes):
            return None
        wanted = _choose(missing_blobs(view, Snapshot(paths, old)), files, deadline)
        if not wanted:
            return old
        run = Run(workspace.location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs, files=files)
        try:
            with stoppable(paths) as report:
                manifest = run.execute(wanted, old, publish=writer.publish, deadline=deadline, report=report).manifest
        except Cancelled:
            return writer.manifest
        if time.monotonic() < deadline:
            manifest = compact(paths, manifest)
        writer.publish(manifest)
    return manifest


def _choose(missing: list[Wanted], files: Mapping[str, bytes], deadline: float) -> list[Wanted]:
    """As many as there may be time for, what somebody is working on first."""
    ordered = sorted(missing, key=lambda item: item.oid not in files)
    if deadline == math.inf:
        return ordered
    return ordered[: 1 + int(max(0.0, deadline - time.monotonic()) * _BLOBS_PER_SECOND)]
