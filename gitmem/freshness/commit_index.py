"""The index of commit messages: where it is, and whether there is one. Imports little; `commit_run` builds it.

It is an index of its own below the index folder, `.gitmem/history/`, with the same files, lock and guarantees. So it
adds nothing to searches of code.
"""

from typing import Final

from gitmem.fsio import require_own_folder
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.workspace import Workspace

RESUME: Final = "gitmem index --history"
"""Command that builds the index, and continues a stopped run."""

PROVIDER_PROBLEM: Final = "commit messages are indexed with the bundled model alone, and that of the code is another"
"""Why there is no index of messages next to one that a provider embedded: a query has one vector for both."""


def of_history(workspace: Workspace) -> Workspace:
    """Return the workspace with the index of the history in the place of its own."""
    return workspace._replace(paths=workspace.paths.history)


def find_history(workspace: Workspace) -> Manifest | None:
    """Read the manifest of the index of the history; None if it was never built.

    The index that contains it has been found to be ours. Raises: UnsafeIndex, DamagedFile, NewerFormat.
    """
    paths = workspace.paths.history
    if not require_own_folder(paths.root):
        return None
    for folder in paths.folders:
        require_own_folder(folder)
    return find_manifest(paths.manifest)
