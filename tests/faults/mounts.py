"""Real file systems in trouble: full, without inodes, read-only, laid over another. Mounted for the purpose.

Runs in a mount namespace of its own, so that nothing stays mounted whatever happens to it; where the system lets a
person have such a namespace without being root, none is needed.
"""

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem import fsio
from gitmem.answering.answer import answer
from gitmem.answering.search_query import Query
from gitmem.errors import GitmemError
from gitmem.freshness.tree_selection import TreeSelection
from tests.faults.chaos import DONE, UNCLEAN, run_copy
from tests.faults.disk_states import State, put_state, read_base
from tests.faults.elsewhere import CONTROL, LONG, SHORT, mounted, remount, run_elsewhere, tell
from tests.faults.kill import World, look_after, open_world
from tests.faults.oracle import find_faults, find_lies
from tests.faults.report import Tally
from tests.faults.worlds import SCENARIOS, Scenario, chosen
from tests.gitrepo import Repo
from tests.indexes import workspace_of

PLENTY: Final = 256 << 20
MANY: Final = 100_000
"""Bytes and inodes of a file system that has enough."""


class Careless(fsio.Disk):
    """Takes what the disk refused for written, as who never looks at the result of a call does."""

    def write(self, handle: int, data: memoryview) -> int:
        with suppress(OSError):
            super().write(handle, data)
        return len(data)


def run(*, long: bool, only: str = "") -> Tally:
    """Every amount of room, or some; then read-only, then an overlay."""
    return run_elsewhere(__name__, "file systems in trouble", LONG if long else SHORT, only)


def run_control() -> Tally:
    """Full disks under a writer that does not look at what they say."""
    return run_elsewhere(__name__, "full disks under a careless writer", CONTROL)


def _try_all(form: str, only: str, tally: Tally) -> None:
    numbers = {LONG: [0, 1, 2, 3, 4, 6], SHORT: [1, 6], CONTROL: [1]}[form]
    for scenario in chosen((SCENARIOS[number] for number in numbers), only):
        with tempfile.TemporaryDirectory() as place, mounted("tmpfs", Path(place), f"size={PLENTY}"):
            _try_scenario(scenario, Path(place), form, tally)
        tally.show_progress(f"{scenario.name} is done")


def _try_scenario(scenario: Scenario, place: Path, form: str, tally: Tally) -> None:
    world = open_world(scenario, place)
    own = Repo(place / "own")
    shutil.copytree(world.repo.path, own.path, symlinks=True)
    base = read_base(own)
    pages, inodes = _needs(world, own)
    step = 1 if form == LONG else max(1, pages // 3)
    for free in range(0, pages + 1, step):
        _try_room(world, own, base, f"size={_used(place)[0] + free * os.sysconf('SC_PAGESIZE')}", free, tally, form)
        put_state(own, base)
    if form == CONTROL:
        return
    for free in range(0, inodes + 1, step):
        _try_room(world, own, base, f"nr_inodes={_used(place)[1] + free}", free, tally, form)
        put_state(own, base)
    _try_read_only(world, own, base, tally)
    _try_overlay(world, place, tally)


def _needs(world: World, own: Repo) -> tuple[int, int]:
    """Pages and inodes that a run takes, about."""
    place = own.path.parent
    base = read_base(own)
    before = _used(place)
    world.scenario.act(own)
    after = _used(place)
    put_state(own, base)
    page = os.sysconf("SC_PAGESIZE")
    return max(0, after[0] - before[0]) // page + 6, max(0, after[1] - before[1]) + 3


def _used(place: Path) -> tuple[int, int]:
    """Bytes and inodes that a file system holds."""
    found = os.statvfs(place)
    return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree


def _try_room(world: World, own: Repo, base: State, room: str, free: int, tally: Tally, form: str) -> None:
    """One run with so much room; then there is plenty again."""
    place = own.path.parent
    remount(place, room)
    code, words = run_copy(lambda: _act(world, own, careless=form == CONTROL))
    remount(place, f"size={PLENTY},nr_inodes={MANY}")
    bad = [words] if code == UNCLEAN else []
    acknowledged = world.acknowledged
    if code == DONE and world.scenario.acknowledges:
        acknowledged = (*acknowledged, own.oid("HEAD^{tree}"))
    bad += look_after(world._replace(acknowledged=acknowledged), own)
    tally.note(f"{world.scenario.name}, {room.partition('=')[0]} with {free} free", bad)


def _act(world: World, own: Repo, *, careless: bool) -> None:
    if careless:
        fsio.disk = Careless()
    world.scenario.act(own)


def _try_read_only(world: World, own: Repo, base: State, tally: Tally) -> None:
    """Nothing is written, what is indexed is found, what cannot be done is refused in words of ours."""
    place = own.path.parent
    remount(place, "ro")
    code, words = run_copy(lambda: world.scenario.act(own))
    bad = [words] if code == UNCLEAN else []
    if world.acknowledged:
        asked, words = run_copy(lambda: _ask_first(own))
        bad += [] if asked == DONE else [f"a question: {words}"]
    remount(place, "rw")
    bad += [] if read_base(own) == base else ["something was written"]
    tally.note(f"{world.scenario.name}, read-only", bad)


def _ask_first(own: Repo) -> None:
    made = answer(workspace_of(own), Query("base load"), TreeSelection("first"), refresh=False)
    if not made.hits or made.view.stale:
        raise GitmemError("the question finds nothing")


def _try_overlay(world: World, place: Path, tally: Tally) -> None:
    """A container's file system: what is written goes into a second folder, the first stays as it is."""
    for name in ("upper", "work", "over"):
        (place / name).mkdir()
    options = f"lowerdir={world.repo.path},upperdir={place}/upper,workdir={place}/work"
    below = read_base(world.repo)
    try:
        with mounted("overlay", place / "over", f"{options}{',userxattr' if os.geteuid() else ''}"):
            own = Repo(place / "over")
            code, words = run_copy(lambda: world.scenario.act(own))
            bad = [words] if code != DONE else []
            tree = own.oid("HEAD^{tree}")
            bad += find_faults(workspace_of(own).paths)
            bad += find_lies(workspace_of(own), world.ledger, *([tree] if world.scenario.acknowledges else []))
            bad += look_after(world, own)
    except subprocess.CalledProcessError:  # no such file system here
        return
    bad += [] if read_base(world.repo) == below else ["the folder below was written to"]
    tally.note(f"{world.scenario.name}, an overlay", bad)


if __name__ == "__main__":
    tell(_try_all)
