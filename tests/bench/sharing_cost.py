"""Cost of shared records: bytes of a push, for people without gitmem, and pushes to one bare remote in an hour."""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from gitmem.records.exchange import exchange
from gitmem.records.notes import add_note
from tests.bench.figures import Figure
from tests.gitrepo import Repo, isolated_environment
from tests.records.sharing_clones import Clone, make_clone, make_remote

LIMIT_BYTES = 10_000
LIMIT_PUSHES = 10_000
_HOUR = 3600


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--writers", type=int, default=8, help="clones that push")
    parser.add_argument("--notes", type=int, default=50, help="notes of each writer before the measured pushes")
    parser.add_argument("--seconds", type=float, default=120, help="seconds of pushes, to extrapolate an hour")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Run the benchmark and return its figures."""
    with tempfile.TemporaryDirectory() as folder:
        remote = make_remote(Path(folder) / "remote")
        before = _costs_for_others(remote, "before")
        clones = [make_clone(remote, f"writer{number}") for number in range(options.writers)]
        for clone in clones:
            for number in range(options.notes):
                add_note(clone.workspace, f"Note {number} of {clone.repo.path.name}: parcels are late on Mondays.")
            _push(clone)
        pack = _pack_of_a_note(remote, clones[0])
        after = _costs_for_others(remote, "after")
        pushes = _count_pushes(clones, options.seconds)
    subject = f"{options.writers} writers, {options.notes} notes each"
    return [
        Figure(subject, "pack of a push of one small note", pack, "B", at_most=LIMIT_BYTES),
        *(
            Figure(subject, f"{name}, {moment}", value, unit)
            for moment, costs in (("before", before), ("after", after))
            for name, (value, unit) in costs.items()
        ),
        Figure(subject, f"pushes an hour, from {options.seconds:g} s", pushes, "pushes", at_least=LIMIT_PUSHES),
    ]


def _push(clone: Clone) -> None:
    exchange(clone.workspace, pull=False, push=True)


def _writer_refs(remote: Repo) -> dict[str, str]:
    lines = remote.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/gitmem").splitlines()
    return dict(line.split() for line in lines)


def _pack_of_a_note(remote: Repo, clone: Clone) -> int:
    """Return the size of the pack that a push of one more note sends, as git makes it for a push."""
    before = _writer_refs(remote)
    add_note(clone.workspace, "The staging database is restored every night.")
    _push(clone)
    (moved,) = ((before[name], oid) for name, oid in _writer_refs(remote).items() if before.get(name) != oid)
    revisions = f"{moved[1]}\n^{moved[0]}\n".encode()
    command = ["git", "pack-objects", "--revs", "--thin", "--delta-base-offset", "--stdout", "-q"]
    return len(subprocess.run(command, cwd=clone.repo.path, input=revisions, env=isolated_environment(),
                              capture_output=True, check=True).stdout)  # fmt: skip


def _costs_for_others(remote: Repo, name: str) -> dict[str, tuple[float, str]]:
    """Return the costs for people without gitmem: advertised refs, size of a clone, and commits of `git log --all`."""
    command = ["git", "upload-pack", "--advertise-refs", str(remote.path)]
    advertised = subprocess.run(command, env=isolated_environment(), capture_output=True, check=True).stdout
    place = remote.path.with_name(f"plain-{name}")
    remote.git("clone", "-q", remote.path.as_uri(), str(place))
    objects = sum(file.stat().st_size for file in (place / ".git" / "objects").rglob("*") if file.is_file())
    commits = len(Repo(place).git("log", "--all", "--format=%H").split())
    return {
        "ref advertisement": (len(advertised), "B"),
        "objects of a plain clone": (objects, "B"),
        "commits of git log --all": (commits, "commits"),
    }


def _count_pushes(clones: list[Clone], seconds: float) -> float:
    """Let all clones add a note and push it, again and again; return the number of pushes in an hour."""
    end = time.monotonic() + seconds

    def work(clone: Clone, proceed: Callable[[], bool]) -> int:
        pushes = 0
        while proceed():
            add_note(clone.workspace, f"push {pushes} of {clone.repo.path.name}")
            _push(clone)
            pushes += 1
        return pushes

    with ThreadPoolExecutor(len(clones)) as pool:
        started = time.monotonic()
        total = sum(pool.map(partial(work, proceed=lambda: time.monotonic() < end), clones))
        return total / (time.monotonic() - started) * _HOUR
