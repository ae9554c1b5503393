"""The view of a tree out of that of another one: what both share is taken over, only what differs is classified.

The result is what classifying the whole tree gives, to the byte. Where a difference touches the rules themselves
(attributes, ignore lines, the folders that count as packages), the shared part may be judged otherwise and nothing is
derived.
"""

import posixpath
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np

from gitmem.git.attributes import ATTRIBUTES_FILE
from gitmem.git.excludes import package_folders
from gitmem.git.ignore import IGNORE_FILE
from gitmem.git.trees import FILE, GITLINK, SYMLINK, TreeChange, TreeEntry
from gitmem.indexing.overlaid_view import join_postings
from gitmem.store.postings import Postings
from gitmem.store.view_file import PATH_FIELDS, REASONS, View, ViewEntry, path_postings

RULE_FILES: Final = frozenset((ATTRIBUTES_FILE, IGNORE_FILE))
_MODES: Final = {REASONS.index("symlink"): SYMLINK, REASONS.index("submodule"): GITLINK}

Classify = Callable[[TreeEntry], ViewEntry]


class Parts(NamedTuple):
    """What a view is made of."""

    entries: list[ViewEntry]
    postings: dict[str, Postings]


def rule_changes(old: View, changes: Iterable[TreeChange]) -> list[TreeChange]:
    """The changes that may have other paths classified as they were not: of rule files, and of packages that come or
    go."""
    return [
        change
        for change in changes
        if posixpath.basename(change.path) in RULE_FILES
        or (_names_package(change.path) and (change.mode is None or old.find(change.path) is None))
    ]


def _names_package(path: bytes) -> bool:
    return package_folders([path]) != package_folders(())


def rule_entries(old: View) -> list[TreeEntry]:
    """The attribute and ignore files of the tree that a view was made of."""
    tails = tuple(RULE_FILES)
    return [_tree_entry(old, place) for place, path in enumerate(old.paths) if path.endswith(tails)]


def rule_entries_above(old: View, paths: Iterable[bytes]) -> list[TreeEntry]:
    """Those of them that say something of some paths, found without looking at all others."""
    folders = {b""}
    for path in paths:
        while (path := posixpath.dirname(path)) not in folders:
            folders.add(path)
    named = (posixpath.join(folder, name) for folder in sorted(folders) for name in sorted(RULE_FILES))
    return [_tree_entry(old, place) for path in named if (place := old.find(path)) is not None]


def _tree_entry(view: View, place: int) -> TreeEntry:
    return TreeEntry(view.path(place), _MODES.get(int(view.reasons[place]), FILE), view.oid(place))


def derive(old: View, changes: Iterable[TreeChange], classify: Classify) -> Parts:
    """Put the changes into the old view's entries and into the words of its paths."""
    entries = _old_entries(old)
    fresh = set()
    for change in changes:
        entries.pop(change.path, None)
        if change.mode is not None and change.oid is not None:
            entries[change.path] = classify(TreeEntry(change.path, change.mode, change.oid))
            fresh.add(change.path)
    made = [entries[path] for path in sorted(entries)]
    numbers = {entry.path: number for number, entry in enumerate(made)}
    moved = np.array([-1 if path in fresh else numbers.get(path, -1) for path in old.paths], np.int32)
    added = path_postings((numbers[path], entries[path]) for path in sorted(fresh))
    return Parts(made, {name: join_postings(old.load_postings(name), moved, added[name]) for name in PATH_FIELDS})


def _old_entries(old: View) -> dict[bytes, ViewEntry]:
    ids = old.oids.tobytes()
    width = old.oids.shape[1] if len(old) else 20
    languages = [old.languages[code] for code in old.language_codes.tolist()]
    return {
        path: ViewEntry(path, ids[width * place : width * (place + 1)], language, reason)
        for place, (path, language, reason) in enumerate(zip(old.paths, languages, old.reasons.tolist(), strict=True))
    }
