"""The manifest that a search needs: one that today's model and settings made."""

from gitmem.errors import NoIndex
from gitmem.freshness.tree_selection import SelectedTree
from gitmem.indexing.fingerprint import is_made_with
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, require_index


def require_fingerprint(
    workspace: Workspace, tree: SelectedTree, manifest: Manifest, *, refresh: bool
) -> tuple[Manifest, str]:
    """Return a manifest of today's model and settings, and a note if the index had to be rebuilt for it, else "".

    Raises: NoIndex without `refresh`.
    """
    if is_made_with(manifest.fingerprint, workspace.settings):
        return manifest, ""
    reason = "the index was made by another version, with another model or other settings"
    if not refresh:
        raise NoIndex(reason, hint="run `gitmem index`")
    from gitmem.freshness.refresh import refresh as refresh_index

    refresh_index(workspace, tree.revision.tree)
    return require_index(workspace), f"{reason} and was rebuilt"
