"""Eight writers and sixteen readers at once, some of the writers killed: each answer is that of one whole generation.

Old files live for a moment only, so that readers do lose theirs under their hands and have to begin again, unseen.
"""

import json
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from gitmem import fsio
from gitmem.actions.gc import collect
from gitmem.errors import Busy, GitmemError
from gitmem.freshness.refresh import RefreshSettings, refresh
from tests.faults.driver import InPlace
from tests.faults.oracle import differences, find_faults, from_scratch, small_steps
from tests.faults.report import Tally
from tests.faults.worlds import fill
from tests.gitrepo import Repo
from tests.indexes import brief_hits, index, search, workspace_of

CONTROL_TRIES: Final = 20
WRITERS: Final = 8
READERS: Final = 16
QUESTIONS: Final = ("base load", "more_save_3", "table value")
GRACE: Final = 0.2

Told = list[tuple[str, int, int, str, float]]
Case = tuple[str, list[str]]


class Place(NamedTuple):
    """The repository, its revisions, and for each revision and question the right answer."""

    repo: Repo
    revisions: tuple[str, ...]
    right: Mapping[tuple[str, str], Told]


def run(*, long: bool) -> Tally:
    """Ten minutes, or some seconds."""
    return _run("8 writers and 16 readers", 600.0 if long else 3.0)


def run_control() -> Tally:
    """The same with writers that write in place; again where no reader came between, as on a busy machine."""
    for _ in range(CONTROL_TRIES):
        tally = _run("8 writers in place and 16 readers", 1.5, disk=Slow())
        tally.control = True
        if tally.passed:
            break
    return tally


class Slow(InPlace):
    """Writes in place and takes its time, as a large file does."""

    def write(self, handle: int, data: memoryview) -> int:
        time.sleep(0.005)
        return super().write(handle, data)


def make_place(folder: Path) -> Place:
    """Six revisions on two branches, all indexed, and the answers of an index made from scratch."""
    repo = Repo.init(folder / "repo")
    fill(repo, "base", 8)
    for number in range(5):
        if number == 3:
            repo.git("checkout", "--quiet", "-b", "side", "main~2")
        fill(repo, ("more", "other", "third", "fourth", "fifth")[number], 5)
        repo.git("mv", f"base/part{number}.py", f"base/moved{number}.py")
        repo.commit()
        repo.git("tag", f"r{number}")
    revisions = tuple(f"r{number}" for number in range(5))
    fresh = from_scratch(repo, folder / "scratch")
    right = {(rev, text): brief_hits(search(fresh, text, rev=rev)) for rev in revisions for text in QUESTIONS}
    index(repo)
    return Place(repo, revisions, right)


def _run(name: str, seconds: float, *, disk: fsio.Disk | None = None) -> Tally:
    tally = Tally(name, control=disk is not None)
    with tempfile.TemporaryDirectory() as folder, small_steps(grace=GRACE):
        place = make_place(Path(folder))
        end = time.monotonic() + seconds
        real, fsio.disk = fsio.disk, disk or fsio.disk
        logs = [Path(folder) / f"log{number}" for number in range(WRITERS + READERS)]
        children = {}
        for number, log in enumerate(logs):
            job = _write if number < WRITERS else _read
            children[_start(job, place, log, end, number)] = number
        ends = list(_kill_some(children, place, logs, end))
        fsio.disk = real
        for case, bad in ends:
            tally.note(case, bad)
        for log in logs:
            for line in log.read_text().splitlines() if log.exists() else []:
                case, bad = json.loads(line)
                tally.note(case, bad)
        _look_at_the_end(place, Path(folder), tally)
    return tally


def _kill_some(children: dict[int, int], place: Place, logs: list[Path], end: float) -> Iterator[Case]:
    """Kill a writer now and then, and start another in its place; then wait for all, and tell how each ended."""
    chance = random.Random(3)
    while time.monotonic() < end:
        time.sleep(0.3)
        victim = chance.choice([child for child, number in children.items() if number < WRITERS])
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        number = children.pop(victim)
        children[_start(_write, place, logs[number], end, chance.randrange(10**6))] = number
    for child, number in children.items():
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        yield f"process {number}", [f"it ended with {code}"] if code else []


def _start(job: Callable[..., Any], place: Place, log: Path, end: float, seed: int) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        with open(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "w") as file:  # noqa: PTH123 (appends)
            for case, bad in job(place, random.Random(seed), end):
                file.write(json.dumps([case, bad]) + "\n")
                file.flush()
        code = 0
    finally:
        os._exit(code)


def _write(place: Place, chance: random.Random, end: float) -> Iterator[Case]:
    """Index a revision, build it anew, or collect; a run that finds the lock taken is no fault."""
    while time.monotonic() < end:
        rev, what = chance.choice(place.revisions), chance.choice(("index", "index", "full", "check", "gc"))
        bad = []
        try:
            workspace = workspace_of(place.repo)
            tree = place.repo.oid(f"{rev}^{{tree}}")
            wait = chance.random() < 0.5
            if what == "gc":
                collect(workspace, now=True, wait=wait)
            else:
                settings = RefreshSettings(full=what == "full", check=what == "check", wait=wait)
                refresh(workspace, tree, settings)
        except Busy:
            pass
        except Exception as problem:
            bad.append(f"{type(problem).__name__}: {problem}")
        yield f"writer: {what} {rev}", bad


def _read(place: Place, chance: random.Random, end: float) -> Iterator[Case]:
    """Ask about a revision; the answer must be the right one, or say that it is not complete."""
    while time.monotonic() < end:
        rev, text = chance.choice(place.revisions), chance.choice(QUESTIONS)
        bad = []
        try:
            made = search(place.repo, text, rev=rev, refresh=chance.random() < 0.2)
            if not made.view.stale and brief_hits(made) != place.right[rev, text]:
                bad.append("another answer than from scratch")
            bad += [note for note in made.notes if "another process is writing" not in note]
        except GitmemError as problem:
            bad.append(f"{type(problem).__name__}: {problem.message}")
        except Exception as problem:
            bad.append(f"{type(problem).__name__}: {problem}")
        yield f"reader: {text} in {rev}", bad


def _look_at_the_end(place: Place, folder: Path, tally: Tally) -> None:
    """After all that the index is sound, and right after the next run."""
    bad = find_faults(workspace_of(place.repo).paths)
    index(place.repo, check=tally.control)
    bad += differences(place.repo, from_scratch(place.repo, folder / "scratch"))
    tally.note("the index in the end", bad)
