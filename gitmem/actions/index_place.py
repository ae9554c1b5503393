"""Choose the place of a shared index: the refs of a remote, a folder, or a bucket."""

from pathlib import Path

from gitmem.actions.index_objects import IndexObjects, ObjectStore
from gitmem.actions.index_refs import IndexRefs, group_of
from gitmem.actions.object_bucket import SCHEMES, ObjectBucket
from gitmem.actions.object_folder import ObjectFolder
from gitmem.errors import UsageError
from gitmem.git.remotes import find_remote
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.records.sharing import own_writer
from gitmem.workspace import Workspace


def select_store(workspace: Workspace, remote: str, store: str) -> str:
    """Return the store to use, "" for the refs of a remote: a named remote has precedence over the setting."""
    return store or ("" if remote else workspace.settings.index_store)


def open_place(workspace: Workspace, remote: str, store: str, *, pushes: bool) -> IndexRefs | IndexObjects:
    """Open the place for the version of chunker and model in use. Raises: UsageError, GitFailed, StorageFailed."""
    location = workspace.location
    group = group_of(current_fingerprint(workspace.settings))
    chosen = select_store(workspace, remote, store)
    if not chosen:
        return IndexRefs(location, find_remote(location, remote), group, pushes=pushes)
    return IndexObjects(_open_store(workspace, chosen), group, own_writer(location) if pushes else "")


def _open_store(workspace: Workspace, name: str) -> ObjectStore:
    if name.startswith(SCHEMES):
        return ObjectBucket(name)
    if "://" in name:
        raise UsageError(f"unknown kind of store: `{name}`", hint=f"a folder, or {', '.join(SCHEMES)}")
    # Like a relative URL of a remote, a relative folder starts at the top of the working tree.
    root = workspace.location.worktree or workspace.location.git_dir
    return ObjectFolder(root / Path(name).expanduser())
