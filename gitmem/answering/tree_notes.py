"""Notes about the tree of an answer."""

from gitmem.freshness.tree_selection import SelectedTree
from gitmem.git.path_encoding import path_text
from gitmem.indexing.overlay import Overlay


def tree_notes(tree: SelectedTree, overlay: Overlay) -> list[str]:
    """Return notes about files that cannot be read and about a working tree that git cannot compare."""
    notes = [f"`{path_text(path)}` cannot be read and is left out" for path in overlay.unreadable]
    return [*notes, f"{tree.problem}; the answer is HEAD's"] if tree.problem else notes
