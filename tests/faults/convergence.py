"""Clones that change, share, purge and die at random: all get the same records, and no acknowledged note is lost.

Each clone can be cut off from the remote for some steps, and has a clock of its own, up to two days off. At the end all
clones are connected again and synchronise a few times.
"""

import json
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import GitmemError
from gitmem.memory.record_paths import REFERENCE
from gitmem.records.notes import list_notes
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from tests.faults.report import Tally
from tests.gitrepo import Repo
from tests.records.sharing_clones import Clone, make_clone, make_remote

SHORT: Final = (3, 14)
"""Clones and steps of the short form."""

LONG_CLONES: Final = 100
LONG_SECONDS: Final = 3600.0
ROUNDS: Final = 4
"""Synchronisations of each clone at the end: the last clone's purge takes one to the remote, and one to each other."""

Share = Callable[[Clone], object]


class World:
    """Clones of one remote, and what is known about the texts of their notes."""

    def __init__(self, folder: Path, clones: int, seed: int, share: Share) -> None:
        self.random = random.Random(seed)
        remote = make_remote(folder / "remote")
        self.clones = [make_clone(remote, f"clone{number}") for number in range(clones)]
        self.offline = [0] * clones
        self.skew = [self.random.randint(-172_800, 172_800) for _ in range(clones)]
        self.share = share
        self.acknowledged: set[str] = set()
        self.gone: set[str] = set()
        self.count = 0

    def step(self) -> str:
        """Let one clone do something, and return what."""
        number = self.random.randrange(len(self.clones))
        clone = self.clones[number]
        action = self.random.choice(["put", "put", "replace", "delete", "sync", "sync", "kill", "purge", "part"])
        notes = list_notes(clone.workspace, limit=100)
        if action == "put" or (action in ("replace", "delete") and not notes):
            self._put(number, f"mem_{self.random.getrandbits(48):012x}")
        elif action == "replace":
            note = self.random.choice(notes)
            self.gone.add(note.content)
            self._put(number, note.id)
        elif action == "delete":
            note = self.random.choice(notes)
            self.gone.add(note.content)
            delete_records(clone.workspace, [note.id])
        elif action == "purge":
            purge_memory(clone.workspace)
        elif action == "part":
            self.offline[number] = 4
        elif self.offline[number]:
            self.offline[number] -= 1
        elif action == "kill":
            kill_during(lambda: self.share(clone), self.random.random() * 0.3)
        else:
            self.share(clone)
        return f"{action} by {number}"

    def _put(self, number: int, note: str) -> None:
        self.count += 1
        text = f"text {self.count} of clone {number}"
        seconds = 1_700_000_000 + self.count + self.skew[number]
        self.clones[number].put(note, text, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)))
        self.acknowledged.add(text)

    def faults(self) -> list[str]:
        """Connect all clones, and return how they differ and what they lack."""
        for _ in range(ROUNDS):
            for clone in self.clones:
                self.share(clone)
        records = [clone.records() for clone in self.clones]
        faults = [f"clone {number} differs" for number, each in enumerate(records) if each != records[0]]
        for number, each in enumerate(records):
            present = {json.loads(line)["content"] for line in each}
            lost = self.acknowledged - self.gone - present
            faults += [f"clone {number} lost {len(lost)} notes"] if lost else []
            faults += [f"clone {number} has unknown notes"] if present - self.acknowledged else []
        return faults


def kill_during(action: Callable[[], object], seconds: float) -> None:
    """Run an action in a copy of this process, and kill that with all its git processes after some seconds."""
    child = os.fork()
    if child == 0:
        os.setsid()
        with suppress(BaseException):
            action()
        os._exit(0)
    time.sleep(seconds)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)


def sync(clone: Clone) -> None:
    """Synchronise as a user does: again after a failure that says so."""
    try:
        clone.sync()
    except GitmemError:
        clone.sync()


def replace_memory(clone: Clone) -> None:
    """Share as people did without gitmem: one ref for all, forced when it was rejected."""
    repo: Repo = clone.repo
    with suppress(AssertionError):
        repo.git("fetch", "-q", "origin", f"+{REFERENCE}:{REFERENCE}")
    with suppress(AssertionError):
        repo.git("push", "-q", "-f", "origin", REFERENCE)


def run(*, long: bool) -> Tally:
    """A hundred clones for an hour, or three for some steps."""
    tally = Tally("clones that share their records")
    if long:
        _run(tally, sync, LONG_CLONES, seconds=LONG_SECONDS, steps=1 << 30, seed=time.time_ns())
    else:
        _run(tally, sync, SHORT[0], seconds=600.0, steps=SHORT[1], seed=7)
    return tally


def run_control() -> Tally:
    """The same with one ref that everybody overwrites."""
    tally = Tally("clones that share one ref", control=True)
    _run(tally, replace_memory, SHORT[0], seconds=600.0, steps=SHORT[1], seed=7)
    return tally


def _run(tally: Tally, share: Share, clones: int, *, seconds: float, steps: int, seed: int) -> None:
    """Take steps, and look for faults at the end."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), clones, seed, share)
        end = time.monotonic() + seconds
        for number in range(steps):
            if time.monotonic() > end:
                break
            did = ""
            try:
                did = world.step()
            except GitmemError as error:
                tally.note(f"seed {seed}, step {number}", [f"{error.message}"])
                continue
            tally.note(f"seed {seed}, step {number}: {did}", [])
        tally.note(f"seed {seed}, at the end", world.faults())
