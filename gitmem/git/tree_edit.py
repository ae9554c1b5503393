"""A new tree from an old one and the paths that change: only the trees above those paths are read and written."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from gitmem.git.object_format import FILE_MODE, TREE_MODE, RawEntry, RawObject, format_tree, make_object, parse_tree

ReadTree = Callable[[str], bytes]
"""The bytes of a tree by its id."""


def edit_tree(
    root: str | None, changes: Mapping[bytes, str | None], read: ReadTree, object_format: str
) -> tuple[str | None, list[RawObject]]:
    """Put blobs at paths, or take paths away where the blob is None.

    Returns the id of the new root (None where nothing is left in it) and the trees that are new. A tree that loses its
    last entry goes too; a path that is not there may be taken away.
    """
    made: list[RawObject] = []
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
        present = entries.get(name)
        old = present.oid if present is not None and present.is_tree else None
        new, trees = edit_tree(old, inner, read, object_format)
        made += trees
        if new is None:
            entries.pop(name, None)
        else:
            entries[name] = RawEntry(TREE_MODE, new)
    if not entries:
        return None, made
    tree = make_object("tree", format_tree(entries), object_format)
    return tree.oid, made if tree.oid == root else [*made, tree]
