"""Retrieval by meaning: the scan over signs finds what a full scan finds, inside any scope."""

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
from gitmem.search.dense import exact_cosines, search_dense
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
from gitmem.store.columns import COLUMNS
from gitmem.store.graph import RowGraph, build_graph, find_graph, is_available, is_intact, write_graph
from gitmem.store.manifest import Manifest
from gitmem.store.postings import Postings
from gitmem.store.rows import Blobs, Rows, concatenate
from gitmem.store.segment import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View, ViewEntry, load_view

Floats = NDArray[np.float32]
needs_hnswlib = pytest.mark.skipif(not is_available(), reason="hnswlib is not installed")
many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Made(NamedTuple):
    """A store of random vectors, one row a blob, and the view that holds them all."""

    paths: IndexPaths
    snapshot: Snapshot
    view: View
    vectors: Floats


def units(count: int, width: int = 256, seed: int = 0, clusters: int = 0) -> Floats:
    """Random unit vectors; with `clusters`, gathered round that many centres as those of a trained model are."""
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
    quantised = quantise(vectors)
    count = len(vectors)
    columns = {name: np.ones(count, kind) for name, kind in COLUMNS.items()}
    columns["kind"] = (np.arange(first, first + count) % 3).astype("<u1")
    columns["scale"] = quantised.scales.astype("<f2")
    nothing = Postings([], np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint8))
    blobs = Blobs(
        [(oid_of(first + place), "go") for place in range(count)],
        ["go"] * count,
        np.zeros(count, np.uint8),
        np.arange(count + 1, dtype=np.int64),
    )
    return Rows(blobs, columns, [b""] * count, quantised.vectors, {"text": nothing, "symbol": nothing})


def make(tmp_path: Path, vectors: Floats, parts: int = 1) -> Made:
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
    return Made(paths, Snapshot(paths, Manifest("1", segments=tuple(entries))), view, vectors)


def best(vectors: Floats, asked: Floats, keep: int, allowed: NDArray[np.bool_] | None = None) -> list[int]:
    scores = vectors @ asked
    if allowed is not None:
        scores = np.where(allowed, scores, -2)
    order = np.lexsort((np.arange(len(scores)), -scores))[:keep]
    return [int(row) for row in order if scores[row] > -2]


def recall(made: Made, asked: Floats, keep: int, graph: RowGraph | None = None) -> float:
    scope = Scope(made.snapshot, made.view, Filters())
    hits = [
        len({*search_dense(scope, one, 200, graph).rows[:keep].tolist()} & {*best(made.vectors, one, keep)}) / keep
        for one in asked
    ]
    return float(np.mean(hits))


@many
@given(seed=st.integers(0, 2**20), count=st.integers(1, 150), parts=st.integers(1, 4), keep=st.integers(1, 200))
def test_a_small_set_is_searched_exactly(tmp_path: Path, seed: int, count: int, parts: int, keep: int) -> None:
    """Property 2: Relevance and ranking."""
    made = make(tmp_path, units(count, 64, seed), parts)
    asked = units(1, 64, seed + 1)[0]
    found = search_dense(Scope(made.snapshot, made.view, Filters()), asked, max(keep, count))
    exact = exact_cosines(made.snapshot, asked, np.arange(count))
    assert found.rows.tolist() == np.lexsort((np.arange(count), -exact)).tolist()
    assert np.abs(exact - made.vectors @ asked).max() < 0.01


def test_signs_find_what_a_full_scan_finds(tmp_path: Path) -> None:
    made = make(tmp_path, units(8000, clusters=200), 2)
    assert recall(made, units(40, seed=5, clusters=200), 10) >= 0.98


def test_signs_alone_would_not_do(tmp_path: Path) -> None:
    made = make(tmp_path, units(4000, clusters=100))
    scope = Scope(made.snapshot, made.view, Filters())
    asked = units(20, seed=5, clusters=100)
    few = [len({*search_dense(scope, one, 10).rows[:10].tolist()} & {*best(made.vectors, one, 10)}) for one in asked]
    assert np.mean(few) < 9.8


