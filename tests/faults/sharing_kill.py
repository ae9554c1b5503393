"""SIGKILL of a clone that synchronises records, with the git that it runs, and that of the remote: at each call that
changes a file. Afterwards all repositories collect garbage without grace, and both clones synchronise without help.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from gitmem.errors import GitmemError
from gitmem.records.notes import add_note, list_notes
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from tests.faults import tape
from tests.faults.index_kill import act, push_naively, remove_locks
from tests.faults.oracle import small_steps
from tests.faults.report import Tally
from tests.faults.shared_index import look_at_objects
from tests.faults.tape import Tape, spread
from tests.gitrepo import Repo
from tests.records.sharing_clones import NOTE, OTHER, Clone, make_clone, make_remote

SCENARIOS: Final = ("notes", "purge")
SHORT: Final = 3
"""Kills of each scenario of the short form."""


class World(NamedTuple):
    """Folder with a remote and two clones whose records differ."""

    folder: Path

    @property
    def remote(self) -> Repo:
        return Repo(self.folder / "remote")

    def clone(self, name: str) -> Clone:
        return Clone(self.folder / name)

    def copy(self) -> "World":
        target = self.folder.with_name("own")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder, target, symlinks=True)
        return World(target)


def run(*, long: bool) -> Tally:
    """A kill at each call, or at some."""
    arguments = [(scenario, "0" if long else str(SHORT)) for scenario in SCENARIOS]
    return tape.run_processes("kills of who synchronises records", "sharing_kill", *arguments)


def run_control() -> Tally:
    """The same of a remote whose refs move before it has the objects."""
    name = "kills of a naive push of records"
    return tape.run_processes(name, "sharing_kill", ("notes", "30", "--naive"), control=True)


def main() -> None:
    """Kill at `points` calls, 0 for all of them."""
    naive = sys.argv[-1] == "--naive"
    tally = Tally("kills", control=naive)
    with small_steps(), pytest.MonkeyPatch.context() as patch:
        if naive:
            patch.setattr("gitmem.records.transport.push_refs", push_naively)
        tally.note_all(kill_at_calls(Tape(), sys.argv[1], int(sys.argv[2])))
    tape.tell_tally(tally)


def make_world(folder: Path, scenario: str) -> World:
    """Let each clone have something that the other one lacks; in one scenario ann purges what both have."""
    folder.mkdir()
    make_remote(folder / "remote")
    world = World(folder)
    ann, bob = (make_clone(world.remote, name) for name in ("ann", "bob"))
    ann.put(NOTE, "both change it")
    ann.put(OTHER, "ann deletes it")
    add_note(ann.workspace, "private", visibility="me")
    for clone in (ann, bob):
        clone.sync()
    bob.put(NOTE, "as bob changes it", "2026-01-03T00:00:00Z")
    add_note(bob.workspace, "of bob")
    bob.sync()
    ann.put(NOTE, "as ann changes it", "2026-01-02T00:00:00Z")
    add_note(ann.workspace, "of ann")
    delete_records(ann.workspace, [OTHER])
    if scenario == "purge":
        purge_memory(ann.workspace)
    for clone in (ann, bob):
        clone.repo.git("config", "remote.origin.url", "../remote")  # so that a copy of the world is a world of its own
    return world


SHARED: Final = ["as ann changes it", "as bob changes it", "of ann", "of bob"]
PURGED: Final = "ann deletes it"


def kill_at_calls(recorder: Tape, scenario: str, points: int) -> Iterator[tuple[str, list[str]]]:
    """Yield each case and what was wrong after it."""
    world = make_world(recorder.root / "world", scenario)
    own = world.copy()
    recorder.set(tape.COUNT)
    act(lambda: own.clone("ann").sync())
    calls = recorder.end()
    # The last ones first: they are those of the push, and a control ends with the first fault.
    for at in reversed(spread(calls, points)):
        own = world.copy()
        recorder.set(tape.KILL, at)
        code = act(lambda: own.clone("ann").sync())  # noqa: B023 (called at once)
        recorder.end()
        bad = [f"it failed by itself: {code}"] if code > 0 else []
        try:
            bad += look_after(own, scenario)
        except (GitmemError, AssertionError) as problem:
            bad.append(str(problem))
        yield f"{scenario}, at call {at} of {calls}", bad


def look_after(world: World, scenario: str) -> Iterator[str]:
    """Yield what is wrong after a kill, once both have synchronised."""
    repos = (world.remote, world.clone("ann").repo, world.clone("bob").repo)
    for repo in repos:
        remove_locks(repo)
        repo.git("gc", "--quiet", "--prune=now")
    yield from look_at_objects(*repos)
    for name in ("bob", "ann", "bob", "ann"):
        world.clone(name).sync()
    ann, bob = world.clone("ann"), world.clone("bob")
    if bob.texts() != SHARED or ann.texts() != sorted([*SHARED, "private"]):
        yield f"other records: {ann.texts()}, {bob.texts()}"
    if any(note.shared_by == "" for note in list_notes(bob.workspace, limit=9) if "ann" in note.content):
        yield "a record of ann has lost its person"
    yield from look_at_objects(*repos)
    for repo in repos if scenario == "purge" else ():
        repo.git("gc", "--quiet", "--prune=now")
        if has_text(repo, PURGED):
            yield f"{repo.path.name} has a purged record"
    if has_text(world.remote, "private"):
        yield "a private record has left its clone"


def has_text(repo: Repo, text: str) -> bool:
    """Return whether any object of a repository has a text."""
    command = ["git", "-C", str(repo.path), "cat-file", "--batch-all-objects", "--batch"]
    return text.encode() in subprocess.run(command, check=True, capture_output=True).stdout


if __name__ == "__main__":
    main()
