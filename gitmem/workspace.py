"""A repository and its index: locate, create, check and remove the index.

The index is `.gitmem/` at the root of the main working tree. Without one it is `gitmem/` in the common
git directory. An index is read only if gitmem made it in this repository: a token in it must equal a token in the
git directory, which a clone does not copy. A folder `.gitmem/` that somebody else committed is therefore never read.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.content_rules import MAX_TEAM_BYTES, TEAM_FILE, ContentRules, parse_team_file
from gitmem.errors import ConfigError, NoIndex, UnsafeIndex
from gitmem.events import distrust_index, hide, select_level, trust_index
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
from gitmem.git.locate import RepositoryLocation, locate, main_worktree
from gitmem.git.status_shortcuts import parse_shortcuts
from gitmem.git.tracking import add_exclude, is_tracked, lacks_exclude, remove_exclude
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.paths import (
    EXCHANGING,
    INDEX_NAME,
    MEMORY_LOCK,
    PURGING,
    PUSHING,
    SHARED,
    SHARING,
    SHARING_WANTED,
    STARTING,
    IndexPaths,
)
from gitmem.settings import PREFIX, Settings, parse_settings
from gitmem.store.manifest import Manifest, find_manifest

if TYPE_CHECKING:
    from gitmem.store.snapshot import Snapshot

_MADE_HERE: Final = "gitmem-made-here"
"""File with the token, in the index folder and in the common git directory."""

OWN_NAMES: Final = frozenset(
    {"segments", "views", "graph", "vectors", "logs", "state", "history", "lock", "manifest", ".gitignore", _MADE_HERE}
)
"""Names that gitmem creates in an index folder, besides temporary files, which end with `.tmp`."""

_EXCLUDE: Final = f"/{INDEX_NAME}/"
_RETRIES: Final = 3
"""Number of generations that are tried if a writer removes segments while they are opened."""


class Workspace(NamedTuple):
    """Repository, effective settings, and paths of its index."""

    location: RepositoryLocation
    settings: Settings
    paths: IndexPaths

    @property
    def in_worktree(self) -> bool:
        """Return whether the index is in the working tree, not in the git directory."""
        return self.paths.root.name == INDEX_NAME


def read_user_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings of the user, outside any repository. Raises: ConfigError."""
    entries = read_config(None, Path("/"))
    return parse_settings((entry for entry in entries if entry.key.startswith(PREFIX)), environment)


def open_workspace(path: Path, environment: Mapping[str, str]) -> Workspace:
    """Find the repository of a path; its index need not exist. Raises: NotARepository, ConfigError, StorageFailed."""
    location = locate(path)
    entries = read_config(location)
    settings = parse_settings((entry for entry in entries if entry.key.startswith(PREFIX)), environment)
    # For the whole process: only the user's own configuration can set the level.
    select_level(settings.log)
    hide(settings.openai_key, settings.provider_key)
    rules = ContentRules(settings.include, settings.exclude, settings.languages)
    location = location._replace(shortcuts=parse_shortcuts(entries), content=rules)
    check_languages(rules.languages, "gitmem.languages")
    check_team_file(location)
    home = main_worktree(location)
    root = home / INDEX_NAME if home and home.is_dir() else location.common_dir / INDEX_NAME.lstrip(".")
    return Workspace(location, settings, IndexPaths(root))


def registered_folder(workspace: Workspace) -> Path:
    """Return the folder by which a repository is listed: its main working tree; of a bare one, its git directory."""
    location = workspace.location
    if workspace.in_worktree:
        return workspace.paths.root.parent
    if location.worktree is not None and not location.linked:
        return location.worktree  # of a submodule or a plain folder, whose git directory is elsewhere
    # A linked working tree of one of these, or of a bare repository.
    main = locate(workspace.paths.root.parent)
    return main.worktree or main.git_dir


def check_team_file(location: RepositoryLocation) -> None:
    """Raise ConfigError if the working tree has an invalid `.gitmem.toml`, before anything is written by its rules."""
    file = location.worktree / TEAM_FILE if location.worktree else None
    # Git does not follow a link in its place either, so neither does the check.
    if file is not None and file.is_file() and not file.is_symlink():
        rules = parse_team_file(read_file(file, MAX_TEAM_BYTES) or b"", str(file))
        check_languages(rules.languages, str(file))