@many
@given(
    seed=st.integers(0, 2**20), folder=st.integers(0, 4), chunk_types=st.sets(st.integers(0, 2)), whole=st.booleans()
)
def test_a_filter_never_starves_what_passes_it(
    tmp_path: Path, seed: int, folder: int, chunk_types: set[int], whole: bool
) -> None:
    from gitmem.types import CHUNK_TYPES

    made = make(tmp_path, units(60, 64, seed), 3)
    asked = units(1, 64, seed + 1)[0]
    filters = Filters(
        include=() if whole else (f"d{folder}/",), chunk_types=tuple(CHUNK_TYPES[code] for code in sorted(chunk_types))
    )
    numbers = np.arange(60)
    allowed = np.ones(60, bool) if whole else numbers % 5 == folder
    if chunk_types:
        allowed &= np.isin(numbers % 3, sorted(chunk_types))
    scope = Scope(made.snapshot, made.view, filters)
    assert scope.mask.tolist() == allowed.tolist()
    found = search_dense(scope, asked, 60).rows
    exact = exact_cosines(made.snapshot, asked, numbers)
    assert found.tolist() == [int(row) for row in np.lexsort((numbers, -exact)) if allowed[row]]


def test_a_question_without_a_vector_and_rows_without_one_do_no_harm(tmp_path: Path) -> None:
    vectors = units(20, 64)
    vectors[:5] = 0
    made = make(tmp_path, vectors, 2)
    scope = Scope(made.snapshot, made.view, Filters())
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
    for place in range(count):
        expected = sum(1 / (RRF_K + 1 + int((values > values[place]).sum())) for values in lists if values[place] > 0)
        assert fused[place] == pytest.approx(expected, rel=1e-5)
    assert np.allclose(fuse_ranks(lists[1], lists[0]), fused)
    assert (fused >= fuse_ranks(lists[0], np.zeros(count, np.float32)) - 1e-7).all()


@many
@given(dense=scores, lexical=scores, weights=st.tuples(st.floats(0.1, 2), st.floats(0.1, 2)))
def test_standard_scores_follow_their_formula(
    dense: list[float], lexical: list[float], weights: tuple[float, float]
) -> None:
    """As if four typical values were among them, two of them a deviation above and two below the mean."""
    count, most = min(len(dense), len(lexical)), 7.0
    lists = [np.array(values[:count], np.float32) for values in (dense, lexical)]
    expected = np.zeros(count)
    for weight, values, typical in zip(
        weights, (lists[0], lists[1] / most), (COSINE_PRIOR, LEXICAL_PRIOR), strict=True
    ):
        if values.any():
            more = [typical.mean + sign * typical.deviation for sign in (1, 1, -1, -1)]
            among = np.concatenate([values.astype(np.float64), more])
            expected += weight * (values - among.mean()) / among.std()
    assert np.allclose(fuse_zscores(lists[0], lists[1], FusionWeights(*weights), most), expected, atol=1e-3)


def test_what_has_no_say_moves_nothing() -> None:
    assert not standardise(np.zeros(4, np.float32), COSINE_PRIOR).any()
    assert not standardise_lexical(np.ones(4, np.float32), 0.0).any()
    assert len(standardise(np.zeros(0, np.float32), COSINE_PRIOR)) == 0


def test_a_candidate_alone_is_told_good_from_bad() -> None:
    good, bad = (float(standardise(np.array([value], np.float32), COSINE_PRIOR)[0]) for value in (0.7, 0.1))
    assert bad < -1 < 1 < good


# -- the graph


def quiet(done: int, total: int) -> None:
    assert done <= total


@needs_hnswlib
def test_the_graph_finds_what_an_exact_search_finds(tmp_path: Path) -> None:
    made = make(tmp_path, units(3000, clusters=60), 2)
    graph = build_graph(made.snapshot, None, quiet)
    assert recall(made, units(40, seed=5, clusters=60), 10, RowGraph(graph, made.snapshot)) >= 0.95


@needs_hnswlib
def test_a_written_graph_is_loaded_and_answers_alike(tmp_path: Path) -> None:
    made = make(tmp_path, units(1500))
    graph = build_graph(made.snapshot, None, quiet)
    name = write_graph(made.paths, graph)
    loaded = find_graph(made.paths, name, 256)
    assert loaded is not None
    assert loaded.keys.tolist() == graph.keys.tolist()
    assert is_intact(made.paths, name)
    asked = units(1, seed=3)[0]
    assert sorted(loaded.nearest(asked, 10).tolist()) == sorted(graph.nearest(asked, 10).tolist())
    assert find_graph(made.paths, name, 128) is None
    assert find_graph(made.paths, "0" * 40, 256) is None
    assert find_graph(made.paths, "", 256) is None


