"""Merges in the background: no rows are lost or changed, whatever other processes and the disk do meanwhile."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gitmem.errors import Cancelled, StorageFailed
from gitmem.freshness.compaction import compact_in_background, is_due
from gitmem.fsio import Disk
from gitmem.store.manifest import find_manifest
from gitmem.workspace import open_snapshot, require_index
from tests.faults.oracle import differences, find_faults, from_scratch, small_steps
from tests.faults.worlds import SCENARIOS, make
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of

TIERED = next(scenario for scenario in SCENARIOS if scenario.name == "background merge")


@pytest.fixture
def tiered(tmp_path: Path) -> Iterator[Repo]:
    """Return a repository whose index has a full tier."""
    with small_steps():
        yield make(TIERED, tmp_path / "repo")


def segments_of(repo: Repo) -> list[str]:
    return [entry.name for entry in require_index(workspace_of(repo)).segments]


def test_a_full_tier_becomes_one_segment_with_the_same_rows(tiered: Repo, tmp_path: Path) -> None:
    before = segments_of(tiered)
    assert is_due(require_index(workspace_of(tiered)))
    assert compact_in_background(workspace_of(tiered)) == 1
    assert len(segments_of(tiered)) < len(before)
    assert not is_due(require_index(workspace_of(tiered)))
    assert not differences(tiered, from_scratch(tiered, tmp_path / "fresh"))
    assert compact_in_background(workspace_of(tiered)) == 0


def test_the_rows_of_one_run_become_one_segment(tmp_path: Path) -> None:
    with small_steps():
        repo = make(SCENARIOS[0], tmp_path / "repo")
        index(repo)
        assert len(segments_of(repo)) == 1


def test_a_reader_of_the_old_generation_is_not_disturbed(tiered: Repo) -> None:
    workspace = workspace_of(tiered)
    old = require_index(workspace)
    snapshot = open_snapshot(workspace, old)
    rows = np.arange(snapshot.rows)
    vectors = snapshot.unit_vectors(rows)
    compact_in_background(workspace)
    # Its files outlive the generation, for a reader that has read the manifest and not opened them yet.
    assert not open_snapshot(workspace, old).lost
    snapshot.require_whole()
    assert np.array_equal(snapshot.unit_vectors(rows), vectors)


def test_a_merge_is_dropped_if_another_process_replaced_its_sources(
    tiered: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interfering(Disk):
        """Rebuild the index at the moment when the merged segment gets its name."""

        def __init__(self) -> None:
            self.merged = ""

        def rename(self, source: Path, target: Path) -> None:
            super().rename(source, target)
            if source.parent.name == "state" and target.parent.name == "segments" and not self.merged:
                self.merged = target.name
                index(tiered, full=True)

    disk = Interfering()
    monkeypatch.setattr("gitmem.fsio.disk", disk)
    # The index is rebuilt in parts that no longer include the sources of the merge.
    tiered.commit({"new.py": "def new():\n    return 1\n"})
    compact_in_background(workspace_of(tiered))
    assert disk.merged
    names = segments_of(tiered)
    file = workspace_of(tiered).paths.segment(disk.merged)
    assert file.exists() == (disk.merged in names)
    assert not find_faults(workspace_of(tiered).paths)
    assert not differences(tiered, from_scratch(tiered, tmp_path / "fresh"))


def test_a_full_disk_during_a_merge_leaves_the_index_and_no_file(tiered: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(Disk):
        def write(self, handle: int, data: memoryview) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = segments_of(tiered)
    paths = workspace_of(tiered).paths
    with monkeypatch.context() as patch:
        patch.setattr("gitmem.fsio.disk", Full())
        with pytest.raises(StorageFailed, match="space"):
            compact_in_background(workspace_of(tiered))
    assert segments_of(tiered) == before
    assert not list(paths.state.glob(".segment.*"))
    assert not find_faults(paths)
    assert compact_in_background(workspace_of(tiered)) == 1


def test_a_merge_is_not_begun_without_room_for_it(tiered: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.statvfs", lambda path: os.statvfs_result((4096, 4096, 10, 1, 1, 0, 0, 0, 0, 255)))
    with pytest.raises(StorageFailed, match="not enough space"):
        compact_in_background(workspace_of(tiered))


def test_a_merge_that_is_stopped_leaves_nothing(tiered: Repo) -> None:
    def stop() -> None:
        raise Cancelled("stopped")

    before = segments_of(tiered)
    with pytest.raises(Cancelled):
        compact_in_background(workspace_of(tiered), check_stop=stop)
    assert segments_of(tiered) == before
    assert not list(workspace_of(tiered).paths.state.glob(".segment.*"))


def test_files_of_killed_merges_are_swept_by_the_next_one(tiered: Repo) -> None:
    left = workspace_of(tiered).paths.state / ".segment.00.tmp"
    left.write_bytes(b"unfinished")
    compact_in_background(workspace_of(tiered))
    assert not left.exists()


def test_the_manifest_identifies_the_file_that_was_written(tiered: Repo) -> None:
    """The checksums of such a file need not be verified again, those of a copied or changed file are."""
    compact_in_background(workspace_of(tiered))
    paths = workspace_of(tiered).paths
    manifest = find_manifest(paths.manifest)
    assert manifest is not None
    for entry in manifest.segments:
        status = paths.segment(entry.name).stat()
        assert (entry.inode, entry.modified, entry.bytes) == (status.st_ino, status.st_mtime_ns, status.st_size)
    assert search(tiered, "part0 load").hits
