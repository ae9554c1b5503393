"""SIGKILL of a push or a pull of an index, with the git that it runs, and that of the remote: at each call that changes
a file. Among these is the moment between the arrival of a pack on the remote and the move of its ref.

Afterwards the remote and the clones collect garbage without grace. Then readers see nothing by half, and both commands
succeed without help. Git itself leaves one thing to people: the lock of a ref, whose owner was killed.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import pytest

from gitmem.errors import GitmemError
from gitmem.git.locate import RepositoryLocation
from gitmem.git.packs import make_pack
from gitmem.git.remotes import PushedRef, RefUpdate
from tests.faults import tape
from tests.faults.oracle import small_steps
from tests.faults.report import Tally
from tests.faults.shared_index import FOLDER, REFS, look_after, look_at_objects, make_world, pull, push
from tests.faults.tape import Tape, spread
from tests.gitrepo import Repo
from tests.indexes import dump_rows, snapshot_of

ACTIONS: Final = {"push": push, "pull": pull}
STORES: Final = {"refs": REFS, "folder": FOLDER}


class Scenario(NamedTuple):
    """Action and place; `packed` if git stores each file of rows as a pack of its own, as it does large ones."""

    action: str
    place: str
    packed: bool = False

    @property
    def name(self) -> str:
        return f"{self.action} {self.place}{' packed' if self.packed else ''}"


SCENARIOS: Final = (
    Scenario("push", "refs", packed=True), Scenario("pull", "refs", packed=True), Scenario("push", "refs"),
    Scenario("pull", "refs"), Scenario("push", "folder"), Scenario("pull", "folder"),
)  # fmt: skip

SHORT: Final = 2
"""Kills of each scenario of the short form."""


def run(*, long: bool, only: str = "") -> Tally:
    """A kill at each call, or at some."""
    chosen = [each.name for each in SCENARIOS if not only or each.name == only]
    arguments = [(name, "0") for name in chosen] if long else [(name, str(SHORT)) for name in chosen[:2]]
    return tape.run_processes("kills of who shares an index", "index_kill", *arguments)


def run_control() -> Tally:
    """The same of a remote whose ref moves before it has the objects."""
    return tape.run_processes("kills of a naive push", "index_kill", ("push refs", "12", "--naive"), control=True)


def main() -> None:
    """Kill an action at `points` calls, 0 for all of them."""
    scenario = next(each for each in SCENARIOS if each.name == sys.argv[1])
    naive = sys.argv[-1] == "--naive"
    tally = Tally("kills", control=naive)
    with small_steps(grace=0.0), pytest.MonkeyPatch.context() as patch:
        if naive:
            patch.setattr("gitmem.actions.index_refs.push_refs", push_naively)
        if scenario.packed:
            patch.setattr("gitmem.actions.index_refs.LARGE_BYTES", 1)
        tally.note_all(kill_at_calls(Tape(), scenario, int(sys.argv[2])))
    tape.tell_tally(tally)


def kill_at_calls(recorder: Tape, scenario: Scenario, points: int) -> Iterator[tuple[str, list[str]]]:
    """Yield each case and what was wrong after it."""
    action, store = ACTIONS[scenario.action], STORES[scenario.place]
    world = make_world(recorder.root / "world")
    expected = set(dump_rows(snapshot_of(world.ann)))
    if action is pull:
        push(world, store)
    own = world.copy("own")
    recorder.set(tape.COUNT)
    act(lambda: action(own, store))
    calls = recorder.end()
    for at in spread(calls, points):
        own = world.copy("own")
        recorder.set(tape.KILL, at)
        code = act(lambda: action(own, store))  # noqa: B023 (called at once)
        recorder.end()
        # A call more or less: how often a git writes depends on the size of what it gets at once.
        bad = [] if code in (0, -signal.SIGKILL) else [f"it failed by itself: {code}"]
        try:
            for repo in (own.remote, own.ann, own.bob):
                remove_locks(repo)
                repo.git("gc", "--quiet", "--prune=now")
            bad += look_at_objects(own.remote, own.ann, own.bob)
            bad += look_after(own, store, expected)
            bad += look_at_objects(own.remote, own.ann, own.bob)
        except (GitmemError, AssertionError) as problem:
            bad.append(str(problem))
        yield f"{scenario.name}, at call {at} of {calls}", bad


def act(action: Callable[[], object]) -> int:
    """Act in a process group of its own; return its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            action()
        except BaseException as problem:
            print(problem, file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def remove_locks(repo: Repo) -> None:
    """Remove the locks of refs that a killed git has left, as git tells its users to."""
    for folder in (repo.path, repo.path / ".git"):
        for path in [*(folder / "refs").rglob("*.lock"), folder / "packed-refs.lock", folder / "HEAD.lock"]:
            path.unlink(missing_ok=True)


def push_naively(
    location: RepositoryLocation, _remote: str, updates: Sequence[RefUpdate], **_options: object
) -> list[PushedRef]:
    """Move the refs of a remote beside its clone, and bring it the objects then."""
    remote = Repo(location.git_dir.parent.with_name("remote"))
    for update in updates:
        ref = remote.path / update.name
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(f"{update.commit}\n")
        remote.git("unpack-objects", "-q", stdin=make_pack(location, update.commit, None))
    return [PushedRef(update.name, accepted=True, moved=False, reason="") for update in updates]


if __name__ == "__main__":
    main()
