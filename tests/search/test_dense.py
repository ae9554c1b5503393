"""Retrieval by meaning: the scan over sign bits finds the rows of a full scan, in any scope."""

import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gitmem.embedding.encoder import quantise
from gitmem.paths import IndexPaths
from gitmem.search.dense import exact_cosines, search_dense, search_exactly
from gitmem.search.fuse import (
    COSINE_PRIOR,
    LEXICAL_PRIOR,
    RRF_K,
    FusionWeights,
    fuse_ranks,
    fuse_zscores,
    standardise,
    standardise_lexical,
)
from gitmem.search.scope import Filters, Scope
from gitmem.store import graph as graph_module
from gitmem.store.columns import COLUMNS, CONTENT_BYTES
from gitmem.store.graph import Graph, RowGraph, build_graph, find_graph, is_available, is_intact, write_graph
from gitmem.store.manifest import Manifest
from gitmem.store.postings import Postings
from gitmem.store.rows import Blobs, Rows, concatenate
from gitmem.store.segment_writer import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.vector_levels import snap_to_levels
from gitmem.store.view_file import View, ViewEntry, load_view

Floats = NDArray[np.float32]
needs_hnswlib = pytest.mark.skipif(not is_available(), reason="hnswlib is not installed")
many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Store(NamedTuple):
    """Store of random vectors with one row per blob, and a view of all blobs."""

    paths: IndexPaths
    snapshot: Snapshot
    view: View
    vectors: Floats


def units(count: int, width: int = 256, seed: int = 0, clusters: int = 0) -> Floats:
    """Return random unit vectors; with `clusters`, around that many centres like those of a trained model."""
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((count, width))
    if clusters:
        centres = np.random.default_rng(99).standard_normal((clusters, width))
        vectors = centres[generator.integers(0, clusters, count)] + 0.6 * vectors
    scaled: Floats = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def oid_of(number: int) -> bytes:
    return np.random.default_rng(number).bytes(20)


def rows_of(vectors: Floats, first: int) -> Rows:
    quantised = snap_to_levels(*quantise(vectors))
    count = len(vectors)
    columns = {name: np.ones(count, kind) for name, kind in COLUMNS.items()}
    columns["kind"] = (np.arange(first, first + count) % 3).astype("<u1")
    columns["kinds"] = np.left_shift(1, columns["kind"], dtype="<u4")
    columns["scale"] = quantised.scales.astype("<f2")
    nothing = Postings([], np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint8))
    blobs = Blobs(
        [(oid_of(first + position), "go") for position in range(count)],
        ["go"] * count,
        np.zeros(count, np.uint8),
        np.arange(count + 1, dtype=np.int64),
        [b""] * count,
    )
    contents = np.zeros((count, CONTENT_BYTES), np.uint8)
    return Rows(blobs, columns, [b""] * count, quantised.vectors, contents, {"text": nothing, "symbol": nothing})


def make_store(tmp_path: Path, vectors: Floats, parts: int = 1) -> Store:
    paths = IndexPaths(tmp_path)
    for folder in (paths.segments, paths.graphs):
        folder.mkdir(exist_ok=True)
    bounds = np.linspace(0, len(vectors), parts + 1).astype(int).tolist()
    entries = [
        write_segment(paths.segments, rows_of(vectors[start:end], start)) for start, end in itertools.pairwise(bounds)
    ]
    view = load_view(
        Path("view"), "t", [ViewEntry(b"d%d/f%06d.go" % (n % 5, n), oid_of(n), "go", 0) for n in range(len(vectors))]
    )
    snapshot = Snapshot(paths, Manifest("1", segments=tuple(entries)))
    return Store(paths, snapshot, view, snapshot.unit_vectors(np.arange(snapshot.rows)))


def best(vectors: Floats, query: Floats, keep: int, allowed: NDArray[np.bool_] | None = None) -> list[int]:
    scores = vectors @ query
    if allowed is not None:
        scores = np.where(allowed, scores, -2)
    order = np.lexsort((np.arange(len(scores)), -scores))[:keep]
    return [int(row) for row in order if scores[row] > -2]


def recall(store: Store, queries: Floats, keep: int, graph: RowGraph | None = None) -> float:
    scope = Scope(store.snapshot, store.view, Filters())
    hits = [
        len({*search_dense(scope, one, 200, graph).rows[:keep].tolist()} & {*best(store.vectors, one, keep)}) / keep
        for one in queries
    ]
    return float(np.mean(hits))


