"""Is there anything to index? Answered from two small files, with as few imports as can be."""

from gitmem.errors import DamagedFile
from gitmem.indexing.fingerprint import current_fingerprint, view_key
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, find_index


def is_current(workspace: Workspace, tree: str) -> bool:
    """Whether the manifest says that this tree is wholly indexed. Raises UnsafeIndex, NewerFormat."""
    try:
        manifest = find_index(workspace)
    except DamagedFile:
        return False
    return manifest is not None and holds_tree(workspace, manifest, tree)


def is_marked(workspace: Workspace) -> bool:
    """Whether the working tree was found to differ from what is indexed of it, and nobody has taken that up yet."""
    return workspace.paths.dirty(workspace.location.worktree_id).exists()


def holds_tree(workspace: Workspace, manifest: Manifest, tree: str) -> bool:
    """Whether a manifest of today's makers names this tree, and its files are there."""
    if manifest.fingerprint != current_fingerprint(workspace.settings.max_file_bytes):
        return False
    key = view_key(tree)
    files = [workspace.paths.segment(entry.name) for entry in manifest.segments]
    return key in manifest.views and workspace.paths.view(key).exists() and all(file.exists() for file in files)
