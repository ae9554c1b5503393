"""How the memory of a run is divided, and what happens to workers that take more than their share."""

import os
from pathlib import Path

import pytest

from gitmem.errors import ConfigError
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.pool import Pool
from gitmem.indexing.spare_worker import spare_worker
from gitmem.indexing.worker_process import WorkerProcess
from gitmem.indexing.worker_protocol import BlobContent, PackedRows
from gitmem.processes.memory import own_bytes, resident_bytes
from gitmem.store.manifest import find_manifest
from tests.gitrepo import Repo
from tests.indexes import index, python_file, workspace_of

MIB = 1 << 20
BATCHES = [[BlobContent("python", b"def f%d():\n    return %d\n" % (n, n))] for n in range(12)]

needs_procfs = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs procfs")


class Process:
    """A process whose memory is set by the test."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self) -> int:
        return self.size


class NarrowBudget(MemoryBudget):
    """Gives each worker a share that none keeps to."""

    def share_of(self, workers: int) -> int:
        return MIB


def test_shares_parts_and_this_process_add_up_to_the_limit() -> None:
    process = Process(500 * MIB)
    budget = MemoryBudget(1024 * MIB, process)
    process.size += 100 * MIB  # what was there before does not count
    assert budget.left == 1024 * MIB - 256 * MIB - 100 * MIB
    assert (
        3 * budget.share_of(3) <= budget.left - budget.flush_bytes - budget.in_flight_bytes < 3 * budget.share_of(3) + 3
    )


def test_fewer_workers_run_if_their_shares_would_be_too_small() -> None:
    process = Process(0)
    budget = MemoryBudget(1024 * MIB, process)
    assert budget.count_workers(2) == 2
    assert budget.count_workers(64) == 3
    process.size = 200 * MIB
    assert budget.count_workers(64) == 2
    process.size = 900 * MIB
    with pytest.raises(ConfigError, match="needs about") as error:
        budget.count_workers(1)
    assert "git config gitmem.maxMemory" in str(error.value.hint)


def test_the_smallest_setting_suffices_for_a_small_repository() -> None:
    from gitmem.settings import SETTINGS

    minimum = next(setting.minimum for setting in SETTINGS if setting.name == "maxMemory")
    budget = MemoryBudget(minimum, process := Process(0))
    process.size = 60 * MIB
    assert budget.count_workers(8) == 1


@needs_procfs
def test_workers_above_their_share_are_replaced_without_changing_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({f"file{number}.py": python_file(f"function_{number}") for number in range(200)})
    index(repo)
    expected = segment_names(repo)
    replaced: list[bool] = []

    class Recorder(WorkerProcess):
        def recycle(self, share: int) -> bool:
            replaced.append(super().recycle(share))
            return replaced[-1]

    with monkeypatch.context() as patch:
        for name in ("pool.MIN_WORKER", "pool.MIN_FORKED", "memory_budget.MIN_WORKER", "memory_budget.MIN_FORKED"):
            patch.setattr(f"gitmem.indexing.{name}", MIB)
        patch.setattr("gitmem.indexing.pool.WorkerProcess", Recorder)
        patch.setattr("gitmem.freshness.index_tree.MemoryBudget", NarrowBudget)
        spare_worker.end()  # that of the first run records nothing
        index(repo, full=True)
    assert segment_names(repo) == expected
    assert len(replaced) >= 4
    assert all(replaced)


def segment_names(repo: Repo) -> list[str]:
    """Return the names of the segments, which are hashes of their contents."""
    manifest = find_manifest(workspace_of(repo).paths.manifest)
    assert manifest is not None
    return [entry.name for entry in manifest.segments]


@needs_procfs
def test_workers_end_when_this_process_has_grown_too_much() -> None:
    process = Process(0)
    budget = MemoryBudget(1024 * MIB, process)
    with Pool(3, budget=budget) as pool:
        results: list[PackedRows] = []
        for parts in pool.run(BATCHES):
            results += parts
            process.size = 600 * MIB
    assert len(pool._working) < 3
    assert [part.blobs[0].outcome for part in results] == ["parsed"] * len(BATCHES)


@needs_procfs
def test_memory_of_processes_is_measured() -> None:
    before = resident_bytes()
    ballast = bytearray(os.urandom(64 * MIB))
    assert resident_bytes() - before > 48 * MIB
    assert own_bytes(os.getpid()) > len(ballast)
    assert own_bytes(2**22 + 1) == 0


@needs_procfs
def test_workers_that_share_what_is_loaded_need_less_each() -> None:
    budget = MemoryBudget(512 * MIB, Process(0))
    assert budget.count_workers(8) == 2
    assert budget.count_workers(8, forked=True) == 3
    assert budget.count_workers(1, forked=True) == 1


def test_workers_count_in_full_if_shared_pages_are_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.processes.memory.PROC", tmp_path)
    assert MemoryBudget(512 * MIB, Process(0)).count_workers(8, forked=True) == 2
