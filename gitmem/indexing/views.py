"""From a tree to its view: which paths are indexed, in which language, and why the others are not.

All rules come from the tree itself (`.gitattributes`, `.gitmemignore`) and from the defaults, so a view is the same on
every machine.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gitmem.errors import DamagedFile, GitFailed, NewerFormat, StorageFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.trees import TreeChange, TreeEntry, diff_trees, read_tree
from gitmem.indexing.fingerprint import view_key
from gitmem.paths import IndexPaths
from gitmem.store.view_file import View, ViewEntry, find_view, load_view, write_view

# The rules (`classify`, `excludes`, `view_derivation`) are imported only if a view must be built: for most queries its
# file exists, and `tests/cli/test_startup.py` checks that those do not load them.
if TYPE_CHECKING:
    from gitmem.indexing.classify import Classifier
    from gitmem.indexing.view_derivation import ViewContents


def ensure_view(
    location: RepositoryLocation, paths: IndexPaths, tree: str, *, check: bool = False, base: str = ""
) -> View:
    """Open the view of a tree; write it first if it is missing or damaged. With `check` verify all of its checksums.

    `base` is the key of a view that is probably similar. Raises: GitFailed, StorageFailed.
    """
    target = paths.view(view_key(tree))
    with suppress(DamagedFile, NewerFormat):
        view = find_view(target)
        if view is not None:
            if check:
                view.check()
            return view
    contents = _derive(location, paths, tree, base) if base else None
    entries = contents.entries if contents else build_view(location, tree)
    postings = contents.postings if contents else None
    write_view(target, tree, entries, postings)
    view = find_view(target)
    # `gitmem gc --now` of another process may have removed the file already.
    return view if view is not None else load_view(target, tree, entries, postings)


def open_view(location: RepositoryLocation, paths: IndexPaths, tree: str, *, base: str, keep: bool) -> View:
    """Open or build the view of a tree. A new view is written if `keep` is on and the folder is writable."""
    if keep:
        with suppress(StorageFailed):
            return ensure_view(location, paths, tree, base=base)
    return peek_view(location, paths, tree, base=base)


def peek_view(location: RepositoryLocation, paths: IndexPaths, tree: str, *, base: str = "") -> View:
    """Open the view of a tree, or build it in memory if it has no file. Writes nothing."""
    target = paths.view(view_key(tree))
    with suppress(DamagedFile):
        view = find_view(target)
        if view is not None:
            return view
    contents = _derive(location, paths, tree, base) if base else None
    if contents is not None:
        return load_view(target, tree, contents.entries, contents.postings)
    return load_view(target, tree, build_view(location, tree))


def build_view(location: RepositoryLocation, tree: str) -> list[ViewEntry]:
    """Classify every path of a tree."""
    return _classify_all(location, sorted(read_tree(location, tree)))


def ensure_ruled_view(
    location: RepositoryLocation,
    paths: IndexPaths,
    tree: str,
    changes: Sequence[TreeChange],
    files: Mapping[str, bytes],
    *,
    keep: bool,
) -> View:
    """Open or build the view of a tree under uncommitted changes of its rules; with `keep` write a new one.

    `changes` are the changes of rules only. `files` are the paths, by blob id, of blobs that are not in git yet. The
    key of the view contains a hash of the changes, so further edits of other files reuse it.
    """
    changes_hash = hashlib.blake2b(repr(sorted(changes)).encode(), digest_size=20).hexdigest()
    name = f"{tree}+{changes_hash}"
    target = paths.view(view_key(name))
    with suppress(DamagedFile, NewerFormat):
        view = find_view(target)
        if view is not None:
            return view
    entries = {entry.path: entry for entry in read_tree(location, tree)}
    for change in changes:
        entries.pop(change.path, None)
        if change.mode is not None and change.oid is not None:
            entries[change.path] = TreeEntry(change.path, change.mode, change.oid)
    classified = _classify_all(location, sorted(entries.values()), files)
    if keep:
        with suppress(StorageFailed):
            write_view(target, name, classified)
    return load_view(target, name, classified)


def _classify_all(
    location: RepositoryLocation, entries: list[TreeEntry], files: Mapping[str, bytes] | None = None
) -> list[ViewEntry]:
    classifier = _load_classifier(location, entries, [entry.path for entry in entries], files)
    return [classifier.entry(entry) for entry in entries]


def _load_classifier(
    location: RepositoryLocation,
    entries: list[TreeEntry],
    paths: Iterable[bytes],
    files: Mapping[str, bytes] | None = None,
) -> "Classifier":
    # Only a tree without a stored view needs the rules: a query of an indexed tree starts faster without them.
    from gitmem.git.excludes import package_folders
    from gitmem.indexing.classify import Classifier

    return Classifier.load(location, entries, package_folders(paths), files)


def _derive(location: RepositoryLocation, paths: IndexPaths, tree: str, base: str) -> "ViewContents | None":
    """Derive the view of a tree from the view `base`; None if that is gone or the trees have different rules."""
    from gitmem.indexing.view_derivation import derive, rule_changes, rule_entries

    with suppress(DamagedFile, NewerFormat, GitFailed):
        old = find_view(paths.view(base))
        # A key that does not match means that another version of the rules made the view.
        if old is None or view_key(old.tree) != base:
            return None
        changes = diff_trees(location, old.tree, tree)
        if not rule_changes(old, changes):
            return derive(old, changes, _load_classifier(location, rule_entries(old), old.paths).entry)
    return None
