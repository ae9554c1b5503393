"""Killed at any change of the disk, the index of the past is whole, and the next run completes it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.freshness.past_run import index_past
from tests.faults.dying_disk import DyingDisk, DyingInPlace, kill_each
from tests.faults.oracle import find_faults, small_steps
from tests.faults.past_worlds import lives_of
from tests.gitrepo import Repo
from tests.indexes import index, python_file, workspace_of
from tests.past_histories import ask, symbols_of


@pytest.fixture
def small() -> Iterator[None]:
    with small_steps(grace=0.0):
        yield


def make_world(folder: Path) -> Repo:
    """Make a repository whose past was indexed before, with more definitions than a segment holds since then."""
    repo = Repo.init(folder / "world")
    repo.commit({"wing.py": python_file("old_wing", "old_roof")}, "Build the old wing")
    index(repo)
    index_past(workspace_of(repo))
    for number in range(5):
        names = [f"{part}_{number}" for part in ("door", "window", "stairs")]
        repo.commit({"wing.py": python_file(*names)}, f"Build wing {number}")
    return repo


def kill_run(folder: Path, disk: type[DyingDisk], *, step: int) -> tuple[int, list[str]]:
    """Kill a run at every `step`-th change of the disk, until something is wrong; return the kills, and what it was."""
    world = make_world(folder)
    before = lives_of(world)
    after = Repo(folder / "after")
    shutil.copytree(world.path, after.path)
    run_index(after)
    expected = lives_of(after)

    def look_after(repo: Repo) -> Iterator[str]:
        yield from find_faults(workspace_of(repo).paths.past)
        if lives_of(repo) not in (before, expected):
            yield "other lives than before and after"
        if "old_wing" not in symbols_of(ask(repo, "handle old wing")):
            yield "no results"
        run_index(repo)
        if lives_of(repo) != expected:
            yield "the next run has other lives"

    return kill_each(world, run_index, look_after, disk, step=step)


def run_index(repo: Repo) -> None:
    index_past(workspace_of(repo))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.long)])
def test_a_kill_at_any_change_of_the_disk_costs_no_life(step: int, tmp_path: Path) -> None:
    kills, bad = kill_run(tmp_path, DyingDisk, step=step)
    assert kills >= 3
    assert bad == []


@pytest.mark.usefixtures("small")
def test_a_writer_in_place_would_be_caught(tmp_path: Path) -> None:
    assert kill_run(tmp_path, DyingInPlace, step=1)[1]
