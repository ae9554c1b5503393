"""Edit of a tree: only the subtrees above the changed paths are read and written."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from gitmem.git.object_format import FILE_MODE, TREE_MODE, RawEntry, RawObject, format_tree, make_object, parse_tree

ReadTree = Callable[[str], bytes]
"""Function that returns the bytes of a tree by its id."""


def edit_tree(
    root: str | None, changes: Mapping[bytes, str | None], read: ReadTree, object_format: str
) -> tuple[str | None, list[RawObject]]:
    """Set paths to blobs, or delete paths whose blob is None; deleting a missing path does nothing.

    Return the id of the new root (None if it is empty) and the new trees, subtrees first. A tree that loses its last
    entry is deleted too.
    """
    new_trees: list[RawObject] = []
    entries = parse_tree(read(root), object_format) if root else {}
    below: defaultdict[bytes, dict[bytes, str | None]] = defaultdict(dict)
    for path, oid in changes.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below[name][rest] = oid
        elif oid is None:
            entries.pop(name, None)
        else:
            entries[name] = RawEntry(FILE_MODE, oid)
    for name, inner in below.items():
        entry = entries.get(name)
        old = entry.oid if entry is not None and entry.is_tree else None
        new, trees = edit_tree(old, inner, read, object_format)
        new_trees += trees
        if new is None:
            entries.pop(name, None)
        else:
            entries[name] = RawEntry(TREE_MODE, new)
    if not entries:
        return None, new_trees
    tree = make_object("tree", format_tree(entries), object_format)
    return tree.oid, new_trees if tree.oid == root else [*new_trees, tree]
