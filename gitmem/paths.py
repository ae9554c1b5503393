"""Paths of the files of an index, and of files bundled with the package. Reads and writes nothing."""

from pathlib import Path
from typing import Final

from gitmem.named_tuple import NamedTuple

INDEX_NAME: Final = ".gitmem"
MEMORY_LOCK: Final = "gitmem-memory.lock"
"""Lock by which writers of records take turns instead of racing. It is in the common git directory, like their ref."""

PURGING: Final = "gitmem-purging"
"""Ids of the objects that a purge is removing, in the common git directory. If it is killed, the next purge goes on."""

MEMORY_TIP: Final = "gitmem-memory-tip"
"""Last commit of the memory that gitmem knows of, in the common git directory, where no fetch can reach it."""

WRITER: Final = "gitmem-writer"
"""Id of this clone as a writer of shared records, and the place it was made for, in the common git directory."""

EXCHANGING: Final = "gitmem-exchange.lock"
"""Lock of the process that exchanges records with a remote, or purges them, in the common git directory."""

SHARING: Final = "gitmem-sharing.lock"
"""Lock of the process that shares records after the user's fetches and pushes, in the common git directory."""

SHARING_WANTED: Final = "gitmem-sharing-wanted"
"""Mark that a fetch or a push of the user asks for an exchange of records."""

SHARED: Final = "gitmem-shared"
"""File that is as old as the last such exchange."""

STARTING: Final = "gitmem-starting"
"""Marker in the git directory of a working tree while a hook starts a process.

Hooks that run meanwhile start none (`hooks/block.sh`): that process has not read the state of the repository yet.
"""

PUSHING: Final = "gitmem-pushing"
"""The same for the hook of a push."""

BASE_SUFFIX: Final = ".base"
"""End of the name of a file with all paths of a tree, from which views of other trees differ."""

JOIN_SUFFIX: Final = ".join"
"""End of the name of a file with the join of such a file and the segments."""

RUN: Final = "run-"
"""Prefix of the name of a logged run, followed by the time of its end (`freshness/index_runs.py`)."""

SESSION: Final = "search-"
"""Prefix of the name of a search session, followed by the time of its last use and its id (`answering/sessions.py`)."""

HISTORY: Final = "history-"
"""Prefix of the name of the cached history of a path (`history/trace_cache.py`)."""

DIRTY: Final = "dirty-"
UNCOMMITTED: Final = "uncommitted-"
# These two prefixes are followed by the id of a working tree, so that linked ones share the folder.
_PACKAGE: Final = Path(__file__).resolve().parent


class IndexPaths(NamedTuple):
    """Layout of an index folder."""

    root: Path

    @property
    def manifest(self) -> Path:
        return self.root / "manifest"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def ignore(self) -> Path:
        return self.root / ".gitignore"

    @property
    def segments(self) -> Path:
        return self.root / "segments"

    @property
    def views(self) -> Path:
        return self.root / "views"

    @property
    def graphs(self) -> Path:
        return self.root / "graph"

    @property
    def vectors(self) -> Path:
        """Folder of the vectors that remote providers computed; it exists once one has."""
        return self.root / "vectors"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def tuning(self) -> Path:
        """Weights fitted on the repository's own commits."""
        return self.state / "tuning"

    @property
    def sound_packs(self) -> Path:
        """Packs of others that were read and found sound."""
        return self.state / "sound-packs"

    @property
    def digest(self) -> Path:
        """Last computed digest of the index of a tree."""
        return self.state / "digest"

    @property
    def scratch(self) -> Path:
        """Folder of the temporary index of an evaluation or a check of received rows, while one runs."""
        return self.state / "eval"

    @property
    def scratch_lock(self) -> Path:
        """Lock of the process that uses that folder."""
        return self.state / "eval-lock"

    @property
    def background_lock(self) -> Path:
        """Lock of the process that refreshes in the background."""
        return self.state / "background-lock"

    @property
    def progress(self) -> Path:
        """How far the current run is, for other processes."""
        return self.state / "progress"

    @property
    def running(self) -> Path:
        """Token of the run that holds the writer lock, and the command that continues it."""
        return self.state / "running"

    @property
    def stopped(self) -> Path:
        """Token of the last run that ended because of a request."""
        return self.state / "stopped"

    @property
    def unfinished(self) -> Path:
        """Manifest of a full run that has not ended yet, or was interrupted."""
        return self.state / "unfinished"

    @property
    def cancel(self) -> Path:
        """Request to the run that shall end."""
        return self.state / "cancel"

    @property
    def records(self) -> Path:
        """View of the memory's records at some recent time."""
        return self.state / "records"

    @property
    def history(self) -> "IndexPaths":
        """Index of the history, with a layout of its own."""
        return IndexPaths(self.root / "history")

    @property
    def past(self) -> "IndexPaths":
        """Index of the versions of code in the past, with a layout of its own."""
        return IndexPaths(self.root / "history" / "code")

    @property
    def lifetimes(self) -> Path:
        """Versions of files up to some recent commit, and when each chunk lived, in the index of the past."""
        return self.state / "lifetimes"

    @property
    def commits(self) -> Path:
        """View of the commits at some recent time, in the index of the history."""
        return self.state / "commits"

    @property
    def log(self) -> Path:
        """Log of the last background runs."""
        return self.state / "log"

    @property
    def decided(self) -> Path:
        """Keys of the suggested notes that a person has accepted or skipped."""
        return self.state / "decided-suggestions"

    @property
    def journal(self) -> Path:
        """Journal of events that are not part of the metrics yet; closed ones have a time behind the name."""
        return self.state / "measured"

    @property
    def metrics(self) -> Path:
        """Sums of all events of the past."""
        return self.state / "metrics"

    @property
    def logs(self) -> Path:
        """Folder of the logs; it exists once there is one."""
        return self.root / "logs"

    def dirty(self, worktree: str) -> Path:
        """Return the marker of a working tree, by its id, with changes that are not indexed yet."""
        return self.state / f"{DIRTY}{worktree}"

    def uncommitted(self, worktree: str) -> Path:
        """Return the file of the uncommitted blob ids of a working tree, by its id."""
        return self.state / f"{UNCOMMITTED}{worktree}"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders inside the index folder."""
        return self.segments, self.views, self.graphs, self.state

    def segment(self, name: str) -> Path:
        return self.segments / name

    def view(self, key: str) -> Path:
        return self.views / key

    def graph(self, name: str) -> Path:
        return self.graphs / name


def bundled(name: str) -> Path:
    """Return a folder shipped with the package (`models`, `hooks`).

    It is inside an installed package, and next to the package in a checkout.
    """
    installed = _PACKAGE / "_bundled" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