def check_languages(names: Iterable[str], place: str) -> None:
    """Raise ConfigError for an unknown language. `place` is where the names are, for the message."""
    for name in names:
        from gitmem.chunking.languages import LANGUAGES, language_named  # few users restrict languages

        if language_named(name) not in LANGUAGES:
            from gitmem.suggestions import find_similar_name

            similar = find_similar_name(name, LANGUAGES)
            advice = f"did you mean `{similar}`?" if similar else "for example python, ts or c++"
            raise ConfigError(f"unknown language `{name}` in `{place}`", hint=advice)


def find_index(workspace: Workspace) -> Manifest | None:
    """Read the manifest; return None without an index, or with one whose creation was interrupted.

    Raises: UnsafeIndex if gitmem did not make the index in this repository, DamagedFile, NewerFormat.
    """
    root = workspace.paths.root
    try:
        is_ours = _is_made_here(workspace)
    except UnsafeIndex:
        distrust_index(root)
        raise
    if not is_ours:
        return None
    # Only now: events written into the folder of a stranger could end in any file that its links name.
    trust_index(root)
    return find_manifest(workspace.paths.manifest)


def _is_made_here(workspace: Workspace) -> bool:
    """Return whether there is an index; False for an unfinished one. Raises: UnsafeIndex if it is not of gitmem."""
    if not _require_own_index(workspace.paths):
        return False
    require_untracked(workspace)
    inside = read_file(workspace.paths.root / _MADE_HERE, 64)
    outside = read_file(workspace.location.common_dir / _MADE_HERE, 64)
    # The token in the folder is written last, so a folder without it and without a manifest is unfinished.
    if inside is None and not workspace.paths.manifest.exists():
        return False
    if inside is None or inside != outside:
        raise _not_made_here(workspace.paths)
    return True


def is_our_index(workspace: Workspace) -> bool:
    """Return whether an index folder exists that gitmem made in this repository, in any state. Raises: UnsafeIndex."""
    inside = read_file(workspace.paths.root / _MADE_HERE, 64) if _require_own_index(workspace.paths) else None
    return inside is not None and inside == read_file(workspace.location.common_dir / _MADE_HERE, 64)


def _require_own_index(paths: IndexPaths) -> bool:
    """Return whether the index folder exists. Raises: UnsafeIndex if any folder of it is a link or another user's."""
    exists = require_own_folder(paths.root)
    for folder in paths.folders if exists else ():
        require_own_folder(folder)
    return exists


def require_index(workspace: Workspace) -> Manifest:
    """Read the manifest like `find_index`, but raise NoIndex if there is none."""
    manifest = find_index(workspace)
    if manifest is None:
        raise NoIndex("this repository has no index yet")
    return manifest


def create_index(workspace: Workspace, *, wait: bool = True, on_wait: Callable[[], None] = lambda: None) -> bool:
    """Create the index folder, hidden from git; return False if it exists.

    Everything is written under the lock, so that of several first runs none meets unfinished files of another.

    Raises: UnsafeIndex, StorageFailed, and Busy if another process writes and `wait` is off.
    """
    paths = workspace.paths
    require_untracked(workspace)
    # Checked without the lock first: nearly every call finds the folder complete.
    is_new = not _require_own_index(paths)
    if is_new or not _is_set_up(workspace):
        if not is_new:
            _require_only_leftovers(paths)
        make_folder(paths.root)
        with writer_lock(paths.lock, wait=wait, on_wait=on_wait):
            _set_up(workspace)
    trust_index(paths.root)
    return is_new


def _is_set_up(workspace: Workspace) -> bool:
    """Return whether the folder is complete. Raises: UnsafeIndex if it was made in another repository."""
    paths = workspace.paths
    inside = read_file(paths.root / _MADE_HERE, 64)
    if inside is not None and inside != read_file(workspace.location.common_dir / _MADE_HERE, 64):
        raise _not_made_here(paths)
    is_complete = inside is not None and paths.ignore.exists() and all(folder.is_dir() for folder in paths.folders)
    return is_complete and not (workspace.in_worktree and lacks_exclude(workspace.location, _EXCLUDE))


def _not_made_here(paths: IndexPaths) -> UnsafeIndex:
    return UnsafeIndex(
        f"`{paths.root}` was not made by gitmem in this repository",
        hint=f"remove it and run `gitmem init`: rm -r {paths.root}",
    )


