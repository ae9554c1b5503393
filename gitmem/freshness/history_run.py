"""Report and beginning of the runs that index history: `commit_run` for messages, `past_run` for code."""

from dataclasses import dataclass, field
from typing import Any

from gitmem.errors import DamagedFile, UsageError
from gitmem.freshness.commit_index import PROVIDER_PROBLEM
from gitmem.freshness.index_model import with_model_of
from gitmem.fsio import make_folder, require_own_folder
from gitmem.indexing.run import empty_manifest
from gitmem.leftover_files import LEFTOVER_SECONDS, sweep_leftovers
from gitmem.paths import IndexPaths
from gitmem.settings import BUNDLED
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace, require_index


@dataclass(slots=True)
class HistoryReport:
    """Result of a run: commits of the history, newly indexed objects, and the index afterwards.

    `rebuilt` is the reason why the index was rebuilt, "" if it was not. `problems` has a line for each object that
    could not be read.
    """

    commits: int = 0
    indexed: int = 0
    chunks: int = 0
    index_bytes: int = 0
    seconds: float = 0.0
    rebuilt: str = ""
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "commits": self.commits,
            **self.counts(),
            "chunks": self.chunks,
            "index_bytes": self.index_bytes,
            "seconds": round(self.seconds, 3),
            "rebuilt": self.rebuilt,
            "problems": self.problems,
        }

    def counts(self) -> dict[str, int]:
        """Return the fields of this kind of run as JSON values."""
        return {}


def usable_workspace(workspace: Workspace) -> Workspace:
    """Return the workspace with the model of its index. Raises: NoIndex, UsageError if a provider embeds."""
    workspace = with_model_of(workspace, require_index(workspace))
    if workspace.settings.provider != BUNDLED:
        raise UsageError(PROVIDER_PROBLEM, hint="code is searched without them")
    return workspace


def make_folders(workspace: Workspace, paths: IndexPaths) -> None:
    """Create the folders of an index of history. Raises: UnsafeIndex, StorageFailed."""
    for folder in (workspace.paths.history.root, paths.root, *paths.folders):
        require_own_folder(folder)
        make_folder(folder)


def sweep(paths: IndexPaths) -> None:
    """Remove what killed processes left behind. The caller holds the lock, but queries write below `state` without."""
    for folder in (paths.root, paths.segments):
        sweep_leftovers(folder)
    sweep_leftovers(paths.state, grace=LEFTOVER_SECONDS)


def starting_point(
    paths: IndexPaths, old: Manifest | None, fingerprint: str, *, check: bool, independent: bool
) -> tuple[Manifest, str]:
    """Return the manifest to extend, and the reason why the index or a part of it is rebuilt, "" without one.

    `check` verifies every checksum. `independent` segments are kept if another one is lost or damaged.
    """
    if old is None:
        return empty_manifest(None, fingerprint), ""
    if old.fingerprint != fingerprint:
        return empty_manifest(old, fingerprint), "the format, the chunker, a setting of it or the model has changed"
    snapshot = Snapshot(paths, old)
    damaged = _damaged_segments(snapshot) if check else {}
    losses = [*snapshot.lost, *damaged.values()]
    if not losses:
        return old, ""
    reason = "; ".join(losses)
    if not independent:
        # Not complete until its end: after a kill the next run must see that rows are missing.
        return empty_manifest(old, fingerprint), reason
    intact = {segment.path.name for segment in snapshot.segments} - damaged.keys()
    return old.with_segments(entry for entry in old.segments if entry.name in intact), reason


def _damaged_segments(snapshot: Snapshot) -> dict[str, str]:
    """Return the names of segments with a wrong checksum, and the messages about them."""
    damaged = {}
    for segment in snapshot.segments:
        try:
            segment.check_blocks()
        except DamagedFile as problem:
            damaged[segment.path.name] = problem.message
    return damaged
