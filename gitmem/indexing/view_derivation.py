"""Derive the view of a tree from that of a similar one: only the differences are classified.

The result equals, byte for byte, the view that classifying the whole tree gives. This does not hold if a difference
changes the rules themselves (attributes, ignore patterns, package folders): then unchanged paths may be classified
otherwise, and the caller must classify the whole tree.
"""

import posixpath
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np

from gitmem.git.attributes import ATTRIBUTES_FILE
from gitmem.git.excludes import package_folders
from gitmem.git.ignore import IGNORE_FILE
from gitmem.git.trees import FILE, GITLINK, SYMLINK, TreeChange, TreeEntry
from gitmem.indexing.overlaid_view import merge_postings
from gitmem.store.postings import Postings
from gitmem.store.view_file import PATH_FIELDS, REASONS, View, ViewEntry, path_postings

RULE_FILES: Final = frozenset((ATTRIBUTES_FILE, IGNORE_FILE))
# A view does not store modes; rules depend on no others than these.
_MODES: Final = {REASONS.index("symlink"): SYMLINK, REASONS.index("submodule"): GITLINK}

Classify = Callable[[TreeEntry], ViewEntry]


class ViewContents(NamedTuple):
    """Entries of a view in path order, and the postings of its path fields."""

    entries: list[ViewEntry]
    postings: dict[str, Postings]


def rule_changes(old: View, changes: Iterable[TreeChange]) -> list[TreeChange]:
    """Return the changes that may affect the classification of other paths.

    These are changes of rule files, and files by which a folder becomes a package or stops being one.
    """
    return [
        change
        for change in changes
        if posixpath.basename(change.path) in RULE_FILES
        or (_names_package(change.path) and (change.mode is None or old.find(change.path) is None))
    ]


def _names_package(path: bytes) -> bool:
    return package_folders([path]) != package_folders(())


def rule_entries(old: View) -> list[TreeEntry]:
    """Return all attribute and ignore files of the tree of a view."""
    tails = tuple(RULE_FILES)
    return [_tree_entry(old, place) for place, path in enumerate(old.paths) if path.endswith(tails)]


def rule_entries_above(old: View, paths: Iterable[bytes]) -> list[TreeEntry]:
    """Return the attribute and ignore files that apply to some paths, without reading all paths of the view."""
    folders = {b""}
    for path in paths:
        while (path := posixpath.dirname(path)) not in folders:
            folders.add(path)
    candidates = (posixpath.join(folder, name) for folder in sorted(folders) for name in sorted(RULE_FILES))
    return [_tree_entry(old, place) for path in candidates if (place := old.find(path)) is not None]


def _tree_entry(view: View, place: int) -> TreeEntry:
    return TreeEntry(view.path(place), _MODES.get(int(view.reasons[place]), FILE), view.oid(place))


def derive(old: View, changes: Iterable[TreeChange], classify: Classify) -> ViewContents:
    """Apply changes to a view: to its entries and to the postings of its paths.

    `changes` must not contain any of `rule_changes`. The postings of unchanged paths are renumbered, so that no path
    of a large tree is split into terms again.
    """
    entries = _old_entries(old)
    changed = set()
    for change in changes:
        entries.pop(change.path, None)
        if change.mode is not None and change.oid is not None:
            entries[change.path] = classify(TreeEntry(change.path, change.mode, change.oid))
            changed.add(change.path)
    ordered = [entries[path] for path in sorted(entries)]
    numbers = {entry.path: number for number, entry in enumerate(ordered)}
    moved = np.array([-1 if path in changed else numbers.get(path, -1) for path in old.paths], np.int32)
    added = path_postings((numbers[path], entries[path]) for path in sorted(changed))
    postings = {name: merge_postings(old.load_postings(name), moved, added[name]) for name in PATH_FIELDS}
    return ViewContents(ordered, postings)


def _old_entries(old: View) -> dict[bytes, ViewEntry]:
    # Slices of one byte string are much cheaper than one numpy row per entry.
    ids = old.oids.tobytes()
    width = old.oids.shape[1] if len(old) else 20
    languages = [old.languages[code] for code in old.language_codes.tolist()]
    return {
        path: ViewEntry(path, ids[width * place : width * (place + 1)], language, reason)
        for place, (path, language, reason) in enumerate(zip(old.paths, languages, old.reasons.tolist(), strict=True))
    }
