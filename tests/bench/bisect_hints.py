"""Hints for a bisection: whether the commit that introduced the lines which a fix changed is among the first ten.

`--tasks` and `--repositories` are those of `issues`. The newest commit that `git blame` names for the changed lines is
the one to find: the choice of Sliwerski, Zimmermann and Zeller (2005), with one commit for each issue. Issues without
such a commit, or whose clone lacks objects of the range, are left out. The range contains about `--commits` commits
without merges. It ends at the issue's commit, or earlier if the range would not reach back far enough; then a hash of
the issue's name decides how far from its end the commit lies.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gitmem.answering.bisect_hint import read_bisect_hint
from gitmem.answering.range_suspects import Suspect
from gitmem.errors import GitFailed
from gitmem.workspace import open_workspace
from tests.bench.bm25 import Bm25
from tests.bench.figures import Figure
from tests.bench.issues import Task, clone_without_files, find_clone, index_commit, read_tasks
from tests.bench.processes import CommandFailed, run
from tests.bench.scoring import mean
from tests.bench.subjects import git, work_folder

FIRST: Final = (1, 5, 10)
"""Numbers of first commits among which the right one is counted."""

_BLAMED: Final = re.compile(r"([0-9a-f]{40}) \d+ \d+ \d+$")


@dataclass(frozen=True, slots=True)
class Range:
    """Range of commits, and the one to find in it."""

    good: str
    bad: str
    culprit: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rank of the right commit by each method, from 1 on, the number of commits, and the CPU seconds of the hint."""

    name: str
    commits: int
    ranks: dict[str, int]
    cpu: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for issues, repositories and the size of the ranges."""
    parser.add_argument("--tasks", type=Path, required=True, help="JSON list of issues with their fixes")
    parser.add_argument("--repositories", type=Path, required=True, help="folder with a clone of each repository")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these repositories")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask only every Nth issue")
    parser.add_argument("--commits", type=int, default=500, metavar="N", help="commits of a range (default: 500)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the ranks and features as JSON")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index both ends of each range, ask for each issue, and count."""
    tasks = read_tasks(options.tasks)[:: options.every]
    tasks = [task for task in tasks if not options.only or task.repository in options.only]
    ranked: list[Ranked] = []
    details: dict[str, Any] = {}
    with work_folder(options) as work:
        for name in sorted({task.repository for task in tasks}):
            subject = clone_without_files(find_clone(options.repositories, name), name, work)
            for task in (task for task in tasks if task.repository == name):
                wanted = choose_range(subject.path, task, options.commits)
                if wanted is None:
                    continue
                try:
                    for end in (wanted.good, wanted.bad):  # the measured call finds both trees indexed
                        run(index_commit(options, subject, end))
                    one, suspects = rank_task(subject.path, task, wanted)
                except (GitFailed, CommandFailed) as problem:
                    print(f"{task.name}: {problem}", file=sys.stderr)
                    continue
                ranked.append(one)
                details[task.name] = {"ranks": one.ranks, "cpu_s": one.cpu, "commits": result_json(suspects, wanted)}
                if options.results:
                    options.results.write_text(json.dumps(details), encoding="utf-8")
    return [Figure("all", "issues left out", len(tasks) - len(ranked)), *summarise(ranked)]


