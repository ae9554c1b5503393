"""Files that no generation names are removed after a grace period; compaction keeps the blob that was read."""

import os
import time
from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.indexing.compact import merge
from gitmem.indexing.index_writer import open_index_writer
from gitmem.indexing.retention import GRACE_SECONDS, remove_unnamed
from gitmem.paths import IndexPaths
from gitmem.store.columns import OUTCOMES
from gitmem.store.manifest import Manifest
from gitmem.store.segment import find_segment
from gitmem.store.segment_writer import write_segment
from tests.store.sample_rows import SampleBlob, SampleChunk, oid_of, rows_of


@pytest.mark.parametrize(("age", "stays"), [(0, True), (50, True), (150, False), (-50, True), (-150, False)])
def test_a_grace_period_ends_also_after_the_clock_was_set_back(tmp_path: Path, age: float, stays: bool) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    os.utime(file, (time.time() - age,) * 2)
    assert remove_unnamed(tmp_path, {"other"}, 100.0).files == (not stays)
    assert file.exists() == stays


def test_the_grace_period_of_a_segment_begins_when_it_is_no_longer_named(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()
    entry = write_segment(paths.segments, rows_of([sample("a", "text")]))
    os.utime(paths.segment(entry.name), (time.time() - 2 * GRACE_SECONDS,) * 2)
    with open_index_writer(paths, wait=False) as writer:
        writer.publish(Manifest("1", 1, (entry,)))
        writer.publish(Manifest("1", 2))
    assert paths.segment(entry.name).exists()


def test_segments_of_an_unfinished_full_run_stay(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    for folder in (paths.segments, paths.state):
        folder.mkdir()
    entry = write_segment(paths.segments, rows_of([sample("a", "text")]))
    os.utime(paths.segment(entry.name), (time.time() - 2 * GRACE_SECONDS,) * 2)
    with open_index_writer(paths, wait=False) as writer:
        writer.publish_unfinished(Manifest("1", 1, (entry,)))
        writer.publish(Manifest("1", 2))
        assert paths.segment(entry.name).exists()
        writer.drop_unfinished()
        writer.publish(Manifest("1", 3))
        assert not paths.segment(entry.name).exists()


class CountingDisk(fsio.Disk):
    """Disk that counts fsyncs."""

    syncs = 0

    def sync(self, handle: int) -> None:
        type(self).syncs += 1
        super().sync(handle)


def test_only_a_generation_is_made_durable_not_the_progress_of_a_full_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = IndexPaths(tmp_path)
    for folder in (paths.segments, paths.state):
        folder.mkdir()
    monkeypatch.setattr(fsio, "disk", CountingDisk())
    with open_index_writer(paths, wait=False) as writer:
        writer.publish_unfinished(Manifest("1", 1))
        assert CountingDisk.syncs == 0
        writer.publish(Manifest("1", 2))
        assert CountingDisk.syncs > 0


@pytest.mark.parametrize("outcomes", [("failed", "text"), ("text", "failed"), ("missing", "text"), ("text", "text")])
def test_of_several_attempts_the_one_that_read_the_blob_is_kept(tmp_path: Path, outcomes: tuple[str, str]) -> None:
    paths = IndexPaths(tmp_path)
    paths.segments.mkdir()
    parts = [rows_of([sample("a", outcome), sample("b", "text")]) for outcome in outcomes]
    merged = merge(paths, [write_segment(paths.segments, part) for part in parts], paths.segments)
    segment = find_segment(paths.segments, merged)
    assert segment is not None
    rows = segment.load_rows()
    assert sorted(rows.blobs.keys) == sorted({(oid_of("a"), ""), (oid_of("b"), "")})
    assert [OUTCOMES[outcome] for outcome in rows.blobs.outcomes.tolist()] == ["text", "text"]


def sample(name: str, outcome: str) -> SampleBlob:
    """Return a blob with a row, or without one if it was not read."""
    chunks = [SampleChunk(0, 10, b"f", {b"word": 1}, {})] if outcome == "text" else []
    return SampleBlob(oid_of(name), "", "", OUTCOMES.index(outcome), chunks)
