"""Restrict a search of code by the author and time of each chunk's last change.

The last change of a chunk is known only by tracing it, which takes too long for all chunks of a tree. So git lists the
commits that pass first. Chunks of files that none of them touched are out; of the others the best hits are traced.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from gitmem.answering.chunk_history import ChunkTracer, chunk_tracer
from gitmem.answering.search_query import Query, SimilarQuery
from gitmem.display import count
from gitmem.freshness.tree_selection import SelectedTree
from gitmem.git.commit_log import ListedCommit
from gitmem.git.touched_paths import NOTHING_TOUCHED, TouchedPaths, read_touched
from gitmem.memory.kinds import CODE, kind_of
from gitmem.records.filters import RecordFilters, matches_author
from gitmem.search.engine import SearchResult
from gitmem.search.hits import Hit

if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher

_FACTOR: Final = 4
"""How many times as many hits are ranked as are wanted, and again if too few of them pass."""

_MAX_TRACED: Final = 300
"""Hits that are traced at most: some tens of milliseconds each."""


def _read_touched(tree: SelectedTree, filters: RecordFilters) -> TouchedPaths:
    """Return the commits of a tree's history that pass filters, and the files that they touched. Raises GitFailed."""
    if tree.revision.commit is None:
        return NOTHING_TOUCHED
    since = datetime.fromisoformat(filters.since).timestamp() if filters.since else None
    until = datetime.fromisoformat(filters.until).timestamp() if filters.until else None

    def passes(commit: ListedCommit) -> bool:
        is_early = until is None or commit.seconds <= until
        return is_early and (since is None or commit.seconds >= since) and matches_author(filters, commit.author)

    return read_touched(tree.location, tree.revision.commit, passes, since)


def find_last_changed(searcher: "Searcher", query: Query | SimilarQuery, limit: int) -> SearchResult:
    """Search for more and more hits until `limit` of them pass, or too many were traced. Raises: as `Searcher.find`."""
    filters = query.filters.records
    selection = _read_touched(searcher.tree, filters)
    within = selection.paths.union(searcher.changes)
    wanted = _FACTOR * limit
    verdicts: dict[tuple[str, int, int], bool] = {}
    with chunk_tracer(searcher) as tracer:
        while True:
            result = searcher.find(query, wanted, within)
            hits: list[Hit] = []
            for hit in result.hits:
                if (
                    len(hits) < limit
                    and len(verdicts) < _MAX_TRACED
                    and _passes(hit, tracer, selection, filters, verdicts)
                ):
                    hits.append(hit)
            if len(hits) == limit or len(result.hits) < wanted or len(verdicts) >= _MAX_TRACED:
                break
            wanted *= _FACTOR
        unread = tracer.notes() if tracer is not None else []
    is_cut = len(hits) < limit and len(verdicts) >= _MAX_TRACED
    notes = [f"only the best {count(_MAX_TRACED, 'result')} were examined for their last change"] if is_cut else []
    return result._replace(hits=hits, notes=(*result.notes, *notes, *unread))


def _passes(
    hit: Hit,
    tracer: ChunkTracer | None,
    selection: TouchedPaths,
    filters: RecordFilters,
    verdicts: dict[tuple[str, int, int], bool],
) -> bool:
    """Return whether the chunk of a hit was last changed by a commit that passes. Records were filtered before."""
    if kind_of(hit.chunk_type) != CODE:
        return True
    key = hit.path, hit.start, hit.end
    if key not in verdicts:
        commit, is_changed = tracer.last(hit) if tracer is not None else ("", True)
        # An uncommitted change is that of now, and of nobody yet.
        verdicts[key] = not (filters.until or filters.author) if is_changed else commit in selection.commits
    return verdicts[key]