@many
@given(seed=st.integers(0, 2**20), count=st.integers(1, 150), parts=st.integers(1, 4), keep=st.integers(1, 200))
def test_a_small_store_is_searched_exactly(tmp_path: Path, seed: int, count: int, parts: int, keep: int) -> None:
    """Property 2: Relevance and ranking."""
    store = make_store(tmp_path, units(count, 64, seed), parts)
    query = units(1, 64, seed + 1)[0]
    results = search_dense(Scope(store.snapshot, store.view, Filters()), query, max(keep, count))
    exact = exact_cosines(store.snapshot, query, np.arange(count))
    assert results.rows.tolist() == np.lexsort((np.arange(count), -exact)).tolist()
    assert np.abs(exact - units(count, 64, seed) @ query).max() < 0.03


def test_the_scan_over_sign_bits_finds_the_rows_of_a_full_scan(tmp_path: Path) -> None:
    store = make_store(tmp_path, units(8000, clusters=200), 2)
    assert recall(store, units(40, seed=5, clusters=200), 10) >= 0.98


def test_stored_vectors_have_nearly_the_neighbours_of_those_that_were_computed(tmp_path: Path) -> None:
    vectors = units(8000, clusters=200)
    store = make_store(tmp_path, vectors)._replace(vectors=vectors)
    assert recall(store, units(40, seed=5, clusters=200), 10) >= 0.95


def test_rows_of_equal_vectors_are_ordered_by_row(tmp_path: Path) -> None:
    vector = units(1, 64)
    store = make_store(tmp_path, np.repeat(vector, 12, axis=0), 3)
    assert search_dense(Scope(store.snapshot, store.view, Filters()), vector[0], 12).rows.tolist() == list(range(12))


def test_an_exact_search_returns_the_nearest_rows_and_all_that_tie_with_the_last(tmp_path: Path) -> None:
    vectors = units(30, 64)
    store = make_store(tmp_path, np.concatenate([vectors, vectors]), 3)
    scope, query = Scope(store.snapshot, store.view, Filters()), units(1, 64, 1)[0]
    cosines = exact_cosines(store.snapshot, query, np.arange(60))
    nearest = np.argsort(-cosines[:30])[:4].tolist()
    for count in (7, 8):
        rows, found = search_exactly(scope, query, count)
        assert rows.tolist() == sorted([*nearest, *(row + 30 for row in nearest)])
        assert found.tolist() == cosines[rows].tolist()


def test_filters_apply_before_the_limit(tmp_path: Path) -> None:
    """The nearest rows are out of scope, so a filter after the limit would leave none."""
    near, far = units(1, seed=5)[0], units(400, seed=6)
    vectors = np.where((np.arange(400) % 5 < 3)[:, None], near + 0.1 * far, far)
    store = make_store(tmp_path, (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), 2)
    allowed = np.arange(400) % 5 >= 3
    scope = Scope(store.snapshot, store.view, Filters(include=("d3/", "d4/")))
    found = search_dense(scope, near, 40).rows
    assert len(found) >= 40
    assert allowed[found].all()
    assert len({*found[:10].tolist()} & {*best(store.vectors, near, 10, allowed)}) >= 6


def test_ten_candidates_by_sign_bits_are_too_few_for_ten_results(tmp_path: Path) -> None:
    store = make_store(tmp_path, units(4000, clusters=100))
    scope = Scope(store.snapshot, store.view, Filters())
    queries = units(20, seed=5, clusters=100)
    hits = [
        len({*search_dense(scope, one, 10).rows[:10].tolist()} & {*best(store.vectors, one, 10)}) for one in queries
    ]
    assert np.mean(hits) < 9.8


@many
@given(
    seed=st.integers(0, 2**20), folder=st.integers(0, 4), chunk_types=st.sets(st.integers(0, 2)), whole=st.booleans()
)
def test_a_filter_hides_no_row_that_passes_it(
    tmp_path: Path, seed: int, folder: int, chunk_types: set[int], whole: bool
) -> None:
    from gitmem.types import CHUNK_TYPES

    store = make_store(tmp_path, units(60, 64, seed), 3)
    query = units(1, 64, seed + 1)[0]
    filters = Filters(
        include=() if whole else (f"d{folder}/",), chunk_types=tuple(CHUNK_TYPES[code] for code in sorted(chunk_types))
    )
    numbers = np.arange(60)
    allowed = np.ones(60, bool) if whole else numbers % 5 == folder
    if chunk_types:
        allowed &= np.isin(numbers % 3, sorted(chunk_types))
    scope = Scope(store.snapshot, store.view, filters)
    assert scope.mask.tolist() == allowed.tolist()
    results = search_dense(scope, query, 60).rows
    exact = exact_cosines(store.snapshot, query, numbers)
    assert results.tolist() == [int(row) for row in np.lexsort((numbers, -exact)) if allowed[row]]


