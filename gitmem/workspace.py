"""One repository and its index, opened together: where the index lies, whether it is ours, what it holds.

The index stands beside the repository: `.gitmem/` at the root of the main working tree, or `gitmem/` in the common git
directory where there is no such tree. An index is read only when this machine made it: a token in it must equal one
inside the git directory, which no clone carries.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gitmem.errors import NoIndex, UnsafeIndex
from gitmem.fsio import (
    make_folder,
    read_file,
    remove_file,
    remove_tree,
    require_own_folder,
    sync_folder,
    write_atomic,
    write_once,
)
from gitmem.git.git_config import read_config
from gitmem.git.locate import Location, locate, main_worktree
from gitmem.git.tracking import add_exclude, is_tracked, lacks_exclude, remove_exclude
from gitmem.locks import writer_lock
from gitmem.paths import INDEX_NAME, MEMORY_LOCK, PURGING, STARTING, IndexPaths
from gitmem.settings import Settings, parse_settings
from gitmem.store.manifest import Manifest, find_manifest

if TYPE_CHECKING:
    from gitmem.store.snapshot import Snapshot

_MARK: Final = "gitmem-made-here"
OWN_NAMES: Final = frozenset({"segments", "views", "graph", "state", "lock", "manifest", ".gitignore", _MARK})
"""What gitmem puts into an index folder; besides these only unfinished files that end with `.tmp`."""

_EXCLUDE: Final = f"/{INDEX_NAME}/"
_RETRIES: Final = 3


class Workspace(NamedTuple):
    """A repository, the settings in force and the place of its index."""

    location: Location
    settings: Settings
    paths: IndexPaths

    @property
    def in_worktree(self) -> bool:
        """Whether the index stands in the working tree (and not in the git directory)."""
        return self.paths.root.name == INDEX_NAME


def open_workspace(path: Path, environment: Mapping[str, str]) -> Workspace:
    """Find the repository of a path; the index need not exist. Raises NotARepository, ConfigError."""
    location = locate(path)
    settings = parse_settings(((entry.key, entry.value, entry.scope) for entry in read_config(location)), environment)
    home = main_worktree(location)
    root = home / INDEX_NAME if home and home.is_dir() else location.common_dir / INDEX_NAME.lstrip(".")
    return Workspace(location, settings, IndexPaths(root))


def find_index(workspace: Workspace) -> Manifest | None:
    """Read the manifest; None where there is no index yet, or only the beginning of one.

    Raises: UnsafeIndex where the index is not ours to read, DamagedFile, NewerFormat.
    """
    if not _require_own_index(workspace.paths):
        return None
    require_untracked(workspace)
    inside = read_file(workspace.paths.root / _MARK, 64)
    outside = read_file(workspace.location.common_dir / _MARK, 64)
    if inside is None and not workspace.paths.manifest.exists():
        return None
    if inside is None or inside != outside:
        raise UnsafeIndex(
            f"`{workspace.paths.root}` was not made by gitmem in this repository",
            hint=f"remove it and run `gitmem init`: rm -r {workspace.paths.root}",
        )
    return find_manifest(workspace.paths.manifest)


def is_our_index(workspace: Workspace) -> bool:
    """Whether there is an index folder, in whatever state, that gitmem made in this repository. Raises UnsafeIndex."""
    inside = read_file(workspace.paths.root / _MARK, 64) if _require_own_index(workspace.paths) else None
    return inside is not None and inside == read_file(workspace.location.common_dir / _MARK, 64)


def _require_own_index(paths: IndexPaths) -> bool:
    """Whether the index folder is there; refuse one that is a link or another user's, in whole or in part."""
    found = require_own_folder(paths.root)
    for folder in paths.folders if found else ():
        require_own_folder(folder)
    return found


def require_index(workspace: Workspace) -> Manifest:
    """Like `find_index`, but an index must be there. Raises NoIndex too."""
    manifest = find_index(workspace)
    if manifest is None:
        raise NoIndex("this repository has no index yet")
    return manifest


def create_index(workspace: Workspace, *, wait: bool = True, on_wait: Callable[[], None] = lambda: None) -> bool:
    """Make the index folder, hidden from git; False where it stands already.

    What must be written is written under the lock, so that of several first runs none meets the half-made files of
    another. Raises UnsafeIndex, StorageFailed, and Busy where another process writes and `wait` is off.
    """
    paths = workspace.paths
    require_untracked(workspace)
    fresh = not _require_own_index(paths)
    if fresh or not _is_set_up(workspace):
        if not fresh and not (paths.root / _MARK).exists():
            _require_empty_but_ours(paths)
        make_folder(paths.root)
        with writer_lock(paths.lock, wait=wait, on_wait=on_wait):
            _set_up(workspace)
    return fresh


