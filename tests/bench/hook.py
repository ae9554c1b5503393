"""A hook after a commit of ten changed files: the time until it returns, and the CPU time it spends in the background.

Hooks are run by `git hook run`, from git's configuration or from the hook file, whichever is installed. The least
foreground time is that of a hook that does nothing, so that is measured alternately.
"""

import argparse
import random
import statistics
from pathlib import Path
from typing import Final

from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.detached import Spent, is_supported, run_to_last
from tests.bench.figures import Figure
from tests.bench.processes import Command, run
from tests.bench.refresh import CHANGED, change_files, find_candidates
from tests.bench.subjects import Subject, SubjectError, add_subject_options, git, iter_subjects, work_folder

FOREGROUND_LIMIT: Final = 15.0
BACKGROUND_LIMIT: Final = 0.6
FILES: Final = 5000
EVENT: Final = "post-commit"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and rounds."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rounds", type=int, default=5, help="commits of ten changed files each")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository, then commit changes and run the hook."""
    if not is_supported():
        raise SubjectError("the background is measured on Linux only")
    gitmem = load_gitmem(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            gitmem.index_report(subject.path)
            figures += measure_hook(subject, gitmem, options.rounds, find_candidates(subject.path))
    return figures


def measure_hook(subject: Subject, gitmem: Gitmem, rounds: int, candidates: list[Path]) -> list[Figure]:
    """Return the medians over several commits."""
    folder = subject.path
    run(Command([*gitmem.words, "hooks", "install"], cwd=folder))
    empty = folder / ".git" / "empty-hooks"
    empty.mkdir(exist_ok=True)
    (empty / EVENT).write_text("#!/bin/sh\nexit 0\n")
    (empty / EVENT).chmod(0o755)
    dice = random.Random(3)
    ours, nothing = [], []
    for number in range(rounds):
        commit_quietly(folder, dice.sample(candidates, CHANGED), f"hook {number}")
        nothing.append(run_to_last(Command(["git", "-c", f"core.hooksPath={empty}", "hook", "run", EVENT], cwd=folder)))
        ours.append(run_to_last(Command(["git", "hook", "run", EVENT], cwd=folder)))
    run(Command([*gitmem.words, "hooks", "uninstall"], cwd=folder))
    return describe(subject.name, ours, nothing)


def commit_quietly(folder: Path, paths: list[Path], message: str) -> None:
    """Commit changes without any hook."""
    git(folder, "config", "core.hooksPath", "/dev/null")
    change_files(folder, paths, message)
    git(folder, "config", "--unset", "core.hooksPath")


def describe(subject: str, ours: list[Spent], nothing: list[Spent]) -> list[Figure]:
    """Return the figures of the hook and of one that does nothing."""
    elapsed = statistics.median(spent.elapsed for spent in ours) * 1000
    return [
        Figure(subject, "hook, until it returns", elapsed, "ms", at_most=FOREGROUND_LIMIT),
        Figure(subject, "hook, until it returns", statistics.median(s.foreground for s in ours) * 1000, "ms CPU"),
        Figure(subject, "empty hook", statistics.median(s.elapsed for s in nothing) * 1000, "ms"),
        Figure(subject, "empty hook", statistics.median(s.foreground for s in nothing) * 1000, "ms CPU"),
        Figure(
            subject, "hook, in the background", statistics.median(s.background for s in ours), "s CPU",
            at_most=BACKGROUND_LIMIT,
        ),
    ]  # fmt: skip
