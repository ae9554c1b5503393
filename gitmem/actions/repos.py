"""`gitmem repos`: register, rename and remove the repositories of this user, and drop the chunks of a run."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from gitmem.actions.uninstall import remove_own_index
from gitmem.errors import UsageError
from gitmem.freshness.index_runs import forget_run, read_blobs
from gitmem.git.plain_folders import forget_plain_folder
from gitmem.git.remote_clone import forget_clone
from gitmem.indexing.garbage import remove_blobs
from gitmem.indexing.index_writer import open_index_writer
from gitmem.named_tuple import NamedTuple
from gitmem.records.removal import count_records, remove_memory
from gitmem.registry import KnownRepository, add_repository, find_repository, read_registry, remove_repository
from gitmem.workspace import Workspace, open_workspace, registered_folder, require_index


class RemovedRepository(NamedTuple):
    """What `remove` deleted. `kept` records are still in git; `left` objects of the memory could not be removed."""

    known: KnownRepository
    had_index: bool = False
    kept: int = 0
    removed: int = 0
    left: int = 0


class DroppedRun(NamedTuple):
    """Number of files and chunks that left the index with a run."""

    blobs: int
    chunks: int


def enter_repository(workspace: Workspace, environment: Mapping[str, str], name: str = "") -> KnownRepository | None:
    """Register a repository by its main working tree, or a bare one's folder; return None without a registry.

    Raises: UsageError if the name is invalid or taken, StorageFailed.
    """
    return add_repository(environment, registered_folder(workspace), name)


def get_repository(environment: Mapping[str, str], name_or_path: str) -> KnownRepository:
    """Return a registered repository. Raises: UsageError."""
    known = find_repository(environment, name_or_path)
    if known is None:
        raise UsageError(f"unknown repository `{name_or_path}`", hint="gitmem repos list")
    return known


def count_memory(known: KnownRepository, environment: Mapping[str, str]) -> int:
    """Return the number of records of a repository; 0 if its folder is missing. Raises: NotARepository."""
    return count_records(open_workspace(known.path, environment)) if known.path.is_dir() else 0


def remove_known(known: KnownRepository, environment: Mapping[str, str], *, all_data: bool) -> RemovedRepository:
    """Delete the index of a repository, with `all_data` its memory too, and its entry in the registry.

    The entry goes last, so that an interrupted removal can be repeated. A missing folder loses only its entry.

    Raises: NotARepository, UnsafeIndex, Busy, StorageFailed, GitFailed, DamagedFile.
    """
    # The index before the memory: if the memory cannot be removed, the entry stays and the command can be repeated.
    removed = RemovedRepository(known)
    if known.path.is_dir():
        workspace = open_workspace(known.path, environment)
        records = count_records(workspace)
        removed = removed._replace(had_index=remove_own_index(workspace), kept=records)
        if all_data and records:
            removed = removed._replace(kept=0, removed=records, left=remove_memory(workspace).left)
    if not removed.left:
        _forget_git_dir(known.path, environment, all_data=all_data)
    remove_repository(environment, str(known.path))
    return removed


def prune_registry(environment: Mapping[str, str]) -> list[KnownRepository]:
    """Remove the entries of repositories whose folders are missing, and return them. Raises: StorageFailed."""
    # Only the folder counts: a repository without an index may still be wanted.
    missing = [known for known in read_registry(environment) if not known.path.is_dir()]
    for known in missing:
        _forget_git_dir(known.path, environment, all_data=False)
    return [known for known in missing if remove_repository(environment, str(known.path))]


def _forget_git_dir(path: Path, environment: Mapping[str, str], *, all_data: bool) -> None:
    """Remove the git directory that gitmem made for a plain folder, or the clone that it made of a URL."""
    forget_plain_folder(path, environment, all_data=all_data)
    forget_clone(path, environment, all_data=all_data)


def drop_run(workspace: Workspace, at: str) -> DroppedRun:
    """Remove the chunks that a logged run embedded, and the run from the log. The next run embeds them again.

    Raises: NoIndex, UsageError for an unknown run, Busy, DamagedFile, StorageFailed.
    """
    require_index(workspace)
    paths = workspace.paths
    with open_index_writer(paths, wait=True) as writer:
        manifest, blobs = require_index(workspace), read_blobs(paths, at)
        if blobs is None:
            folder = quote(str(registered_folder(workspace)))
            raise UsageError(f"no run at `{at}` in the log", hint=f"gitmem repos runs {folder}")
        # Views that have one of the blobs leave the manifest too, so the next run compares their trees with the index.
        rest = remove_blobs(paths, manifest, blobs)
        # The index first: a process that is killed in between leaves a run that can be dropped again.
        writer.publish(rest.manifest)
        forget_run(paths, at)
    return DroppedRun(rest.blobs, rest.chunks)
