"""Errors of the disk while records change, in gitmem and in the git that it runs: full disks, input and output errors,
short and torn writes. The state is the old or the new one, the error is one of ours, and what comes next goes well.
"""

import errno
import random
import sys
from contextlib import nullcontext
from typing import Final

from tests.faults import tape
from tests.faults.records import (
    REFUSED,
    changes_of,
    copy_world,
    do,
    look_after,
    make_world,
    naive_store,
    small_world,
)
from tests.faults.report import Tally
from tests.faults.tape import Tape
from tests.indexes import workspace_of

ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS)
MODES: Final = {"error": tape.ERROR, "errors": tape.ERRORS, "short": tape.SHORT, "torn": tape.TORN}


def run(*, long: bool) -> Tally:
    """Two thousand trials, or some tens."""
    trials = 2_000 if long else 8
    return tape.run_processes("errors of the disk while records change", "records_fault", [str(trials)])


def run_control() -> Tally:
    """The same of a store that names objects before they are there."""
    name = "errors of the disk under a naive store"
    return tape.run_processes(name, "records_fault", ["16", "--naive"], control=True)


def main() -> None:
    """Try every kind of change in turns, each time with another fault at another call."""
    trials, naive = int(sys.argv[1]), "--naive" in sys.argv
    tally, chance, recorder = Tally("faults", control=naive), random.Random(7), Tape()
    with small_world(), naive_store() if naive else nullcontext():
        world = make_world(recorder.root / "world")
        kinds = changes_of(world)[:1] if naive else changes_of(world)
        calls = []
        for make in kinds:
            recorder.set(tape.COUNT)
            make().act(workspace_of(copy_world(world)))
            calls.append(recorder.end())
        for trial in range(trials):
            kind = trial % len(kinds)
            repo, change = copy_world(world), kinds[kind]()
            mode = "error" if naive else chance.choice(tuple(MODES))
            at, error = chance.randint(1, calls[kind]), chance.choice(ERRORS)
            recorder.set(MODES[mode], at, error)
            done = do(repo, [change])
            recorder.end()
            new = change.after(world.state)
            allowed = [new] if done.acknowledged else [world.state, new]
            bad = look_after(world, repo, *allowed, gone=new ^ world.state)
            if done.code not in (0, REFUSED) and not done.killed:
                bad.append(f"an error that is not ours: {done.words}")
            if mode == "short" and done.code:
                bad.append(f"a short write is no error: {done.words}")
            named = f" {errno.errorcode[error]}" if mode.startswith("error") else ""
            tally.note(f"{change.name}, {mode}{named} at call {at} of {calls[kind]}", bad)
            if tally.decided:
                break
    tape.tell_tally(tally)


if __name__ == "__main__":
    main()
