"""`gitmem uninstall`: remove everything gitmem added to a repository, whatever its state."""

from collections.abc import Mapping
from contextlib import ExitStack

from gitmem.actions.cancel import cancel
from gitmem.actions.index_refs import forget_fetched
from gitmem.actions.install import Installer
from gitmem.errors import Busy, UnsafeIndex
from gitmem.freshness.cancellation import read_run
from gitmem.fsio import require_own_folder
from gitmem.git.plain_folders import forget_plain_folder
from gitmem.install.hook_setup import find_callers, uninstall_hooks
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths
from gitmem.registry import remove_repository
from gitmem.workspace import OWN_NAMES, Workspace, registered_folder, remove_index, require_untracked


class Removed(NamedTuple):
    """Removed items. `files` are the changed files of clients, `problems` name those that could not be changed.

    `callers` are files of other programs that call gitmem: the user added the lines.
    """

    index_gone: bool
    hooks_gone: bool
    files: list[str]
    problems: list[str]
    callers: list[str]


def uninstall(workspace: Workspace, environment: Mapping[str, str]) -> Removed:
    """Remove the hooks, the index and the entries in clients' files.

    The hooks go first, so that nothing new starts. A background process that starts later finds no index and creates
    none.

    Raises: UnsafeIndex if the folder is a link, belongs to another user, is tracked by git or contains foreign files;
    Busy if another process writes it and does not stop on request; StorageFailed, GitFailed.
    """
    hooks = uninstall_hooks(workspace.location)
    removed = remove_own_index(workspace)
    forget_fetched(workspace.location)
    files, problems = Installer(workspace.location, environment).uninstall()
    location = workspace.location
    root = registered_folder(workspace)
    if location.plain:
        forget_plain_folder(root, environment, all_data=False)
    remove_repository(environment, str(root))
    callers = [str(file) for file in find_callers(workspace.location)]
    return Removed(removed, hooks, files, problems, callers)


def remove_own_index(workspace: Workspace) -> bool:
    """Remove the index; return False if there was none. A run that writes it is stopped.

    Raises: UnsafeIndex, Busy, StorageFailed.
    """
    require_untracked(workspace)
    root = workspace.paths.root
    # No folder: only the other traces of the index are left to remove.
    if not require_own_folder(root):
        return remove_index(workspace)
    # Never delete a file that gitmem did not write: the user may have put something of value there.
    foreign = sorted(entry.name for entry in root.iterdir() if entry.name not in OWN_NAMES)
    foreign = [name for name in foreign if not name.endswith(".tmp")]
    if foreign:
        raise UnsafeIndex(
            f"`{root}` contains `{foreign[0]}`, which gitmem did not write",
            hint=f"move it away, or remove the folder yourself: rm -r {root}",
        )
    # Without the locks a running writer could create files in a folder that is being removed. The innermost index comes
    # first: `cancel` looks for a run from the outermost on, and finds the locks of this process taken.
    with ExitStack() as locks:
        for paths in (workspace.paths.past, workspace.paths.history, workspace.paths):
            if paths.root.is_dir():
                _take_lock(workspace, paths, locks)
        return remove_index(workspace)


def _take_lock(workspace: Workspace, paths: IndexPaths, locks: ExitStack) -> None:
    """Take the lock of an index; a run that writes it is stopped. Raises Busy."""
    try:
        locks.enter_context(writer_lock(paths.lock, wait=False))
    except Busy:
        if read_run(paths) is None:
            raise
        cancel(workspace)  # the index that this run writes is about to be removed
        locks.enter_context(writer_lock(paths.lock, wait=True))
