"""Killed at any change of the disk, the index of messages is whole, and the next run completes it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.freshness.commit_index import find_history
from gitmem.freshness.commit_run import index_commits
from gitmem.store.snapshot import Snapshot
from tests.commit_messages import Message, import_messages
from tests.faults.dying_disk import DyingDisk, DyingInPlace, kill_each
from tests.faults.oracle import find_faults, small_steps
from tests.gitrepo import Repo
from tests.indexes import DumpedRow, dump_rows, index, search, workspace_of


@pytest.fixture
def small() -> Iterator[None]:
    with small_steps(grace=0.0):
        yield


def make_world(folder: Path) -> Repo:
    """Make a repository whose messages were indexed before, with more commits than a segment holds since then."""
    repo = Repo.init(folder / "world")
    import_messages(repo, [Message(f"Add part {number} of the old wing") for number in range(4)])
    index(repo)
    index_commits(workspace_of(repo))
    import_messages(repo, [Message(f"Add part {number} of the new wing") for number in range(14)], parent="main")
    return repo


def rows_of(repo: Repo) -> set[DumpedRow]:
    workspace = workspace_of(repo)
    manifest = find_history(workspace)
    return set() if manifest is None else dump_rows(Snapshot(workspace.paths.history, manifest))


def kill_run(folder: Path, disk: type[DyingDisk], *, step: int) -> tuple[int, list[str]]:
    """Kill a run at every `step`-th change of the disk, until something is wrong; return the kills, and what it was."""
    world = make_world(folder)
    run_index(world)
    expected = rows_of(world)
    shutil.rmtree(world.path)
    world = make_world(folder)
    before = rows_of(world)

    def look_after(repo: Repo) -> Iterator[str]:
        workspace = workspace_of(repo)
        yield from find_faults(workspace.paths.history)
        if not before <= rows_of(repo) <= expected:
            yield "other rows than before and after"
        if not search(repo, "old wing", workspace, kinds=("commits",), refresh=False).hits:
            yield "no hits"
        run_index(repo)
        if rows_of(repo) != expected:
            yield "the next run has other rows"

    return kill_each(world, run_index, look_after, disk, step=step)


def run_index(repo: Repo) -> None:
    index_commits(workspace_of(repo))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.long)])
def test_a_kill_at_any_change_of_the_disk_costs_no_repair(step: int, tmp_path: Path) -> None:
    kills, bad = kill_run(tmp_path, DyingDisk, step=step)
    assert kills >= 5
    assert bad == []


@pytest.mark.usefixtures("small")
def test_a_writer_in_place_would_be_caught(tmp_path: Path) -> None:
    assert kill_run(tmp_path, DyingInPlace, step=1)[1]
