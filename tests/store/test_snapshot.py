"""A snapshot matches the entries of a view with its blobs."""

from pathlib import Path

import pytest

from gitmem.paths import IndexPaths
from gitmem.store.columns import OUTCOMES
from gitmem.store.manifest import Manifest
from gitmem.store.segment_writer import write_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import ViewEntry, load_view
from tests.store.sample_rows import SampleBlob, SampleChunk, oid_of, rows_of


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
