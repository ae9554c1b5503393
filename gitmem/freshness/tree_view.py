"""Open the view of a selected tree: the view of its revision under the uncommitted changes."""

import math
from contextlib import suppress

from gitmem.errors import StorageFailed
from gitmem.freshness.tree_selection import WORKTREE, SelectedTree
from gitmem.indexing.overlay import Overlay
from gitmem.indexing.views import open_view
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, is_writable


def open_tree(
    workspace: Workspace, tree: SelectedTree, manifest: Manifest, *, deadline: float = math.inf, write: bool = True
) -> Overlay:
    """Return the view of a tree under its uncommitted changes.

    The ids of changed files are recorded for the next command, so that unchanged files are not hashed again. Hashing
    stops at the deadline (`time.monotonic`). Nothing is written without `write` or on a read-only file system.

    Raises: GitFailed.
    """
    location, paths = workspace.location, workspace.paths
    keep = write and is_writable(paths.views)
    latest = manifest.views[-1] if manifest.views else ""
    base = open_view(location, paths, tree.revision.tree, base=latest, keep=keep)
    recorded = tree.source == WORKTREE and not tree.problem
    place = paths.uncommitted(location.worktree_id)
    if not tree.entries and not (recorded and place.exists()):
        return Overlay(base)
    # A clean tree needs neither the rules of ignore files nor the record of uncommitted files.
    from gitmem.indexing.uncommitted_views import build_overlay
    from gitmem.store.uncommitted_ids import EMPTY, read_uncommitted, write_uncommitted

    known = read_uncommitted(place) if recorded else EMPTY
    most = workspace.settings.max_file_bytes
    overlay = build_overlay(location, paths, base, tree.entries, known, max_bytes=most, deadline=deadline, keep=keep)
    if overlay.uncommitted is not None and overlay.uncommitted != known and recorded and keep:
        with suppress(StorageFailed):
            write_uncommitted(place, overlay.uncommitted)
    return overlay