def choose_range(repository: Path, task: Task, commits: int) -> Range | None:
    """Return the range for an issue, None if its changed lines came with the first commit or are unknown."""
    culprit = find_culprit(repository, task)
    if culprit is None:
        return None
    # Oldest first: the commits of the main line that contain the one to find, then those before.
    line = git(repository, "rev-list", "--first-parent", task.commit).split()[::-1]
    first = _bisect(range(len(line)), lambda place: _is_ancestor(repository, culprit, line[place]))
    after = int(hashlib.sha256(task.name.encode()).hexdigest(), 16) % (commits * 9 // 10)
    behind = _bisect(range(first, len(line)), lambda place: _count(repository, culprit, line[place]) >= after)
    if _count(repository, culprit, task.commit) < commits * 9 // 10:
        behind = len(line) - 1
    start = _bisect(range(behind + 1), lambda back: _count(repository, line[behind - back], line[behind]) >= commits)
    good = line[behind - start]
    # A branch may have begun before the range: then the commit to find is older than its good end.
    while good == culprit or _is_ancestor(repository, culprit, good):
        start += 1
        if start > behind:
            return None
        good = line[behind - start]
    return Range(good, line[behind], culprit)


def find_culprit(repository: Path, task: Task) -> str | None:
    """Return the newest commit that the lines came from which the fix of an issue changed."""
    blamed: set[str] = set()
    for path, spans in task.lines.items():
        lines = [f"-L{first},{last}" for first, last in spans]
        output = git(repository, "blame", "--porcelain", "-w", *lines, task.commit, "--", path)
        blamed |= {match[1] for line in output.splitlines() if (match := _BLAMED.match(line))}
    # Newest first, but no commit after its parent: commits of one second would else come in any order.
    listed = git(repository, "rev-list", "--date-order", task.commit).split()
    return next((commit for commit in listed if commit in blamed), None)


def rank_task(repository: Path, task: Task, wanted: Range) -> tuple[Ranked, list[Suspect]]:
    """Ask for a hint, and rank the commits of the range by date and by their messages too."""
    workspace = open_workspace(repository, os.environ)
    started = time.process_time()
    hint = read_bisect_hint(workspace, task.question.strip(), f"{wanted.good}..{wanted.bad}")
    cpu = time.process_time() - started
    suspects = hint.suspects
    newest = sorted(range(len(suspects)), key=lambda place: suspects[place].place)
    messages = Bm25([one.commit.message for one in suspects]).score(task.question)
    orders = {
        "gitmem": list(range(len(suspects))),
        "by date": newest,
        "BM25 on messages": sorted(newest, key=lambda place: -messages[place]),
    }
    ids = [one.commit.commit for one in suspects]
    ranks = {name: [ids[place] for place in order].index(wanted.culprit) + 1 for name, order in orders.items()}
    return Ranked(task.name, len(suspects), ranks, cpu), suspects


def result_json(suspects: Sequence[Suspect], wanted: Range) -> list[dict[str, Any]]:
    """Return the features of each commit, to fit their weights."""
    return [
        {"commit": one.commit.commit, "culprit": one.commit.commit == wanted.culprit, **one.evidence}
        for one in suspects
    ]


def summarise(ranked: Sequence[Ranked]) -> list[Figure]:
    """Return the shares of the issues whose commit is among the first, and the mean reciprocal rank, by method."""
    return [
        Figure("all", "issues", len(ranked)),
        Figure("all", "commits of a range, mean", mean(one.commits for one in ranked)),
        Figure("all", "CPU per hint, mean", mean(one.cpu for one in ranked), "s"),
        *(figure for name in ranked[0].ranks for figure in _shares(name, [one.ranks[name] for one in ranked])),
    ] if ranked else []  # fmt: skip


def _shares(method: str, ranks: Sequence[int]) -> Iterator[Figure]:
    for count in FIRST:
        yield Figure(method, f"in the first {count}", mean(rank <= count for rank in ranks))
    yield Figure(method, "mean reciprocal rank", mean(1 / rank for rank in ranks))


def _bisect(places: range, holds: Callable[[int], bool]) -> int:
    """Return the first place at which something holds that holds from there on, else the last one."""
    low, high = places.start, places.stop - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _count(repository: Path, old: str, new: str) -> int:
    return int(git(repository, "rev-list", "--count", "--no-merges", f"{old}..{new}"))


def _is_ancestor(repository: Path, old: str, new: str) -> bool:
    command = ["git", "merge-base", "--is-ancestor", old, new]
    return subprocess.run(command, cwd=repository, check=False).returncode == 0
