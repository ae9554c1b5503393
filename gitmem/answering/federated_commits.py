"""The commit messages of several repositories as one scope: their indexes are read as one, like those of files."""

from collections.abc import Sequence

import numpy as np

from gitmem.answering.commit_search import CommitSearch
from gitmem.answering.filter_rows import row_filters
from gitmem.answering.search_query import SearchFilters
from gitmem.answering.searcher import Searcher
from gitmem.arrays import NDArray
from gitmem.search.scope import Filters, Scope
from gitmem.store.combined_segments import CombinedSegments
from gitmem.store.combined_view import CombinedView, RepositoryView


class FederatedCommits:
    """Commits of some open repositories. One without an index of its messages is left out, and has a note."""

    def __init__(self, names: Sequence[str], searchers: Sequence[Searcher], own: Sequence[bool]) -> None:
        self._names = names
        self._searchers = searchers
        self._own = own
        self._open: tuple[list[CommitSearch | None], Scope] | None = None

    def scopes(self, filters: SearchFilters) -> list[Scope]:
        """Return the commits that pass filters, none without an index of them. Raises: DamagedFile."""
        found = [searcher.commits.find_if_readable() for searcher in self._searchers]
        if not any(found):
            return []
        # Each find returns the same object until its index or history changes.
        if self._open is None or any(new is not old for new, old in zip(found, self._open[0], strict=True)):
            self._open = found, self._combine(found)
        whole = self._open[1]
        if not filters.any:
            return [whole]
        passing = [commits.passing_blobs(filters) for commits in found if commits is not None]
        return [Scope(whole.snapshot, whole.view, row_filters(filters), _number(found, passing), whole)]

    def _combine(self, found: Sequence[CommitSearch | None]) -> Scope:
        """Return all commits of the open indexes as one scope."""
        named = [(name, commits) for name, commits in zip(self._names, found, strict=True) if commits is not None]
        segments = CombinedSegments([segment for _, commits in named for segment in commits.snapshot.segments])
        # Commits have no folders, so the words of a repository's name count for none of them.
        view = CombinedView([RepositoryView(name, commits.view, 0) for name, commits in named])
        elsewhere = None
        if any(self._own):
            parts = [np.full(len(commits.view), not own)
                     for commits, own in zip(found, self._own, strict=True) if commits is not None]  # fmt: skip
            elsewhere = np.concatenate(parts)
        blobs = _number(found, [commits.blob_of for _, commits in named])
        scope = Scope(segments, view, Filters(), blobs, elsewhere=elsewhere)
        scope.recent_terms, scope.recent_definitions = {}, {}
        return scope


def _number(found: Sequence[CommitSearch | None], parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the blobs of all indexes, numbered over their segments in order; negative ones stay as they are."""
    sizes = [len(commits.snapshot.blob_first) - 1 for commits in found if commits is not None]
    bases = np.cumsum([0, *sizes]).tolist()
    return np.concatenate([np.where(own >= 0, own + base, own) for own, base in zip(parts, bases, strict=False)])
