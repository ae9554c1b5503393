"""From a tree to its view: which paths are indexed, in which language, and why the others are not.

All rules come from the tree itself (`.gitattributes`, `.gitmemignore`) and from the defaults, so a view is the same on
every machine.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gitmem.errors import DamagedFile, GitFailed, NewerFormat, StorageFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.trees import TreeChange, diff_trees
from gitmem.indexing.fingerprint import view_key
from gitmem.paths import IndexPaths
from gitmem.store.stored_view import ViewFiles, edited_view, find_view, load_files, whole_view, write_files
from gitmem.store.view_file import View, ViewColumns

# The rules (`classify`, `excludes`, `view_derivation`) are imported only if a view must be built: for most queries its
# file exists, and `tests/cli/test_startup.py` checks that those do not load them.


def ensure_view(
    location: RepositoryLocation, paths: IndexPaths, tree: str, *, check: bool = False, base: str = ""
) -> View:
    """Open the view of a tree; write it first if it is missing or damaged. With `check` verify all of its checksums.

    `base` is the key of a view that is probably similar. Raises: GitFailed, StorageFailed.
    """
    target = paths.view(view_key(tree, location.content))
    view = _find(location, target, check=check)
    if view is not None:
        return view
    files = _make(location, paths, tree, base, check=check)
    write_files(target, files)
    view = _find(location, target)
    # `gitmem gc --now` of another process may have removed the files already.
    return view if view is not None else load_files(target, files)


def open_view(location: RepositoryLocation, paths: IndexPaths, tree: str, *, base: str, keep: bool) -> View:
    """Open or build the view of a tree. A new view is written if `keep` is on and the folder is writable."""
    if keep:
        with suppress(StorageFailed):
            return ensure_view(location, paths, tree, base=base)
    return peek_view(location, paths, tree, base=base)


def peek_view(location: RepositoryLocation, paths: IndexPaths, tree: str, *, base: str = "") -> View:
    """Open the view of a tree, or build it in memory if it has no file. Writes nothing."""
    target = paths.view(view_key(tree, location.content))
    return _find(location, target) or load_files(target, _make(location, paths, tree, base))


def build_view(location: RepositoryLocation, tree: str) -> ViewColumns:
    """Classify every path of a tree."""
    # Only a tree without a stored view needs the rules: a query of an indexed tree starts faster without them.
    from gitmem.indexing.classify import classify_tree

    return classify_tree(location, tree)


def ensure_ruled_view(
    location: RepositoryLocation,
    paths: IndexPaths,
    view: View,
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
    name = f"{view.tree}+{changes_hash}"
    target = paths.view(view_key(name, location.content))
    found = _find(location, target)
    if found is not None:
        return found
    from gitmem.indexing.view_derivation import derive

    new = edited_view(target, name, view, derive(location, view, changes, files))
    if keep:
        with suppress(StorageFailed):
            write_files(target, new)
    return load_files(target, new)


def _find(location: RepositoryLocation, target: Path, *, check: bool = False) -> View | None:
    """Open a view, or return None if it is missing or damaged, or if one of its files is that of another tree."""
    with suppress(DamagedFile, NewerFormat):
        view = find_view(target)
        if view is not None and _is_named_by_tree(location, view, target):
            if check:
                view.check()
            return view
    return None


def _is_named_by_tree(location: RepositoryLocation, view: View, target: Path) -> bool:
    rules = location.content
    return view_key(view.tree, rules) == target.name and view_key(view.base.tree, rules) == view.base.file.stem


def _make(location: RepositoryLocation, paths: IndexPaths, tree: str, base: str, *, check: bool = False) -> ViewFiles:
    """Derive the view of a tree from the view `base`, or classify the whole tree if that is gone."""
    from gitmem.indexing.view_derivation import derive

    target = paths.view(view_key(tree, location.content))
    old = _find(location, paths.view(base), check=check) if base else None
    # A key that does not match means that another version of the rules made the view.
    if old is not None and view_key(old.tree, location.content) == base:
        with suppress(DamagedFile, GitFailed):
            return edited_view(target, tree, old, derive(location, old, diff_trees(location, old.tree, tree)))
    return whole_view(target, tree, build_view(location, tree))
