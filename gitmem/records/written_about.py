"""Compare the files that a note was written about with those of today.

A note keeps the id of each file's blob. An id that differs proves a change, without reading history. So a rebase,
another clone or a squashed branch with the same files changes nothing, and with its old content a file is as it was.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from gitmem.errors import GitmemError
from gitmem.freshness.tree_selection import TreeReader, TreeSelection
from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_bytes
from gitmem.git.program import run_git
from gitmem.git.trees import find_blobs
from gitmem.git.working_files import hash_files
from gitmem.memory.note import MAX_BLOBS, Note
from gitmem.named_tuple import NamedTuple
from gitmem.store.view_file import View
from gitmem.workspace import Workspace, find_index, open_snapshot

_PATHS_AT_ONCE: Final = 500
"""Paths passed to one git process as arguments."""


class Changes(NamedTuple):
    """Files that a note was written about, and that have other content now, or do not exist any more.

    `commits` is the number of commits that changed them, None if it is not known.
    """

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    commits: int | None = None

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self.changed or self.missing)


NO_CHANGES: Final = Changes()


def read_blobs(location: RepositoryLocation, paths: Collection[str]) -> dict[str, str]:
    """Return the ids of the blobs that a commit would give the files of paths; "" for a folder or a link.

    A path that is not in the working tree is looked up in HEAD, for a sparse checkout or a bare repository. One that is
    in neither is left out, and so is a file that cannot be read. Raises GitFailed.
    """
    ids: dict[str, str] = {}
    files = []
    worktree = location.worktree
    for path in dict.fromkeys(paths):
        if worktree is not None and os.path.lexists(worktree / path):
            ids[path] = ""
            if (worktree / path).is_file() and not (worktree / path).is_symlink():
                files.append(path)
    if files:
        blob_ids = hash_files(location, [path_bytes(path) for path in files])
        ids |= {path: oid for path in files if (oid := blob_ids.get(path_bytes(path)))}
    absent = iter([path for path in paths if path not in ids])
    while location.head_tree is not None and (window := list(islice(absent, _PATHS_AT_ONCE))):
        ids |= find_blobs(location, location.head_tree, window)
    return ids


def read_written_about(workspace: Workspace, paths: Collection[str], symbols: Sequence[str]) -> dict[str, str]:
    """Return the blobs that a new note is about: those of its paths, or without paths those that define its symbols.

    Symbols need an index; without one, or if the index cannot be read, they are left out.
    """
    with suppress(GitmemError):
        files = paths or (_defining_files(workspace, symbols) if symbols else [])
        return read_blobs(workspace.location, list(files)[:MAX_BLOBS])
    return {}


def _defining_files(workspace: Workspace, symbols: Sequence[str]) -> list[str]:
    """Return the files of HEAD that define some symbols, as far as they are indexed."""
    manifest = find_index(workspace)
    if manifest is None:
        return []
    # These load numpy and the parsers of names, which a note without symbols does not need.
    from gitmem.freshness.tree_view import open_tree
    from gitmem.references.named_definitions import find_definitions, read_name
    from gitmem.references.tree_names import TreeNames

    # A file with uncommitted changes may not be indexed yet. Its names in HEAD are nearly always still there.
    with TreeReader(workspace.location, TreeSelection(rev="HEAD")) as reader:
        view = open_tree(workspace, reader.read(), manifest, write=False).view
    snapshot = open_snapshot(workspace, manifest)
    names = TreeNames(snapshot, view, snapshot.match(view))
    definers: dict[str, None] = {}
    for symbol in symbols:
        qualifiers, name = read_name(names, symbol)
        definers |= {names.file(each.entry).path: None for each in find_definitions(names, name, qualifiers)}
    return list(definers)


def find_changes(location: RepositoryLocation, notes: Sequence[Note], *, count: bool = False) -> list[Changes]:
    """Return what has changed since each of some notes, with the number of commits if it is asked for.

    Raises GitFailed.
    """
    paths = {path for note in notes for path in note.blobs}
    present = read_blobs(location, paths) if paths else {}
    results = [_compare(note.blobs, present) for note in notes]
    if not count:
        return results
    return [
        changes._replace(commits=_count_commits(location, note.commit, (*changes.changed, *changes.missing)))
        if changes.any
        else changes
        for note, changes in zip(notes, results, strict=True)
    ]


def _compare(old: Mapping[str, str], new: Mapping[str, str]) -> Changes:
    # An empty id is that of a folder, of which only the existence is compared: nearly every commit changes it.
    changed = [path for path, oid in old.items() if oid and new.get(path, oid) not in ("", oid)]
    return Changes(tuple(changed), tuple(path for path in old if path not in new))


def find_changes_in(view: View, blobs: Mapping[str, str], location: RepositoryLocation) -> Changes:
    """Return what has changed in an open view of a tree since a note; without a process, for results of a search."""
    new = {}
    for path in blobs:
        entry = view.find(path_bytes(path))
        if entry is not None:
            new[path] = view.oid(entry)
        elif blobs[path] == "" or _exists(location, path):
            new[path] = ""  # a folder, or a file that git ignores
    return _compare(blobs, new)


def _exists(location: RepositoryLocation, path: str) -> bool:
    return location.worktree is not None and os.path.lexists(location.worktree / path)


def _count_commits(location: RepositoryLocation, since: str, paths: Iterable[str]) -> int | None:
    """Return how many commits changed some paths since another one; None if git does not have that one any more."""
    if not since or location.head_commit is None:
        return None
    args = ["--no-replace-objects", "--literal-pathspecs", "rev-list", "--count", f"{since}..{location.head_commit}"]
    result = run_git([*args, "--", *paths], git_dir=location.git_dir, check=False)
    return int(result.stdout) if result.code == 0 else None