def _is_set_up(workspace: Workspace) -> bool:
    """Whether nothing is left to be made. Raises UnsafeIndex where the index is another repository's."""
    paths = workspace.paths
    inside = read_file(paths.root / _MARK, 64)
    if inside is not None and inside != read_file(workspace.location.common_dir / _MARK, 64):
        raise UnsafeIndex(
            f"`{paths.root}` was not made by gitmem in this repository",
            hint=f"remove it and run `gitmem init`: rm -r {paths.root}",
        )
    made = inside is not None and paths.ignore.exists() and all(folder.is_dir() for folder in paths.folders)
    return made and not (workspace.in_worktree and lacks_exclude(workspace.location, _EXCLUDE))


def _set_up(workspace: Workspace) -> None:
    """Make what is not there. The token inside comes last: with it the index is ours, and all else durable."""
    paths = workspace.paths
    sync_folder(paths.root.parent)  # who made the folder, or the token, may have been killed before it was durable
    for folder in paths.folders:
        make_folder(folder)
    if not paths.ignore.exists():
        write_atomic(paths.ignore, [b"*\n"])
    if workspace.in_worktree:
        add_exclude(workspace.location, _EXCLUDE)
    if read_file(paths.root / _MARK, 64) is None:
        write_atomic(paths.root / _MARK, [_make_token(workspace.location.common_dir / _MARK)])


def _make_token(file: Path) -> bytes:
    """The token inside the git directory, made where there is none, and durable."""
    write_once(file, os.urandom(16).hex().encode())
    return read_file(file, 64) or b""


def _require_empty_but_ours(paths: IndexPaths) -> None:
    """A folder without a token may only hold what an interrupted first run leaves behind."""
    known = {"segments", "views", "graph", "state", "lock", ".gitignore"}
    strange = sorted(entry.name for entry in paths.root.iterdir() if entry.name not in known)
    if [name for name in strange if not name.endswith(".tmp")]:
        raise UnsafeIndex(
            f"`{paths.root}` holds `{strange[0]}`, which gitmem did not put there",
            hint=f"move it away and run `gitmem init`: {paths.root}",
        )


def require_untracked(workspace: Workspace) -> None:
    """Refuse an index folder that git tracks. Raises UnsafeIndex."""
    if workspace.in_worktree and is_tracked(_main_location(workspace), INDEX_NAME):
        raise UnsafeIndex(
            f"`{INDEX_NAME}` is tracked by git in this repository, so gitmem does not read it",
            hint=f"git rm -r --cached {INDEX_NAME}, commit, then remove the folder and run `gitmem init`",
        )


def _main_location(workspace: Workspace) -> Location:
    """The working tree the index stands in; a linked one shares it."""
    home = workspace.paths.root.parent
    return workspace.location if workspace.location.worktree == home else locate(home)


def remove_index(workspace: Workspace) -> bool:
    """Take out everything gitmem put beside or into the repository; False where there was nothing."""
    found = require_own_folder(workspace.paths.root)
    if found:
        remove_tree(workspace.paths.root)
    remove_file(workspace.location.common_dir / MEMORY_LOCK)
    remove_file(workspace.location.common_dir / PURGING)
    remove_file(workspace.location.common_dir / _MARK)
    remove_file(workspace.location.git_dir / STARTING)
    excluded = workspace.in_worktree and remove_exclude(workspace.location, _EXCLUDE)
    return found or excluded


def open_snapshot(workspace: Workspace, manifest: Manifest) -> "Snapshot":
    """Open the segments of a generation. Where a writer has replaced them meanwhile, its generation is opened."""
    from gitmem.store.snapshot import Snapshot

    snapshot = Snapshot(workspace.paths, manifest)
    for _ in range(_RETRIES):
        if not snapshot.lost:
            break
        newer = find_manifest(workspace.paths.manifest)
        if newer is None or newer.generation == snapshot.manifest.generation:
            break
        snapshot = Snapshot(workspace.paths, newer)
    return snapshot


def is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or in its parent where it does not exist yet."""
    return os.access(folder if folder.exists() else folder.parent, os.W_OK)
