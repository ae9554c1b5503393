"""The rows with the highest lexical scores equal those of a full scoring, whatever is left out."""

from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gitmem.paths import IndexPaths
from gitmem.search import top_rows
from gitmem.search.lexical import LexicalQuery, WeightedTerm
from gitmem.search.scope import Filters, Scope
from gitmem.search.top_rows import are_best, find_contenders
from gitmem.store.manifest import Manifest
from gitmem.store.segment_writer import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import ViewEntry, load_view
from gitmem.types import CHUNK_TYPES
from tests.store.sample_rows import SampleBlob, SampleChunk, oid_of, rows_of

BLOBS: Final = 900
TERMS: Final = 40
"""Term `w<n>` is rarer than `w<n - 1>`; all rows have `w0`."""


@pytest.fixture(scope="module")
def scope(tmp_path_factory: pytest.TempPathFactory) -> Scope:
    """Return the scope of some 2,700 rows with terms of very different frequency, a sixth of them in no file."""
    paths = IndexPaths(tmp_path_factory.mktemp("index"))
    paths.segments.mkdir()
    dice = np.random.default_rng(1)
    blobs = [SampleBlob(oid_of(str(n)), "go", "go", 0, [make_chunk(dice) for _ in range(3)]) for n in range(BLOBS)]
    entries = sorted(write_segment(paths.segments, rows_of(blobs[part::3])) for part in range(3))
    view = load_view(
        Path("view"),
        "t",
        sorted(
            ViewEntry(b"w%d/w%d_%d.go" % (number % 7, number % TERMS, number), oid_of(str(number)), "go", 0)
            for number in range(BLOBS)
            if number % 6
        ),
    )
    return Scope(Snapshot(paths, Manifest("1", segments=tuple(entries))), view, Filters())


def make_chunk(dice: np.random.Generator) -> SampleChunk:
    text = {b"w%d" % n: int(dice.integers(1, 4)) for n in range(TERMS) if dice.random() < 1 / (n + 1)}
    names = {b"w%d" % n: 1 for n in range(TERMS) if dice.random() < 0.2 / (n + 1)}
    return SampleChunk(0, int(dice.integers(0, len(CHUNK_TYPES))), b"", text, names)


def pruned_search(query: LexicalQuery, count: int) -> list[int]:
    """Return the best rows of the query's scope without scoring all of them."""
    rows = find_contenders(query, count)
    return [int(row) for row in rows[are_best(query.score_rows(rows), count)]]


def full_scan(query: LexicalQuery, count: int) -> list[int]:
    """Return the best rows of the query's scope after scoring all of them."""
    rows = np.flatnonzero(query.scope.mask)
    scores = query.score_rows(rows)
    threshold = sorted(scores[scores > 0].tolist(), reverse=True)[:count][-1:] or [0.0]
    return [int(row) for row in rows[(scores > 0) & (scores >= threshold[0])]]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    terms=st.lists(st.integers(0, TERMS), min_size=1, max_size=8, unique=True),
    count=st.integers(1, 20),
    share=st.sampled_from((0.01, 0.5, 1.0)),
)
def test_the_best_rows_are_those_of_a_full_scan(
    scope: Scope, monkeypatch: pytest.MonkeyPatch, terms: list[int], count: int, share: float
) -> None:
    monkeypatch.setattr(top_rows, "FEW_ROWS", 50)
    monkeypatch.setattr(top_rows, "LOOKUP_COST", 1)
    part = Scope(scope.snapshot, scope.view, Filters(), scope.blob_of, scope)
    part.restrict(np.random.default_rng(7).random(len(scope.mask)) < share)
    query = LexicalQuery(part, [f"w{number}" for number in terms])
    assert pruned_search(query, count) == full_scan(query, count)


def test_common_terms_are_looked_up_for_a_few_rows_only(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_rows, "LOOKUP_COST", 1)
    query = LexicalQuery(scope, ["w0", "w39", "w38"])
    asked: list[int] = []
    score_term = query.score_term

    def record(term: WeightedTerm, rows: NDArray[np.int32], norm: NDArray[np.float32]) -> NDArray[np.float32]:
        asked.append(len(rows))
        return score_term(term, rows, norm)

    monkeypatch.setattr(query, "score_term", record)
    assert pruned_search(query, 3) == full_scan(query, 3)
    assert asked
    assert max(asked[:3]) < scope.row_count / 4
