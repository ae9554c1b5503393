"""Take out everything gitmem put beside or into a repository, whatever state it is in."""

from typing import NamedTuple

from gitmem.errors import UnsafeIndex
from gitmem.fsio import require_own_folder, writer_lock
from gitmem.install.hooks import uninstall_hooks
from gitmem.workspace import OWN_NAMES, Workspace, remove_index, require_untracked


class Removed(NamedTuple):
    """What there was to be removed."""

    index_gone: bool
    hooks_gone: bool


def uninstall(workspace: Workspace) -> Removed:
    """Remove the hooks, so that nothing new is started, then the index.

    Raises: UnsafeIndex where the folder is a link, another user's, tracked by git or holds what gitmem never wrote,
    Busy where another process is writing it, StorageFailed, GitFailed.
    """
    hooks = uninstall_hooks(workspace.location)
    return Removed(_remove_index(workspace), hooks)


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
    with writer_lock(workspace.paths.lock, wait=False):
        return remove_index(workspace)
