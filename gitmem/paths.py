"""Where the files of an index lie below its folder, and where things bundled with the package lie. Computes only."""

from pathlib import Path
from typing import Final, NamedTuple

INDEX_NAME: Final = ".gitmem"
MEMORY_LOCK: Final = "gitmem-memory.lock"
"""In the common git directory, beside the ref it guards: writers of records take turns instead of racing each other."""

PURGING: Final = "gitmem-purging"
"""In the common git directory while a purge removes objects: their ids, for the next purge if this one is killed."""

STARTING: Final = "gitmem-starting"
"""In the git directory of a working tree while a hook there starts a process: those that come meanwhile start none
(`hooks/block.sh`), for that process has yet to look."""

DIRTY: Final = "dirty-"
UNCOMMITTED: Final = "uncommitted-"
_PACKAGE: Final = Path(__file__).resolve().parent


class IndexPaths(NamedTuple):
    """The layout of one index folder."""

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
    def state(self) -> Path:
        return self.root / "state"

    @property
    def tuning(self) -> Path:
        """Weights fitted on the repository's own history."""
        return self.state / "tuning"

    @property
    def scratch(self) -> Path:
        """The index of an evaluation, there while one runs."""
        return self.state / "eval"

    @property
    def scratch_lock(self) -> Path:
        return self.state / "eval-lock"

    @property
    def background_lock(self) -> Path:
        """Held by the one process that refreshes in the background."""
        return self.state / "background-lock"

    @property
    def running(self) -> Path:
        """The word of the run that holds the lock."""
        return self.state / "running"

    @property
    def cancel(self) -> Path:
        """The word of the run that is to end."""
        return self.state / "cancel"

    @property
    def records(self) -> Path:
        """The view of the memory's records, as of some state of them."""
        return self.state / "records"

    @property
    def log(self) -> Path:
        """What the last background runs did."""
        return self.state / "log"

    def dirty(self, worktree: str) -> Path:
        """The mark of a working tree, by its id, that differs from what is indexed of it."""
        return self.state / f"{DIRTY}{worktree}"

    def uncommitted(self, worktree: str) -> Path:
        """What was uncommitted in a working tree, by its id, at the last look."""
        return self.state / f"{UNCOMMITTED}{worktree}"

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders inside the index folder."""
        return self.segments, self.views, self.graphs, self.state

    def segment(self, name: str) -> Path:
        return self.segments / name

    def view(self, key: str) -> Path:
        return self.views / key

    def graph(self, name: str) -> Path:
        return self.graphs / name


def bundled(name: str) -> Path:
    """A folder shipped with the package (`models`, `hooks`): inside an installed one, beside it in a checkout."""
    packed = _PACKAGE / "_bundled" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name
