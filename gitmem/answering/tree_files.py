"""The files of a tree, read through git alone: for what needs no index, or must not wait for one."""

from collections.abc import Mapping, Sequence

from gitmem.answering.answer import ViewState, tree_state
from gitmem.answering.location_lookup import IndexedTree
from gitmem.answering.tree_notes import tree_notes
from gitmem.freshness.tree_selection import TreeReader, TreeSelection
from gitmem.freshness.tree_view import open_tree
from gitmem.git.locate import RepositoryLocation
from gitmem.named_tuple import NamedTuple
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.workspace import Workspace


class TreeFiles(NamedTuple):
    """Paths of a tree, and the state to print. `files` are blobs that may exist only in the working tree."""

    location: RepositoryLocation
    paths: IndexedTree
    files: Mapping[str, bytes]
    state: ViewState
    notes: Sequence[str]


def read_tree_files(workspace: Workspace, selection: TreeSelection) -> TreeFiles:
    """Read the paths of a tree, uncommitted ones included. An index makes this faster, and is not waited for.

    Raises: UnknownRevision, UsageError, GitFailed.
    """
    with TreeReader(workspace.location, selection) as reader:
        manifest = find_manifest(workspace.paths.manifest)
        tree = reader.read()
    workspace = workspace._replace(location=tree.location)
    overlay = open_tree(workspace, tree, manifest or Manifest(""), write=manifest is not None)
    files = len(overlay.view)
    paths = IndexedTree(overlay.view, None, files)
    return TreeFiles(tree.location, paths, overlay.files, tree_state(tree, selection, files), tree_notes(tree, overlay))
