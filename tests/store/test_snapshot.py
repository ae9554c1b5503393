"""A snapshot matches the entries of a view with its blobs."""

from pathlib import Path

import numpy as np
import pytest

from gitmem.paths import IndexPaths
from gitmem.store.columns import OUTCOMES
from gitmem.store.graph import RowGraph, build_graph, is_available
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment_writer import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import ViewEntry, load_view
from tests.store.sample_rows import DIMENSIONS, SampleBlob, SampleChunk, oid_of, rows_of


def test_a_blob_with_the_key_of_another_is_not_taken_for_it(tmp_path: Path) -> None:
    """The key is the head of the object id, so an attacker can choose a blob that shares it."""
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()
    chunk = SampleChunk(0, 10, b"f", {b"word": 1}, {})
    rows = rows_of([SampleBlob(oid_of(name), "python", "python", 0, [chunk]) for name in "abc"])
    snapshot = Snapshot(paths, Manifest("1", segments=(write_segment(paths.segments, rows),)))
    oid, language = rows.blobs.keys[1]
    twin = oid[:8] + bytes(byte ^ 1 for byte in oid[8:])
    entries = [ViewEntry(b"a.py", oid, language, 0), ViewEntry(b"b.py", twin, language, 0)]
    view = load_view(Path("view"), "t", entries)
    assert view.keys[0] == view.keys[1]
    assert snapshot.match(view).tolist() == [1, -1]


@pytest.mark.parametrize("order", [("failed", "text"), ("text", "failed")])
def test_of_several_attempts_at_a_blob_the_one_that_read_it_counts(tmp_path: Path, order: tuple[str, str]) -> None:
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()
    chunk = SampleChunk(0, 10, b"f", {b"word": 1}, {})
    entries = [
        write_segment(
            paths.segments,
            rows_of([SampleBlob(oid_of("a"), "", "", OUTCOMES.index(name), [chunk] if name == "text" else [])]),
        )
        for name in order
    ]
    snapshot = Snapshot(paths, Manifest("1", segments=tuple(entries)))
    view = load_view(Path("view"), "t", [ViewEntry(b"a", oid_of("a"), "", 0)])
    assert snapshot.match(view).tolist() == [order.index("text")]


def test_rows_of_several_segments_are_located_in_their_own(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()
    samples = [
        SampleBlob(oid_of(name), "", "", 0, [SampleChunk(start, 5, b"f", {b"word": 1}, {}) for start in range(count)])
        for name, count in (("a", 3), ("b", 1), ("c", 2))
    ]
    entries = [write_segment(paths.segments, rows_of([sample])) for sample in samples]
    snapshot = Snapshot(paths, Manifest("1", segments=tuple(entries)))
    places = [snapshot.locate(row) for row in range(snapshot.rows)]
    assert [(snapshot.segments.index(segment), row) for segment, row in places] == [
        (0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1),
    ]  # fmt: skip
    assert snapshot.dimensions == DIMENSIONS
    assert Snapshot(paths, Manifest("1")).dimensions == 0


@pytest.mark.skipif(not is_available(), reason="needs hnswlib")
def test_a_graph_that_is_extended_in_steps_finds_each_row_by_its_own_vector(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()

    def segment(name: str, count: int) -> SegmentEntry:
        chunks = [SampleChunk(start, 5, b"f", {b"word": 1}, {}) for start in range(count)]
        return write_segment(paths.segments, rows_of([SampleBlob(oid_of(name), "", "", 0, chunks)]))

    first = segment("a", 30)
    old = Snapshot(paths, Manifest("1", segments=(first,)))
    steps: list[tuple[int, int]] = []
    graph = build_graph(old, None, lambda done, total: steps.append((done, total)))
    snapshot = Snapshot(paths, Manifest("1", segments=(first, segment("b", 4100))))
    extended = RowGraph(build_graph(snapshot, graph, lambda done, total: steps.append((done, total))), snapshot)
    assert steps[0] == (30, 30)
    assert steps[-1] == (4100, 4100)
    assert len(steps) > 3
    assert extended.missing.tolist() == []
    rows = np.array([0, 29, 30, 2029, 2030, 4029, 4030, 4129])
    for row, vector in zip(rows.tolist(), snapshot.unit_vectors(rows), strict=True):
        assert row in extended.nearest(vector, 5).tolist()