def _set_up(workspace: Workspace) -> None:
    """Create the missing parts. The token in the folder comes last: it makes the index ours, with all else durable."""
    paths = workspace.paths
    # A process that was killed may have created the folder without making its name durable.
    sync_folder(paths.root.parent)
    for folder in paths.folders:
        make_folder(folder)
    if not paths.ignore.exists():
        write_atomic(paths.ignore, [b"*\n"])
    if workspace.in_worktree:
        add_exclude(workspace.location, _EXCLUDE)
    if read_file(paths.root / _MADE_HERE, 64) is None:
        write_atomic(paths.root / _MADE_HERE, [_make_token(workspace.location.common_dir / _MADE_HERE)])


def _make_token(file: Path) -> bytes:
    """Return the token of the git directory; create it, durably, if it is missing."""
    write_once(file, os.urandom(16).hex().encode())
    return read_file(file, 64) or b""


def _require_only_leftovers(paths: IndexPaths) -> None:
    """Raise UnsafeIndex if a folder without a token holds anything but leftovers of an interrupted first run."""
    known = {"segments", "views", "graph", "state", "lock", ".gitignore"}
    foreign = sorted(entry.name for entry in paths.root.iterdir() if entry.name not in known)
    # The token is looked for after the list is made: a first run that ends in between has written both by then.
    if [name for name in foreign if not name.endswith(".tmp")] and not (paths.root / _MADE_HERE).exists():
        raise UnsafeIndex(
            f"`{paths.root}` holds `{foreign[0]}`, which gitmem did not write",
            hint=f"move it away and run `gitmem init`: {paths.root}",
        )


def require_untracked(workspace: Workspace) -> None:
    """Raise UnsafeIndex if git tracks the index folder: a commit could then supply its content."""
    if workspace.in_worktree and is_tracked(_main_location(workspace), INDEX_NAME):
        raise UnsafeIndex(
            f"`{INDEX_NAME}` is tracked by git in this repository, so gitmem does not read it",
            hint=f"git rm -r --cached {INDEX_NAME}, commit, then remove the folder and run `gitmem init`",
        )


def _main_location(workspace: Workspace) -> RepositoryLocation:
    """Return the location of the main working tree, which contains the index of linked ones too."""
    home = workspace.paths.root.parent
    return workspace.location if workspace.location.worktree == home else locate(home)


def remove_index(workspace: Workspace) -> bool:
    """Remove the index and gitmem's files in the git directory; return False if there was nothing to remove."""
    exists = require_own_folder(workspace.paths.root)
    if exists:
        remove_tree(workspace.paths.root)
    for name in (MEMORY_LOCK, EXCHANGING, SHARING, SHARING_WANTED, SHARED):
        remove_file(workspace.location.common_dir / name)
    remove_file(workspace.location.common_dir / PURGING)
    remove_file(workspace.location.common_dir / _MADE_HERE)
    for name in (STARTING, PUSHING):
        remove_file(workspace.location.git_dir / name)
    excluded = workspace.in_worktree and remove_exclude(workspace.location, _EXCLUDE)
    return exists or excluded


def read_dimensions(workspace: Workspace) -> int:
    """Return the length of the vectors in the index, 0 without any. Raises: as `find_index`."""
    manifest = find_index(workspace)
    return open_snapshot(workspace, manifest).dimensions if manifest is not None else 0


def open_snapshot(workspace: Workspace, manifest: Manifest) -> "Snapshot":
    """Open the segments of a generation, or of a newer one if a writer has replaced them meanwhile."""
    # Imported here: it needs numpy, which `gitmem index` with nothing to do and the hook must not load.
    from gitmem.store.snapshot import Snapshot

    snapshot = Snapshot(workspace.paths, manifest)
    # A segment is lost if a writer removed it after the manifest was read.
    for _ in range(_RETRIES):
        if not snapshot.lost:
            break
        newer = find_manifest(workspace.paths.manifest)
        if newer is None or newer.generation == snapshot.manifest.generation:
            break
        snapshot = Snapshot(workspace.paths, newer)
    return snapshot


def is_writable(folder: Path) -> bool:
    """Return whether files can be created in a folder, or in its parent if it does not exist yet."""
    return os.access(folder if folder.exists() else folder.parent, os.W_OK)
