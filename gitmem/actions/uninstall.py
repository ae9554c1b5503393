"""Take out everything gitmem put beside or into a repository, whatever state it is in."""

from collections.abc import Mapping
from typing import NamedTuple

from gitmem.actions.cancel import cancel
from gitmem.actions.install import uninstall_clients
from gitmem.actions.repos import forget_repository
from gitmem.errors import Busy, UnsafeIndex
from gitmem.freshness.cancellation import read_run
from gitmem.fsio import require_own_folder
from gitmem.install.hook_setup import uninstall_hooks
from gitmem.locks import writer_lock
from gitmem.workspace import OWN_NAMES, Workspace, remove_index, require_untracked


class Removed(NamedTuple):
    """What there was to be removed: `files` had an entry for a client, `problems` name those that still have it."""

    index_gone: bool
    hooks_gone: bool
    files: list[str]
    problems: list[str]


def uninstall(workspace: Workspace, environment: Mapping[str, str]) -> Removed:
    """Remove the hooks and the entries of clients, so that nothing new is started, then the index.

    Raises: UnsafeIndex where the folder is a link, another user's, tracked by git or holds what gitmem never wrote,
    Busy where another process writes it and does not stop when it is asked to, StorageFailed, GitFailed. A process in
    the background that comes later finds no index and makes none.
    """
    hooks = uninstall_hooks(workspace.location)
    removed = _remove_index(workspace)
    files, problems = uninstall_clients(workspace)
    forget_repository(environment, str(workspace.paths.root.parent))
    return Removed(removed, hooks, files, problems)


def _remove_index(workspace: Workspace) -> bool:
    require_untracked(workspace)
    root = workspace.paths.root
    if not require_own_folder(root):
        return remove_index(workspace)
    strange = sorted(entry.name for entry in root.iterdir() if entry.name not in OWN_NAMES)
    strange = [name for name in strange if not name.endswith(".tmp")]
    if strange:
        raise UnsafeIndex(
            f"`{root}` holds `{strange[0]}`, which gitmem did not put there",
            hint=f"move it away, or remove the folder yourself: rm -r {root}",
        )
    try:
        with writer_lock(workspace.paths.lock, wait=False):
            return remove_index(workspace)
    except Busy:
        if read_run(workspace.paths) is None:
            raise
        cancel(workspace)  # what that run still had to do is not wanted any more
    with writer_lock(workspace.paths.lock, wait=True):
        return remove_index(workspace)