@needs_hnswlib
def test_a_graph_is_extended_by_new_segments_and_until_then_helped_out(tmp_path: Path) -> None:
    vectors = units(3000, clusters=60)
    small = make(tmp_path, vectors[:2000])
    graph = build_graph(small.snapshot, None, quiet)
    grown = make(tmp_path, vectors, 3)
    seen = RowGraph(graph, grown.snapshot)
    assert seen.missing.tolist() == list(range(2000, 3000))
    asked = units(30, seed=5, clusters=60)
    assert recall(grown, asked, 10, seen) >= 0.95
    added: list[int] = []
    graph = build_graph(grown.snapshot, graph, lambda done, total: added.append(total))
    assert set(added) == {1000}
    assert len(RowGraph(graph, grown.snapshot).missing) == 0
    assert recall(grown, asked, 10, RowGraph(graph, grown.snapshot)) >= 0.95


@needs_hnswlib
def test_a_graph_outlives_segments_that_are_joined(tmp_path: Path) -> None:
    made = make(tmp_path, units(1200), 4)
    graph = build_graph(made.snapshot, None, quiet)
    turned = concatenate([segment.load_rows() for segment in reversed(made.snapshot.segments)])
    entry = write_segment(made.paths.segments, turned)
    joined = Snapshot(made.paths, Manifest("1", segments=(entry,)))
    assert sorted(joined.row_keys.tolist()) == sorted(made.snapshot.row_keys.tolist())
    assert len(set(joined.row_keys.tolist())) == 1200
    seen = RowGraph(graph, joined)
    assert len(seen.missing) == 0
    for row in (0, 500, 1199):
        assert row in seen.nearest(joined.unit_vectors(np.array([row]))[0], 5)


@needs_hnswlib
def test_a_graph_that_is_mostly_dead_is_built_anew(tmp_path: Path) -> None:
    old = build_graph(make(tmp_path, units(1000)).snapshot, None, quiet)
    other = make(tmp_path, units(300))
    graph = build_graph(other.snapshot, old, quiet)
    assert len(graph.keys) == 300


@needs_hnswlib
@pytest.mark.parametrize("suffix", ["", ".hnsw"])
@pytest.mark.parametrize("place", [0, 9, 60, 0.3, 0.7, -1, "cut", "empty", "gone"])
def test_a_damaged_graph_is_not_loaded(tmp_path: Path, suffix: str, place: int | float | str) -> None:
    made = make(tmp_path, units(300))
    name = write_graph(made.paths, build_graph(made.snapshot, None, quiet))
    file = made.paths.graph(name + suffix)
    data = bytearray(file.read_bytes())
    if place == "gone":
        file.unlink()
    elif isinstance(place, str):
        file.write_bytes(data[: len(data) // 2 if place == "cut" else 0])
    else:
        data[int(place * len(data)) if isinstance(place, float) else place] ^= 2
        file.write_bytes(data)
    graph = find_graph(made.paths, name, 256)
    padding = suffix == "" and graph is not None and graph.keys.tolist() == made.snapshot.row_keys.tolist()
    assert graph is None or padding


@needs_hnswlib
def test_a_graph_file_that_hnswlib_could_not_finish_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gitmem.errors import StorageFailed

    made = make(tmp_path, units(300))
    graph = build_graph(made.snapshot, None, quiet)
    real = graph._index

    class FullDisk:
        dim = real.dim

        def save_index(self, path: str) -> None:
            real.save_index(path)
            data = Path(path).read_bytes()
            Path(path).write_bytes(data[: len(data) // 2])

        def get_items(self, rows: object) -> object:
            return real.get_items(rows)

    graph._index = FullDisk()
    with pytest.raises(StorageFailed):
        write_graph(made.paths, graph)
    assert list(made.paths.graphs.iterdir()) == []


def test_without_hnswlib_there_is_no_graph_and_searches_are_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    made = make(tmp_path, units(100))
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    assert not graph_module.is_available()
    assert find_graph(made.paths, "0" * 40, 256) is None
    assert recall(made, units(5, seed=2), 10) == 1.0