def test_a_zero_vector_in_the_query_or_a_row_is_accepted(tmp_path: Path) -> None:
    vectors = units(20, 64)
    vectors[:5] = 0
    store = make_store(tmp_path, vectors, 2)
    scope = Scope(store.snapshot, store.view, Filters())
    assert len(search_dense(scope, np.zeros(64, np.float32), 200).rows) == 20
    assert search_dense(scope, vectors[10], 200).rows[0] == 10


# -- fusion

scores = st.lists(st.floats(-1, 20, width=32).map(lambda value: round(value, 3)), min_size=1, max_size=30)


@many
@given(dense=scores, lexical=scores)
def test_reciprocal_ranks_follow_their_formula(dense: list[float], lexical: list[float]) -> None:
    count = min(len(dense), len(lexical))
    lists = [np.array(values[:count], np.float32) for values in (dense, lexical)]
    fused = fuse_ranks(lists[0], lists[1])
    for position in range(count):
        expected = sum(
            1 / (RRF_K + 1 + int((values > values[position]).sum())) for values in lists if values[position] > 0
        )
        assert fused[position] == pytest.approx(expected, rel=1e-5)
    assert np.allclose(fuse_ranks(lists[1], lists[0]), fused)
    assert (fused >= fuse_ranks(lists[0], np.zeros(count, np.float32)) - 1e-7).all()


@many
@given(dense=scores, lexical=scores, weights=st.tuples(st.floats(0.1, 2), st.floats(0.1, 2)))
def test_zscores_follow_their_formula(dense: list[float], lexical: list[float], weights: tuple[float, float]) -> None:
    """Compare with plain z-scores after adding four values: two one deviation above the prior mean, two below."""
    count, max_lexical = min(len(dense), len(lexical)), 7.0
    lists = [np.array(values[:count], np.float32) for values in (dense, lexical)]
    expected = np.zeros(count)
    for weight, values, prior in zip(
        weights, (lists[0], lists[1] / max_lexical), (COSINE_PRIOR, LEXICAL_PRIOR), strict=True
    ):
        if values.any():
            more = [prior.mean + sign * prior.deviation for sign in (1, 1, -1, -1)]
            among = np.concatenate([values.astype(np.float64), more])
            expected += weight * (values - among.mean()) / among.std()
    assert np.allclose(fuse_zscores(lists[0], lists[1], FusionWeights(*weights), max_lexical), expected, atol=1e-3)


def test_a_retrieval_without_scores_adds_nothing() -> None:
    assert not standardise(np.zeros(4, np.float32), COSINE_PRIOR).any()
    assert not standardise_lexical(np.ones(4, np.float32), 0.0).any()
    assert len(standardise(np.zeros(0, np.float32), COSINE_PRIOR)) == 0


def test_a_single_candidate_gets_an_absolute_score() -> None:
    good, bad = (float(standardise(np.array([value], np.float32), COSINE_PRIOR)[0]) for value in (0.7, 0.1))
    assert bad < -1 < 1 < good


# -- the graph


def quiet(done: int, total: int) -> None:
    assert done <= total


@needs_hnswlib
def test_the_graph_finds_the_rows_of_an_exact_search(tmp_path: Path) -> None:
    store = make_store(tmp_path, units(3000, clusters=60), 2)
    graph = build_graph(store.snapshot, None, quiet)
    assert recall(store, units(40, seed=5, clusters=60), 10, RowGraph(graph, store.snapshot)) >= 0.95


@needs_hnswlib
def test_a_written_graph_gives_the_same_rows_when_loaded(tmp_path: Path) -> None:
    store = make_store(tmp_path, units(1500))
    graph = build_graph(store.snapshot, None, quiet)
    query = units(1, seed=3)[0]
    nearest = sorted(graph.nearest(query, 10).tolist())
    name = write_graph(store.paths, graph)
    loaded = find_graph(store.paths, name, 256)
    assert loaded is not None
    assert loaded.keys.tolist() == graph.keys.tolist()
    assert is_intact(store.paths, name)
    assert sorted(loaded.nearest(query, 10).tolist()) == nearest
    assert find_graph(store.paths, name, 128) is None
    assert find_graph(store.paths, "0" * 40, 256) is None
    assert find_graph(store.paths, "", 256) is None


