"""Traces in tests: parse in this process, and name commits by their messages."""

from collections.abc import Callable
from typing import NamedTuple

from gitmem.chunking.elements import find_elements
from gitmem.git.file_history import read_blob_id, read_details
from gitmem.git.locate import locate
from gitmem.git.objects import open_reader
from gitmem.history.element_reader import ElementReader
from gitmem.history.line_tracking import element_of_lines
from gitmem.history.removal import find_removal
from gitmem.history.trace import Change
from gitmem.history.tracer import Tracer
from gitmem.history.version import FileVersion, Version
from tests.gitrepo import Repo


class Step(NamedTuple):
    """Change by the subject of its commit, with its kinds, and where the element was before."""

    subject: str
    kinds: tuple[str, ...]
    before: str = ""


def trace(repo: Repo, path: str, symbol: str, rev: str = "HEAD", since: str = "") -> list[Step]:
    """Return the history of an element, newest first; only that which `since` lacks if it is given."""
    changes, _ = trace_changes(repo, path, lambda file: find(file, symbol), rev, since)
    return [Step(subject, change.kinds, _place(change)) for subject, change in changes]


def trace_line(repo: Repo, path: str, line: int) -> list[Step]:
    """Return the history of the function around a line, or of the line itself in a file without any."""

    def choose(file: FileVersion) -> Version:
        around = [each for each in file.versions if each.element.first_line <= line <= each.element.last_line]
        return around[-1] if around else Version(file, element_of_lines(file.data, line, line))

    return [Step(subject, change.kinds, _place(change)) for subject, change in trace_changes(repo, path, choose)[0]]


def sources(repo: Repo, path: str, symbol: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the elements that were split or merged, by the subject of the commit."""
    changes, _ = trace_changes(repo, path, lambda file: find(file, symbol))
    return [(subject, [(each.relation, each.symbol) for each in change.sources]) for subject, change in changes]


def trace_changes(
    repo: Repo, path: str, choose: Callable[[FileVersion], Version], rev: str = "HEAD", since: str = ""
) -> tuple[list[tuple[str, Change]], list[str]]:
    """Return the changes of an element of a file with the subjects of their commits, and where the clone is cut."""
    location, commit = locate(repo.path), repo.oid(rev)
    with open_reader(location, bulk=False) as blobs:
        reader = ElementReader(blobs, find_elements)
        file = reader.version(path.encode(), read_blob_id(location, commit, path.encode()))
        tracer, version = Tracer(location, reader), choose(file)
        changes, ends = (tracer.trace_range(commit, version, [since]), []) if since else tracer.trace(commit, version)
    details = read_details(location, [change.commit for change in changes])
    return [(details[change.commit].subject, change) for change in changes], ends


def cut(repo: Repo, path: str, symbol: str) -> list[str]:
    """Return the commits at which a shallow clone ends the history of an element."""
    return trace_changes(repo, path, lambda file: find(file, symbol))[1]


def removed_by(repo: Repo, path: str, symbol: str, rev: str) -> str:
    """Return the subject of the commit that removed an element of an old revision, "" if HEAD has it."""
    location = locate(repo.path)
    with open_reader(location, bulk=False) as blobs:
        reader = ElementReader(blobs, find_elements)
        commit = repo.oid(rev)
        file = reader.version(path.encode(), read_blob_id(location, commit, path.encode()))
        removal = find_removal(location, reader, commit, repo.oid("HEAD"), find(file, symbol))
    return read_details(location, [removal.commit])[removal.commit].subject if removal is not None else ""


def find(file: FileVersion, symbol: str) -> Version:
    """Return the element of a symbol in a file."""
    (version,) = (each for each in file.versions if each.element.symbol == symbol)
    return version


def _place(change: Change) -> str:
    return f"{change.old_path.decode()}#{change.old_symbol}".strip("#")
