"""SIGKILL of a process that changes records, with the git that it runs: at each call that changes a file, and at any
moment. What was acknowledged is there, a change is there whole or not at all, and what comes next needs no repair.
"""

import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Final

from tests.faults import tape
from tests.faults.records import (
    Change,
    Element,
    changes_of,
    choose_change,
    copy_world,
    direct_store,
    do,
    look_after,
    look_at,
    make_world,
    naive_store,
    read_state,
    small_world,
)
from tests.faults.report import Tally
from tests.faults.tape import Tape, spread
from tests.indexes import workspace_of

IN_A_ROW: Final = 3
"""Changes that a process makes before its end, if it lives so long."""

RESTART: Final = 40
"""Kills after which a repository is made anew: before, each process meets what the last one left."""

SHORT: Final = ("kills of who changes records", (12,), 1)

INDEXED: Final = 3
"""Every third repository has an index, which costs more than the records themselves."""

WHOLLY: Final = 0.1
"""How often all is looked at after a random kill; else the records, since the next process tries the rest."""


def run(*, long: bool) -> Tally:
    """Five thousand kills, or some tens."""
    return _run("kills of who changes records", [1_800, 1_700, 1_500], 0) if long else _run(*SHORT)


def run_control() -> Tally:
    """The same of a store that names objects before they are there."""
    return _run("kills of a naive store", [0], 6, "--naive")


def run_direct_control() -> Tally:
    """The same of a store without a quarantine: no purge finds the files that a killed git was writing."""
    return _run("kills of a store without a quarantine", [0], 24, "--direct")


def _run(name: str, kills: Sequence[int], points: int, *broken: str) -> Tally:
    """So many kills in processes side by side, since they wait most of the time; the first also kills at calls."""
    arguments = [
        (str(share), str(points if number == 0 else -1), str(1000 * number), *broken)
        for number, share in enumerate(kills)
    ]
    return tape.run_processes(name, "records_kill", *arguments, control=bool(broken), at_once=len(kills))


def main() -> None:
    """Kill at `points` calls of each change (0: all of them, -1: none), then at random until there were so many."""
    kills, points, seed = map(int, sys.argv[1:4])
    broken = {"--naive": naive_store, "--direct": direct_store}.get(sys.argv[-1])
    tally = Tally("kills", control=broken is not None)
    recorder = Tape()
    with small_world(), broken() if broken else nullcontext():
        if points >= 0:
            tally.note_all(_kill_at_calls(recorder, points, one=broken is not None))
        while tally.cases < kills:
            tally.note_all(_kill_at_random(recorder, seed, min(RESTART, kills - tally.cases)))
            seed += 1
    tape.tell_tally(tally)


def _kill_at_calls(recorder: Tape, points: int, *, one: bool) -> Iterator[tuple[str, list[str]]]:
    world = make_world(recorder.root / "calls")
    for make in changes_of(world)[:1] if one else changes_of(world):
        repo = copy_world(world)
        recorder.set(tape.COUNT)
        make().act(workspace_of(repo))
        calls = recorder.end()
        for at in spread(calls, points):
            repo, change = copy_world(world), make()
            recorder.set(tape.KILL, at)
            done = do(repo, [change])
            recorder.end()
            new = change.after(world.state)
            bad = look_after(world, repo, *([new] if done.acknowledged else [world.state, new]), gone=new ^ world.state)
            if not done.killed and not done.acknowledged:
                bad.append(f"it failed by itself: {done.words}")
            yield f"{change.name}, at call {at} of {calls}", bad


def _kill_at_random(recorder: Tape, seed: int, kills: int) -> Iterator[tuple[str, list[str]]]:
    chance = random.Random(seed)
    world = make_world(recorder.root / f"random{seed}", indexed=seed % INDEXED == 0)
    repo, typical, state = world.repo, 0.2, world.state
    while kills:
        states, changes = [state], list[Change]()
        for _ in range(IN_A_ROW):
            changes.append(choose_change(states[-1], chance))
            states.append(changes[-1].after(states[-1]))
        began = time.monotonic()
        done = do(repo, changes, kill_after=chance.uniform(0, IN_A_ROW * typical))
        typical += 0.1 * ((time.monotonic() - began) / (done.acknowledged + 1) - typical)
        bad, state = look_at(repo, *states[done.acknowledged : done.acknowledged + 2])
        if not bad and chance.random() < WHOLLY:
            gone = frozenset[Element]() if chance.random() < 0.5 else None
            bad = look_after(world, repo, state, gone=gone)
            state = frozenset(read_state(workspace_of(repo)))
        if done.code and not done.killed:
            bad.append(f"it failed by itself: {done.words}")
        if done.killed or bad:
            kills -= 1
            names = ", ".join(change.name for change in changes[: done.acknowledged + 1])
            yield f"{names}, killed after {done.acknowledged}", bad
    shutil.rmtree(world.repo.path.parent)


if __name__ == "__main__":
    main()
