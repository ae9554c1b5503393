"""Sixteen processes change records at once while git packs them: nothing is lost, and nothing is there by half."""

import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from gitmem.errors import GitmemError
from gitmem.memory.record_store import RecordStore
from gitmem.types import NOTE, TURN
from tests.faults.records import (
    Change,
    State,
    added,
    appended,
    deleted,
    imported,
    make_world,
    publish_naively,
    read_state,
    replaced,
    small_world,
)
from tests.faults.report import Tally
from tests.gitrepo import Repo
from tests.indexes import workspace_of

WRITERS: Final = 16
SHARED: Final = "shared"
PART: Final = "part of a whole"
PARTS: Final = 3

Job = Callable[[Repo, random.Random, float, int], Iterator[object]]
"""What a process does until the end: yields cases with what was bad about them, and last the records it has kept."""


def run(*, long: bool) -> Tally:
    """Five minutes, or two changes each."""
    return _run("16 writers of records", seconds=300.0 if long else 0.0, changes=100_000 if long else 2)


def run_control() -> Tally:
    """The same of a store that thinks of nobody else."""
    with careless_store():
        return _run("16 careless writers of records", seconds=0.0, changes=2, control=True)


@contextmanager
def careless_store() -> Iterator[None]:
    """Publish without a lock and without a comparison."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordStore, "publish", publish_naively)
        patch.setattr(RecordStore, "locked", lambda _: nullcontext())
        yield


def _run(name: str, *, seconds: float, changes: int, control: bool = False) -> Tally:
    tally = Tally(name, control=control)
    with tempfile.TemporaryDirectory() as place, small_world():
        folder = Path(place)
        repo = make_world(folder, indexed=False).repo
        end = time.monotonic() + seconds if seconds else 0.0
        started = frozenset(read_state(workspace_of(repo)))
        logs = [folder / f"log{number}" for number in range(WRITERS + 2)]
        jobs = [_write] * WRITERS + [_read, _pack]
        children = [
            _start(job, repo, log, end, changes, number)
            for number, (job, log) in enumerate(zip(jobs, logs, strict=True))
        ]
        for child in children:
            os.waitpid(child, 0)
        expected = set(started)
        for log in logs:
            *told, kept = [json.loads(line) for line in log.read_text().splitlines()] or [[]]
            if isinstance(kept, dict):
                expected |= {tuple(item) for item in kept["kept"]}
            else:
                tally.note("the end of a process", ["it did not come"])
            for case, bad in told:
                tally.note(case, bad)
        try:
            bad = _compare(repo, frozenset(expected))
        except (GitmemError, AssertionError) as problem:
            bad = [f"{type(problem).__name__}: {problem}"]
        tally.note("all records in the end", bad)
    return tally


def _compare(repo: Repo, expected: State) -> list[str]:
    """What is there against what the writers say; of the shared conversation the turns count, whatever their number."""
    found = frozenset(read_state(workspace_of(repo)))
    shared = sorted(int(place.split()[1]) for kind, place, _ in found if kind == TURN and place.startswith(SHARED))
    bad = [] if shared == list(range(len(shared))) else ["the turns of the shared conversation have gaps"]
    told, right = _texts(found), _texts(expected)
    bad += [f"{len(right - told)} are lost"] if right - told else []
    bad += [f"{len(told - right)} are too many"] if told - right else []
    repo.git("fsck", "--strict", "--full", "--no-dangling")
    return bad


def _texts(state: State) -> set[tuple[str, str]]:
    return {(kind, text) for kind, _, text in state}


def _start(job: Job, repo: Repo, log: Path, end: float, changes: int, seed: int) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        random.seed(seed)
        with log.open("w") as file:
            for told in job(repo, random.Random(seed), end, changes):
                file.write(json.dumps(told) + "\n")
        code = 0
    finally:
        os._exit(code)


def _write(repo: Repo, chance: random.Random, end: float, changes: int) -> Iterator[object]:
    """Change records of its own, and a conversation that all share; the last word is what it has kept."""
    own: State = frozenset()
    workspace = workspace_of(repo)
    name = f"writer {os.getpid()}"
    for _ in range(changes):
        notes = sorted(item for item in own if item[0] == NOTE and PART not in item[2])
        kinds: list[Callable[[], Change]] = [added, partial(replaced, name, "text"), partial(appended, SHARED)]
        kinds.append(partial(imported, PARTS, PART))
        if notes and chance.random() < 0.2:
            kinds = [partial(deleted, frozenset([chance.choice(notes)]))]
        change = chance.choice(kinds)()
        bad = []
        try:
            change.act(workspace)
            own = change.after(own)
        except GitmemError as problem:
            bad.append(f"{type(problem).__name__}: {problem}")
        yield change.name, bad
        if end and time.monotonic() >= end:
            break
    yield {"kept": sorted(own)}


def _read(repo: Repo, _chance: random.Random, end: float, changes: int) -> Iterator[object]:
    """See whether an import is ever there in part."""
    for _ in range(changes):
        bad = []
        try:
            state = read_state(workspace_of(repo))
            seen = Counter(text.rpartition("#")[0] for _, _, text in state if PART in text)
            bad += [f"{count} records of an import" for count in seen.values() if count != PARTS]
        except GitmemError as problem:
            bad.append(f"{type(problem).__name__}: {problem}")
        yield "reader", bad
        if end and time.monotonic() >= end:
            break
    yield {"kept": []}


def _pack(repo: Repo, chance: random.Random, end: float, changes: int) -> Iterator[object]:
    """Let git tidy up meanwhile, as it does by itself now and then."""
    for _ in range(changes):
        repo.git(*chance.choice((("pack-refs", "--all"), ("gc", "--quiet"), ("repack", "-q", "-d"))))
        yield "git tidies up", []
        if end and time.monotonic() >= end:
            break
        time.sleep(0.5 if end else 0)
    yield {"kept": []}
