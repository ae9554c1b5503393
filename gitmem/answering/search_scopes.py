"""Rows of one tree that a search may find: those of files and of records, after filters.

A scope costs milliseconds at 100,000 rows, so the scopes without filters are kept for all searches of a tree.
"""

from collections.abc import Collection, Sequence

import numpy as np

from gitmem.answering.filter_rows import passing_entries, row_filters
from gitmem.answering.search_query import ALL_CONTENT, SearchFilters, kinds_of
from gitmem.arrays import NDArray
from gitmem.freshness.tree_selection import SelectedTree, TreeSelection
from gitmem.indexing.joined_view import JoinedView
from gitmem.memory.kinds import CODE, FOLDERS
from gitmem.records.note_links import find_outdated
from gitmem.records.record_times import RecordTimes
from gitmem.search.scope import Filters, Scope
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View


class SearchScopes:
    """Scopes of one tree in one generation of the index. `blob_of` has the blob of each entry of the view."""

    def __init__(
        self,
        selection: TreeSelection,
        tree: SelectedTree,
        snapshot: Snapshot,
        view: View,
        blob_of: NDArray[np.int64],
    ) -> None:
        self._selection = selection
        self._tree = tree
        self._snapshot = snapshot
        self._view = view
        self._blob_of = blob_of
        self._whole: dict[tuple[str, ...], Scope] = {}

    def select(self, filters: SearchFilters, within: Collection[bytes] | None = None) -> list[Scope]:
        """Return the rows that pass filters, those of files and of records apart, if there are any.

        Of files only those at the paths `within` pass, if these are given.
        """
        kinds = kinds_of(filters, self._selection)
        # Most record filters ask for properties that code does not have, so code cannot pass them.
        parts = [self.code(filters, within)] if CODE in kinds and not filters.records.excludes_code else []
        records = [name for name in FOLDERS if name in kinds]
        if records and isinstance(self._view, JoinedView):
            parts.append(self._records(filters, records))
        return parts

    def passing_blobs(self, filters: SearchFilters, kinds: Sequence[str]) -> NDArray[np.int64]:
        """Return the blob of each entry as `Snapshot.match` does, -2 for other kinds and for records that do not pass.

        Filters on paths, languages and chunk types are left to the scope.
        """
        # -2 marks paths that must not be found, as in Snapshot.match; -1 would count as missing in the index.
        return np.where(passing_entries(self._view, kinds, filters.records), self._blob_of, -2)

    def code(self, filters: SearchFilters = ALL_CONTENT, within: Collection[bytes] | None = None) -> Scope:
        """Return the rows of files that pass filters, and the changed ones alone if a range of commits was named."""
        whole = self._get_whole(CODE)
        if not filters.any and self._tree.since is None:
            return whole
        candidates = whole.blob_of if within is None else np.where(self._are_at(within), whole.blob_of, -2)
        if self._tree.since is None:
            return Scope(self._snapshot, self._view, row_filters(filters), candidates, whole)
        from gitmem.answering.changed_rows import find_changed

        since = self._tree.since.tree
        changed = find_changed(self._tree.location, since, self._snapshot, self._view, self._blob_of)
        blob_of = np.where(changed.entries, candidates, -2)
        scope = Scope(self._snapshot, self._view, row_filters(filters), blob_of, whole)
        scope.restrict(changed.rows, changed.select_units)
        return scope

    def _are_at(self, paths: Collection[bytes]) -> NDArray[np.bool_]:
        """Return the mask of some paths, [entries]."""
        mask = np.zeros(len(self._view), bool)
        mask[[place for place in map(self._view.find, paths) if place is not None]] = True
        return mask

    def _records(self, filters: SearchFilters, kinds: Sequence[str]) -> Scope:
        whole = self._get_whole(*FOLDERS)
        if not filters.any and len(kinds) == len(FOLDERS):
            return whole
        return Scope(self._snapshot, self._view, row_filters(filters), self.passing_blobs(filters, kinds), whole)

    def _get_whole(self, *kinds: str) -> Scope:
        """Return all rows of some kinds."""
        if kinds not in self._whole:
            scope = Scope(self._snapshot, self._view, Filters(), self.passing_blobs(ALL_CONTENT, kinds))
            if kinds == tuple(FOLDERS) and isinstance(self._view, JoinedView):
                scope.outdated = find_outdated(self._view.records, self._view.first_count)
                scope.read_times = RecordTimes([self._view.records], [self._view.first_count]).read
            self._whole[kinds] = scope
        return self._whole[kinds]
