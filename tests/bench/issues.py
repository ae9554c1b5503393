"""Localisation of issues: whether the file that fixed an issue is among the first results for its text.

`--tasks` is a list of `{"id", "repository", "commit", "question", "files", "lines"}`; `--repositories` holds a clone of
each repository, `OWNER+NAME` or `OWNER+NAME/repo`. Each question is asked whole, of the commit at which it was
reported. All commits of a repository share one index.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gitmem.answering.answer import answer
from gitmem.answering.search_query import MAX_QUERY, Query
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import Command, run
from tests.bench.scoring import DEPTH, Place, mean
from tests.bench.subjects import Subject, SubjectError, git, work_folder

LIMITS: Final = {1: 0.60, 5: 0.88}
"""Least file accuracy by the number of files."""

FILES: Final = (1, 3, 5, 10)
RANGES: Final = (5, 10)

FAILED: Final = 5
"""Exit code of `gitmem index` if a blob cannot be read."""


@dataclass(frozen=True, slots=True)
class Task:
    """Issue with the commit at which it was reported, and the lines of files that its fix changed."""

    name: str
    repository: str
    commit: str
    question: str
    files: tuple[str, ...]
    lines: dict[str, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class AnsweredTask:
    """Task with its results and the CPU seconds of their search."""

    task: Task
    places: list[Place]
    cpu: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for tasks, repositories and the file of ranked results."""
    parser.add_argument("--tasks", type=Path, required=True, help="JSON list of issues with their fixes")
    parser.add_argument("--repositories", type=Path, required=True, help="folder with a clone of each repository")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these repositories")
    parser.add_argument("--cut", type=int, default=MAX_QUERY, metavar="N", help="ask only the first N characters")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the ranked results as JSON")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index every commit, ask every question and score the results."""
    tasks = [task for task in read_tasks(options.tasks) if not options.only or task.repository in options.only]
    answered: list[AnsweredTask] = []
    with work_folder(options) as work:
        for name in sorted({task.repository for task in tasks}):
            subject = clone_without_files(find_clone(options.repositories, name), name, work)
            for task in (task for task in tasks if task.repository == name):
                run(index_commit(options, subject, task.commit))
                answered.append(answer_task(subject, task, options.cut))
    if options.results:
        options.results.write_text(json.dumps(results_json(answered)), encoding="utf-8")
    return summarise(answered)


def read_tasks(file: Path) -> list[Task]:
    """Read the tasks."""
    entries: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return [
        Task(
            name=entry["id"],
            repository=entry["repository"],
            commit=entry["commit"],
            question=entry["question"],
            files=tuple(entry["files"]),
            lines={path: [(first, last) for first, last in spans] for path, spans in entry["lines"].items()},
        )
        for entry in entries
    ]


def find_clone(folder: Path, name: str) -> Path:
    """Return the path of a repository's clone. Raises: SubjectError."""
    clone = folder / name.replace("/", "+")
    if not clone.is_dir():
        raise SubjectError(f"there is no clone of `{name}` in {folder}")
    return clone / "repo" if (clone / "repo").is_dir() else clone


def clone_without_files(repository: Path, name: str, work: Path) -> Subject:
    """Clone a repository without checking anything out; objects are shared with the original."""
    target = work / name.replace("/", "+")
    git(work, "clone", "-q", "--shared", "--no-checkout", str(repository.resolve()), str(target))
    return Subject(name, target)


def index_commit(options: argparse.Namespace, subject: Subject, commit: str) -> Command:
    """Return the command that indexes a commit. It may fail for single blobs: some mirrors lack their largest files."""
    return replace(load_gitmem(options).index(subject.path, "--rev", commit), expect=(0, FAILED))


def answer_task(subject: Subject, task: Task, cut: int) -> AnsweredTask:
    """Ask a question of its commit, like `gitmem query --rev`."""
    workspace = open_workspace(subject.path, os.environ)
    query = Query(task.question.strip()[:cut], DEPTH)
    started = time.process_time()
    hits = answer(workspace, query, TreeSelection(task.commit), refresh=False).hits
    cpu = time.process_time() - started
    return AnsweredTask(task, [Place(hit.path, hit.start_line, hit.end_line) for hit, _ in hits], cpu)


def results_json(answered: Sequence[AnsweredTask]) -> dict[str, list[dict[str, Any]]]:
    """Return ranked results by task, for other scorers."""
    return {
        one.task.name: [{"path": place.path, "start": place.start, "end": place.end} for place in one.places]
        for one in answered
    }


def has_files(one: AnsweredTask, count: int) -> bool:
    """Return whether all changed files are among the first `count` different files."""
    files = list(dict.fromkeys(place.path for place in one.places))
    return set(one.task.files) <= set(files[:count])


def has_ranges(one: AnsweredTask, count: int) -> bool:
    """Return whether each changed range of lines is touched by one of the first `count` results."""
    return all(
        any(place.path == path and place.start <= last and place.end >= first for place in one.places[:count])
        for path, spans in one.task.lines.items()
        for first, last in spans
    )


def summarise(answered: Sequence[AnsweredTask]) -> list[Figure]:
    """Return the accuracies by repository and over all tasks."""
    groups: dict[str, list[AnsweredTask]] = {}
    for one in answered:
        groups.setdefault(one.task.repository, []).append(one)
    figures = [figure for name, group in groups.items() for figure in accuracies(name, group)]
    return [
        *figures,
        Figure("all", "tasks", len(answered)),
        Figure("all", "CPU per question", 1000 * statistics.median(one.cpu for one in answered), "ms"),
        *accuracies("all", answered),
    ]


def accuracies(subject: str, group: Sequence[AnsweredTask]) -> Iterator[Figure]:
    """Yield the shares of the tasks whose files or lines are found."""
    limits = LIMITS if subject == "all" else {}
    for count in FILES:
        yield Figure(
            subject, f"file Acc@{count}", mean(has_files(one, count) for one in group), "", None, limits.get(count)
        )
    for count in RANGES:
        yield Figure(subject, f"range Acc@{count}", mean(has_ranges(one, count) for one in group))
