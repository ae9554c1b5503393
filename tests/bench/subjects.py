"""Measured repositories: temporary clones of those named by option, or a synthetic one.

Originals are never changed, and earlier indexes or uncommitted files have no influence.
"""

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.synthetic import write_repository


class SubjectError(Exception):
    """Repository that cannot be prepared."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Repository to measure."""

    name: str
    path: Path

    def drop_index(self) -> None:
        """Remove the index, so that the next run is a first one."""
        shutil.rmtree(self.path / ".gitmem", ignore_errors=True)


def add_subject_options(parser: argparse.ArgumentParser, files: int) -> None:
    """Add the options that name the measured repositories."""
    parser.add_argument("--repo", type=Path, nargs="+", default=[], help="repositories to measure (clones of them)")
    parser.add_argument("--files", type=int, default=files, help="size of the synthetic one without --repo")


@contextmanager
def work_folder(options: argparse.Namespace) -> Iterator[Path]:
    """Yield a folder for this run's files, below `--work`, which may be new; remove it afterwards."""
    if options.work is not None:
        options.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gitmem-bench-", dir=options.work) as folder:
        yield Path(folder)


def iter_subjects(options: argparse.Namespace, work: Path) -> Iterator[Subject]:
    """Yield one prepared repository after the other; remove each before the next."""
    if not options.repo:
        yield synthetic_subject(options.files, work)
    for repository in options.repo:
        subject = clone_subject(repository, work)
        yield subject
        remove_subject(subject)


def remove_subject(subject: Subject) -> None:
    """Remove the copy, to free the disk for the next one."""
    shutil.rmtree(subject.path)


def clone_subject(repository: Path, work: Path) -> Subject:
    """Clone a repository's HEAD with its working tree; objects are shared with the original."""
    target = work / repository.resolve().name
    git(work, "clone", "-q", "--shared", str(repository.resolve()), str(target))
    return Subject(target.name, target)


def synthetic_subject(files: int, work: Path) -> Subject:
    """Write a repository with this number of files of generated code."""
    target = work / f"synthetic-{files}"
    write_repository(target, files)
    git(target, "checkout", "-q", "-f", "main")
    return Subject(target.name, target)


def git(folder: Path, *args: str) -> str:
    """Run git in a folder and return its output. Raises: SubjectError."""
    return git_with_input(folder, b"", *args).decode(errors="surrogateescape")


def git_with_input(folder: Path, content: bytes, *args: str) -> bytes:
    """Run git in a folder with standard input and return its output as bytes. Raises: SubjectError."""
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]
    process = subprocess.run(["git", "-C", str(folder), *identity, *args], capture_output=True, input=content)
    if process.returncode:
        raise SubjectError(f"git {' '.join(args)}: {process.stderr.decode(errors='replace').strip()[-1000:]}")
    return process.stdout
