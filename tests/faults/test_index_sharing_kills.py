"""Killed at any change of the disk, a push or a pull of an index loses nothing, and nobody sees a part of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.errors import GitmemError
from tests.faults import index_kill, tape
from tests.faults.driver import InPlace
from tests.faults.dying_disk import DyingDisk, Killed
from tests.faults.oracle import small_steps
from tests.faults.shared_index import FOLDER, REFS, World, look_after, make_world, pull, push
from tests.indexes import dump_rows, snapshot_of


class DyingInPlace(DyingDisk, InPlace):
    """Control: a disk that dies, under a writer that writes over what is there."""


@pytest.fixture
def small() -> Iterator[None]:
    with small_steps(grace=0.0):
        yield


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


needs_tape = pytest.mark.skipif(not tape.is_available(), reason="needs Linux and a C compiler")


@needs_tape
@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_kill_of_both_gits_loses_nothing(long: bool) -> None:
    tally = index_kill.run(long=long)
    assert tally.passed, str(tally)


@needs_tape
def test_a_remote_whose_ref_moves_before_its_objects_would_be_caught() -> None:
    tally = index_kill.run_control()
    assert tally.passed, str(tally)
