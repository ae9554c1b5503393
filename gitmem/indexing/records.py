"""The memory's records as a view beside that of the files: the same index, the same search.

A record's path is written as git takes it, `refs/gitmem/memory:v1/notes/...`, which no file of a tree is called. No
words are taken from it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.errors import DamagedFile, GitFailed, NewerFormat, StorageFailed
from gitmem.git.locate import Location
from gitmem.git.trees import TreeEntry, diff_trees, read_tree
from gitmem.indexing.overlay import OverlaidView
from gitmem.store.format import Container
from gitmem.store.rows import Postings
from gitmem.store.view import INDEXED, MAGIC, PATH_FIELDS, View, ViewEntry, find_view, view_parts, write_view
from gitmem.types import RECORD_LANGUAGE

PREFIX: Final = b"refs/gitmem/memory:"
_MOST_EDITS: Final = 2000
"""From so many changes on the view's file is written anew: they would be sorted in at every question."""


def open_records(location: Location, file: Path, tree: str, *, keep: bool) -> View:
    """The view of a tree of records: that of `file` with what changed since, or a new one, kept where `keep` says so.

    Raises: GitFailed.
    """
    base = _find(file)
    if base is not None and base.tree == tree:
        return base
    edits = _edits(location, base, tree) if base is not None else None
    if base is not None and edits is not None and len(edits) <= _MOST_EDITS:
        return _EditedRecords(base, edits)
    entries = sorted(_entry(found) for found in read_tree(location, tree))
    if keep:
        with suppress(StorageFailed):
            write_view(file, tree, entries, _no_words())
    return View(Container(file, MAGIC, b"".join(view_parts(tree, entries, _no_words()))))


def _find(file: Path) -> View | None:
    with suppress(DamagedFile, NewerFormat):
        return find_view(file)
    return None


def _edits(location: Location, base: View, tree: str) -> dict[bytes, ViewEntry | None] | None:
    """What changed since the base; None where git does not have its tree any more."""
    with suppress(GitFailed):
        changes = diff_trees(location, base.tree, tree)
        return {
            PREFIX + change.path: _entry(TreeEntry(change.path, 0, change.oid)) if change.oid else None
            for change in changes
        }
    return None


def _entry(found: TreeEntry) -> ViewEntry:
    return ViewEntry(PREFIX + found.path, bytes.fromhex(found.oid), RECORD_LANGUAGE, INDEXED)


def _no_words() -> dict[str, Postings]:
    none = np.zeros(0, np.int32)
    return {field: Postings([], none, none, np.zeros(0, np.uint8)) for field in PATH_FIELDS}


class _EditedRecords(OverlaidView):
    """Records under later changes, still without words of their paths."""

    def __init__(self, base: View, edits: Mapping[bytes, ViewEntry | None]) -> None:
        super().__init__(base, edits)

    @cached_property
    def _added_postings(self) -> dict[str, Postings]:
        return _no_words()


class JoinedView(View):
    """The paths of one view and behind them those of another."""

    def __init__(self, first: View, second: View) -> None:
        self.tree = first.tree
        self._parts: Sequence[View] = (first, second)
        self.first_count = len(first)
        self._count = len(first) + len(second)
        known = {name: code for code, name in enumerate(first.languages)}
        self._second_codes = np.array([known.setdefault(name, len(known)) for name in second.languages], np.uint16)
        self.languages = list(known)

    def check(self) -> None:
        for part in self._parts:
            part.check()

    @cached_property
    def oids(self) -> NDArray[np.uint8]:
        return np.concatenate([part.oids for part in self._parts if len(part)] or [self._parts[0].oids])

    @cached_property
    def language_codes(self) -> NDArray[np.uint16]:
        first, second = self._parts
        if not len(second):
            return first.language_codes
        return np.concatenate([first.language_codes, self._second_codes[second.language_codes]])

    @cached_property
    def reasons(self) -> NDArray[np.uint8]:
        return np.concatenate([part.reasons for part in self._parts])

    def path(self, entry: int) -> bytes:
        first, second = self._parts
        return first.path(entry) if entry < len(first) else second.path(entry - len(first))

    @cached_property
    def paths(self) -> list[bytes]:
        return [path for part in self._parts for path in part.paths]

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        return self._parts[0].find_postings(field, term)

    def load_postings(self, field: str) -> Postings:
        return self._parts[0].load_postings(field)

    def starting_with(self, prefixes: Sequence[bytes]) -> NDArray[np.bool_]:
        """Which paths of the second view begin so, [entries]; none of the first view does."""
        second = self._parts[1]
        told = np.fromiter((path.startswith(tuple(prefixes)) for path in second.paths), bool, len(second))
        return np.concatenate([np.zeros(self.first_count, bool), told])
