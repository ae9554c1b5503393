"""Take out everything gitmem put beside or into a repository, whatever state it is in."""

from gitmem.errors import UnsafeIndex
from gitmem.fsio import require_own_folder, writer_lock
from gitmem.workspace import OWN_NAMES, Workspace, remove_index, require_untracked


def uninstall(workspace: Workspace) -> bool:
    """Remove the index; False where there was none.

    Raises: UnsafeIndex where the folder is a link, another user's, tracked by git or holds what gitmem never wrote,
    Busy where another process is writing it, StorageFailed.
    """
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
