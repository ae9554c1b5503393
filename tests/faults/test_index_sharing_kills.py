"""Killed at any change of the disk, a push or a pull of an index loses nothing, and nobody sees a part of it."""

import shutil
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import NamedTuple

import pytest

from gitmem import fsio
from gitmem.actions.index_exchange import pull_index, push_index
from gitmem.actions.remote_check import verify_remote
from gitmem.errors import GitmemError
from tests.actions.index_team import clone_of
from tests.faults.driver import InPlace
from tests.faults.dying_disk import DyingDisk, Killed
from tests.faults.oracle import find_faults, small_steps
from tests.gitrepo import Repo
from tests.indexes import dump_rows, index, python_file, snapshot_of, workspace_of

REFS = ""
FOLDER = "../store"


class DyingInPlace(DyingDisk, InPlace):
    """Control: a disk that dies, under a writer that writes over what is there."""


@pytest.fixture
def small() -> Iterator[None]:
    with small_steps(grace=0.0):
        yield


class World(NamedTuple):
    """Folder with a remote, a store, a clone that has indexed all, and one that has indexed some files of its own."""

    folder: Path

    @property
    def ann(self) -> Repo:
        return Repo(self.folder / "ann")

    @property
    def bob(self) -> Repo:
        return Repo(self.folder / "bob")

    def copy(self, name: str) -> "World":
        target = self.folder.with_name(name)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder, target, symlinks=True)
        return World(target)


def make_world(folder: Path) -> World:
    """Make the world; no rows are shared yet."""
    folder.mkdir()
    remote = Repo.init(folder / "remote", "--bare")
    ann = clone_of(remote, "ann")
    ann.git("checkout", "--quiet", "-b", "main")
    ann.commit({"own.py": python_file("own_door")})
    ann.git("push", "--quiet", "-u", "origin", "main")
    bob = clone_of(remote, "bob")
    index(bob)
    ann.commit({f"part_{number}.py": python_file(f"door_{number}", f"roof_{number}") for number in range(3)})
    ann.git("push", "--quiet")
    index(ann)
    bob.git("pull", "--quiet", "origin", "main")
    for clone in (ann, bob):
        clone.git("config", "remote.origin.url", "../remote")  # so that a copy of the world is a world of its own
    (folder / "store").mkdir()
    return World(folder)


def push(world: World, store: str) -> None:
    push_index(workspace_of(world.ann), store=store)


def pull(world: World, store: str) -> None:
    pull_index(workspace_of(world.bob), store=store)


def look_after(world: World, store: str, expected: Set[object]) -> Iterator[str]:
    """Yield what is wrong after a kill: for readers now, and after both commands ran again."""
    workspace = workspace_of(world.bob)
    own = dump_rows(snapshot_of(world.bob))
    yield from find_faults(workspace.paths)
    yield from verify_remote(workspace, "", store).faults
    yield from pull_index(workspace, store=store).notices
    push(world, store)
    again = pull_index(workspace, store=store)
    yield from again.notices
    if again.missing:
        yield f"{again.missing} blobs are missing after all"
    rows = set(dump_rows(snapshot_of(world.bob)))
    if not set(own) <= rows or rows != expected:
        yield "other rows than those that were pushed"
    yield from find_faults(workspace.paths)


def kill_each(
    folder: Path, disk: type[DyingDisk], action: Callable[[World, str], None], store: str, *, step: int
) -> tuple[int, list[str]]:
    """Kill an action at every `step`-th change of the disk, until something is wrong; return the kills, and what."""
    world = make_world(folder / "world")
    expected = set(dump_rows(snapshot_of(world.ann)))
    if action is pull:
        push(world, store)
    kills, bad = 0, list[str]()
    while not bad:
        own = world.copy("copy")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fsio, "disk", disk(kills * step + step // 2))
            try:
                action(own, store)
            except Killed:
                kills += 1
            else:
                break
        try:
            bad += look_after(own, store, expected)
        except GitmemError as problem:
            bad.append(problem.message)
    return kills, bad


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("action", [push, pull])
@pytest.mark.parametrize(
    ("store", "step"), [(FOLDER, 40), pytest.param(FOLDER, 1, marks=pytest.mark.long),
                        pytest.param(REFS, 1, marks=pytest.mark.long)]
)  # fmt: skip
def test_a_kill_at_any_change_of_the_disk_loses_nothing(
    action: Callable[[World, str], None], store: str, step: int, tmp_path: Path
) -> None:
    kills, bad = kill_each(tmp_path, DyingDisk, action, store, step=step)
    assert kills >= 1
    assert bad == []


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("action", "step"), [(pull, 7), pytest.param(push, 1, marks=pytest.mark.long)])
def test_a_writer_in_place_would_be_seen(action: Callable[[World, str], None], step: int, tmp_path: Path) -> None:
    assert kill_each(tmp_path, DyingInPlace, action, FOLDER, step=step)[1]
