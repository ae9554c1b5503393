"""History of methods: commits that `gitmem when` names, compared with those that experts agreed on.

`--methods` is a list of `{"id", "repository", "commit", "path", "symbol", "start", "end", "changes"}`, each change with
`commit` and `tags`; `--repositories` holds a clone of each repository, `OWNER+NAME` or `OWNER+NAME/repo`. Methods whose
commit the clone lacks are left out and counted. Methods with a `language` are summed up by language. Without
`--methods` the histories that we labelled by hand are used.

Each method is traced in an empty repository that borrows the objects of the clone and has its HEAD at the commit: first
without an index, then twice with one, which caches histories. No clone is changed.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gitmem.workspace import create_index, open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.issues import find_clone
from tests.bench.processes import Command, CommandFailed, run_measured
from tests.bench.scoring import mean

LABELS: Final = Path(__file__).with_name("history_labels.json")
"""Histories of definitions in public repositories, each judged by reading the diffs."""

MEMBER: Final = "MEMBER"
"""Tag of a change to members of a class. They have histories of their own, so it does not count for the class."""

LEAST_F1: Final = 0.93
LEAST_INTRODUCED: Final = 0.95
LEAST_EXACT: Final = 0.70
MOST_CACHED: Final = 0.3
"""Least F1 of the commits, share of methods whose introducing commit is right, share of exact histories, and most CPU
seconds of a repetition with an index."""


@dataclass(frozen=True, slots=True)
class Traced:
    """Commits of one method as found and as expected, both introducing commits, and CPU seconds.

    `cpu` is that without an index, `cached` that of a repetition with one.
    """

    name: str
    found: frozenset[str]
    expected: frozenset[str]
    introduced: str | None
    introductions: frozenset[str]
    cpu: float
    cached: float
    git_cpu: float
    language: str = "all"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for methods, repositories and the file of results."""
    parser.add_argument("--methods", type=Path, default=LABELS, help="JSON list of methods with their histories")
    parser.add_argument("--repositories", type=Path, required=True, help="folder with a clone of each repository")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="trace only every Nth method")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the commits of each method as JSON")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Trace every method by a command of its own, and `git log -L` next to it."""
    methods: list[dict[str, Any]] = json.loads(options.methods.read_text(encoding="utf-8"))[:: options.every]
    words = load_gitmem(options).words
    traced = [one for method in methods if (one := trace(method, options.repositories, words)) is not None]
    if options.results:
        options.results.write_text(json.dumps({one.name: result_json(one) for one in traced}), encoding="utf-8")
    missing = Figure("all", "methods without their commit", len(methods) - len(traced))
    languages = sorted({one.language for one in traced})
    return [missing, *(figure for language in languages for figure in summarise(traced, language))]


def trace(method: dict[str, Any], repositories: Path, words: Sequence[str]) -> Traced | None:
    """Return the history of one method, None if the clone lacks its commit. Raises SubjectError."""
    clone = find_clone(repositories, method["repository"])
    commit, path = method["commit"], method["path"]
    known = subprocess.run(["git", "cat-file", "-e", commit], cwd=clone, stderr=subprocess.DEVNULL, check=False)
    if known.returncode:
        return None
    with tempfile.TemporaryDirectory() as folder:
        borrow_objects(Path(folder), clone, commit)
        command = Command([*words, "when", "--json", f"{path}:{method['start']}"], cwd=Path(folder))
        output, cpu = run_measured(command)
        create_index(open_workspace(Path(folder), {}))
        run_measured(command)
        repeated, cached = run_measured(command)
    if repeated != output:
        raise CommandFailed(f"another history from the cache: {method['id']}")
    history = json.loads(output)
    lines = f"{method['start']},{method['end']}:{path}"
    try:
        _, git_cpu = run_measured(Command(["git", "log", "-L", lines, "-s", "--format=%H", commit], cwd=clone))
    except CommandFailed:
        git_cpu = 0.0
    return Traced(
        method["id"],
        frozenset(change["commit"] for change in history["changes"] if change["kinds"] != ["removed"]),
        frozenset(change["commit"] for change in method["changes"] if change["tags"] != [MEMBER]),
        history["introduced"],
        frozenset(change["commit"] for change in method["changes"] if "INTRODUCTION" in change["tags"]),
        cpu,
        cached,
        git_cpu,
        method.get("language", "all"),
    )


def borrow_objects(folder: Path, clone: Path, commit: str) -> None:
    """Make an empty repository with the objects of a clone, and HEAD at one of its commits."""
    objects = subprocess.check_output(["git", "rev-parse", "--git-path", "objects"], cwd=clone, text=True).strip()
    subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
    (folder / "objects" / "info" / "alternates").write_text(f"{(clone / objects).resolve()}\n")
    subprocess.run(["git", "update-ref", "--no-deref", "HEAD", commit], cwd=folder, check=True)


def result_json(one: Traced) -> dict[str, Any]:
    """Return the results of one method for other scorers."""
    return {"commits": sorted(one.found), "introduced": one.introduced, "cpu_s": one.cpu}


def summarise(every: Sequence[Traced], language: str = "all") -> list[Figure]:
    """Return precision, recall and F1 over all commits of a language, the two shares of methods, and medians of CPU."""
    traced = [one for one in every if one.language == language]
    hits = sum(len(one.found & one.expected) for one in traced)
    found = sum(len(one.found) for one in traced)
    expected = sum(len(one.expected) for one in traced)
    introduced = mean(one.introduced in one.introductions for one in traced)
    return [
        Figure(language, "methods", len(traced)),
        Figure(language, "precision", hits / max(1, found)),
        Figure(language, "recall", hits / max(1, expected)),
        Figure(language, "F1", 2 * hits / max(1, found + expected), "", None, LEAST_F1),
        Figure(language, "introducing commit", introduced, "", None, LEAST_INTRODUCED),
        Figure(language, "exact histories", mean(one.found == one.expected for one in traced), "", None, LEAST_EXACT),
        Figure(language, "CPU per method, median", statistics.median(one.cpu for one in traced), "s"),
        Figure(language, "repeated, with an index", statistics.median(one.cached for one in traced), "s", MOST_CACHED),
        Figure(language, "git log -L, median", statistics.median(one.git_cpu for one in traced), "s"),
    ]
