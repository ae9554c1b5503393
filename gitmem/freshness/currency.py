"""Decide whether an index is current, from two small files and with few imports: it runs on every hook and query."""

from gitmem.errors import DamagedFile
from gitmem.indexing.fingerprint import is_made_with, view_key
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, find_index


def is_current(workspace: Workspace, tree: str) -> bool:
    """Return whether the manifest lists this tree as completely indexed. Raises UnsafeIndex, NewerFormat."""
    try:
        manifest = find_index(workspace)
    except DamagedFile:
        return False
    return manifest is not None and holds_tree(workspace, manifest, tree)


def holds_tree(workspace: Workspace, manifest: Manifest, tree: str) -> bool:
    """Return whether a manifest of today's chunker and model lists this tree, and its files exist."""
    if not is_made_with(manifest.fingerprint, workspace.settings):
        return False
    key = view_key(tree, workspace.location.content)
    files = [workspace.paths.segment(entry.name) for entry in manifest.segments]
    return key in manifest.views and workspace.paths.view(key).exists() and all(file.exists() for file in files)
