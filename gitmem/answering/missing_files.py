"""Index the files that a tree has and the index lacks, before a query is answered."""

from collections.abc import Callable

from gitmem.errors import Busy, ProviderFailed, StorageFailed
from gitmem.freshness.tree_selection import SelectedTree
from gitmem.indexing.overlay import Overlay
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace, is_writable, open_snapshot


def index_missing(
    workspace: Workspace,
    tree: SelectedTree,
    overlay: Overlay,
    snapshot: Snapshot,
    deadline: float,
    is_cancelled: Callable[[], bool],
) -> tuple[Snapshot, str]:
    """Index what the tree has and the index lacks; return the index afterwards, and a note if that failed, else ""."""
    # Nothing missing is the common case; it must not take the lock nor load the worker pool.
    if not (snapshot.match(overlay.view) == -1).any():
        return snapshot, ""
    if not is_writable(workspace.paths.segments):
        return snapshot, f"`{workspace.paths.root}` cannot be written, so nothing new is indexed"
    from gitmem.freshness.cancellation import resume_command
    from gitmem.freshness.heal import heal

    try:
        resume = resume_command(tree.revision.name if tree.named else "")
        manifest = heal(
            workspace,
            overlay.view,
            overlay.files,
            deadline=deadline,
            wait=tree.named,
            resume=resume,
            is_cancelled=is_cancelled,
        )
    except (Busy, StorageFailed, ProviderFailed) as problem:
        return snapshot, problem.message
    return (snapshot if manifest is None else open_snapshot(workspace, manifest)), ""