@needs_hnswlib
def test_rows_of_new_segments_are_searched_exactly_until_the_graph_has_them(tmp_path: Path) -> None:
    vectors = units(3000, clusters=60)
    small = make_store(tmp_path, vectors[:2000])
    graph = build_graph(small.snapshot, None, quiet)
    grown = make_store(tmp_path, vectors, 3)
    row_graph = RowGraph(graph, grown.snapshot)
    assert row_graph.missing.tolist() == list(range(2000, 3000))
    queries = units(30, seed=5, clusters=60)
    assert recall(grown, queries, 10, row_graph) >= 0.95
    added: list[int] = []
    graph = build_graph(grown.snapshot, graph, lambda done, total: added.append(total))
    assert set(added) == {1000}
    assert len(RowGraph(graph, grown.snapshot).missing) == 0
    assert recall(grown, queries, 10, RowGraph(graph, grown.snapshot)) >= 0.95


@needs_hnswlib
def test_a_graph_remains_valid_after_compaction(tmp_path: Path) -> None:
    store = make_store(tmp_path, units(1200), 4)
    graph = build_graph(store.snapshot, None, quiet)
    reversed_rows = concatenate([segment.load_rows() for segment in reversed(store.snapshot.segments)])
    entry = write_segment(store.paths.segments, reversed_rows)
    joined = Snapshot(store.paths, Manifest("1", segments=(entry,)))
    assert sorted(joined.row_keys.tolist()) == sorted(store.snapshot.row_keys.tolist())
    assert len(set(joined.row_keys.tolist())) == 1200
    row_graph = RowGraph(graph, joined)
    assert len(row_graph.missing) == 0
    for row in (0, 500, 1199):
        assert row in row_graph.nearest(joined.unit_vectors(np.array([row]))[0], 5)


@needs_hnswlib
def test_a_graph_of_mostly_dead_rows_is_rebuilt(tmp_path: Path) -> None:
    old = build_graph(make_store(tmp_path, units(1000)).snapshot, None, quiet)
    other = make_store(tmp_path, units(300))
    graph = build_graph(other.snapshot, old, quiet)
    assert len(graph.keys) == 300


@needs_hnswlib
@pytest.mark.parametrize("suffix", ["", ".hnsw"])
@pytest.mark.parametrize("position", [0, 9, 60, 0.3, 0.7, -1, "cut", "empty", "gone"])
def test_a_damaged_graph_is_not_loaded(tmp_path: Path, suffix: str, position: int | float | str) -> None:
    store = make_store(tmp_path, units(300))
    name = write_graph(store.paths, build_graph(store.snapshot, None, quiet))
    file = store.paths.graph(name + suffix)
    data = bytearray(file.read_bytes())
    if position == "gone":
        file.unlink()
    elif isinstance(position, str):
        file.write_bytes(data[: len(data) // 2 if position == "cut" else 0])
    else:
        data[int(position * len(data)) if isinstance(position, float) else position] ^= 2
        file.write_bytes(data)
    graph = find_graph(store.paths, name, 256)
    padding = suffix == "" and graph is not None and graph.keys.tolist() == store.snapshot.row_keys.tolist()
    assert graph is None or padding


@needs_hnswlib
def test_an_incomplete_graph_file_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gitmem.errors import StorageFailed

    store = make_store(tmp_path, units(300))
    graph = build_graph(store.snapshot, None, quiet)
    real = graph._index

    class FullDisk:
        dim = real.dim

        def save_index(self, path: str) -> None:
            real.save_index(path)
            data = Path(path).read_bytes()
            Path(path).write_bytes(data[: len(data) // 2])

        def get_items(self, rows: object) -> object:
            return real.get_items(rows)

    with pytest.raises(StorageFailed):
        write_graph(store.paths, Graph(FullDisk(), graph.keys))
    assert list(store.paths.graphs.iterdir()) == []


def test_without_hnswlib_there_is_no_graph_and_searches_are_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    store = make_store(tmp_path, units(100))
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    assert not graph_module.is_available()
    assert find_graph(store.paths, "0" * 40, 256) is None
    assert recall(store, units(5, seed=2), 10) == 1.0
