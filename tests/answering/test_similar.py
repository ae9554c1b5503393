"""Neighbours of a chunk by its stored vector."""

import numpy as np
import pytest

from gitmem.answering.answer import answer
from gitmem.answering.search_query import SimilarQuery
from gitmem.errors import UsageError
from gitmem.memory.kinds import CODE, kind_of
from gitmem.search.scope import Filters, Scope
from gitmem.search.similar_rows import search_similar
from gitmem.store.open_segments import OpenSegments
from gitmem.workspace import open_snapshot, require_index
from tests.gitrepo import Repo
from tests.sample import open_sample


def scope_of(repo: Repo) -> Scope:
    from gitmem.indexing.views import peek_view

    workspace = open_sample(repo)
    snapshot = open_snapshot(workspace, require_index(workspace))
    tree = workspace.location.head_tree
    assert tree is not None
    return Scope(snapshot, peek_view(workspace.location, workspace.paths, tree), Filters())


def place_of(snapshot: OpenSegments, row: int) -> tuple[int, int, int]:
    blob = int(np.searchsorted(snapshot.blob_first, row, side="right")) - 1
    start = int(snapshot.column("start")[row])
    return blob, start, start + int(snapshot.column("length")[row])


def test_no_neighbour_overlaps_the_chunk(indexed: Repo) -> None:
    scope = scope_of(indexed)
    for row in np.flatnonzero(scope.mask).tolist():
        blob, start, end = place_of(scope.snapshot, row)
        oid = scope.view.oid(int(scope.entry_of[row]))
        hits = search_similar(scope, row, 50)
        assert hits, blob
        assert all(hit.blob != oid or hit.start >= end or hit.end <= start for hit in hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all(0 < hit.score <= 1 for hit in hits)


def test_the_limit_applies_to_neighbours(indexed: Repo) -> None:
    scope = scope_of(indexed)
    row = int(np.flatnonzero(scope.mask)[0])
    assert len(search_similar(scope, row, 2)) == 2
    assert search_similar(scope, row, 2) == search_similar(scope, row, 50)[:2]


def test_neighbours_are_those_of_the_innermost_chunk(indexed: Repo) -> None:
    workspace = open_sample(indexed)
    result = answer(workspace, SimilarQuery("src/cookies.py:9", 5))
    assert {kind_of(hit.chunk_type) for hit, _ in result.hits} == {CODE}
    assert all(hit.symbol != "CookieSession.sign_cookie" for hit, _ in result.hits)
    assert result.terms == ()


def test_the_limit_is_checked(indexed: Repo) -> None:
    with pytest.raises(UsageError, match="between 1 and 50"):
        answer(open_sample(indexed), SimilarQuery("src/cookies.py:9", 51))
