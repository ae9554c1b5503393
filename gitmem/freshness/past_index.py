"""The index of the code of the past: where it is, and whether there is one. Imports little; `past_run` builds it."""

from gitmem.freshness.commit_index import RESUME
from gitmem.fsio import require_own_folder
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.settings import Settings
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.workspace import Workspace

__all__ = ["RESUME", "find_past", "of_past", "past_fingerprint"]

_VERSION = 6
"""Version of the rows that are kept, and of the records of chunks: increase it when they change."""


def past_fingerprint(settings: Settings) -> str:
    """Return a name for everything that a row of the past depends on besides its blob and language."""
    return f"past{_VERSION}.{current_fingerprint(settings)}"


def of_past(workspace: Workspace) -> Workspace:
    """Return the workspace with the index of the past in the place of its own."""
    return workspace._replace(paths=workspace.paths.past)


def find_past(workspace: Workspace) -> Manifest | None:
    """Read the manifest of the index of the past; None if it was never built.

    The index that contains it has been found to be ours. Raises: UnsafeIndex, DamagedFile, NewerFormat.
    """
    paths = workspace.paths.past
    if not require_own_folder(workspace.paths.history.root) or not require_own_folder(paths.root):
        return None
    for folder in paths.folders:
        require_own_folder(folder)
    return find_manifest(paths.manifest)
