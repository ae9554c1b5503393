"""The commits in the history of a tip as a view, so that their messages are indexed and searched like blobs.

The path of a commit is its id. The view also holds author and time of each commit as columns, so that filters read no
commit. It is kept in a file for some recent tip; for another tip only the difference is listed.
"""

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import DamagedFile, GitFailed, NewerFormat, StorageFailed
from gitmem.fsio import write_atomic
from gitmem.git.commit_log import CommitDifference, ListedCommit, list_commits, list_difference
from gitmem.git.locate import RepositoryLocation
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import Buffer, Container, build_container, find_container
from gitmem.store.overlaid_view import Edits, OverlaidView, locate_edits
from gitmem.store.path_postings import NO_POSTINGS, PATH_FIELDS
from gitmem.store.postings import Postings
from gitmem.store.record_columns import Column
from gitmem.store.section import damaged
from gitmem.store.view_file import INDEXED, View, ViewEntry, load_view, view_contents
from gitmem.types import COMMIT

MAGIC: Final = b"GITMEMCM"

_MAX_EDITS: Final = 500
_COMMITS_PER_EDIT: Final = 50
"""Limits of the changes that are laid over the file of the view, before it is written again: as for records."""


class CommitColumns(NamedTuple):
    """Author and time (seconds since 1970) of each commit of a view."""

    authors: Column
    seconds: NDArray[np.int64]


class CommitsView(View):
    """Commits in the history of a tip as stored in a file. `limit` is that under which they were listed."""

    def __init__(self, container: Container) -> None:
        super().__init__(container)
        try:
            self.limit = int(container.fields["limit"])
            self._authors = [str(author) for author in container.fields["authors"]]
            sizes = len(container["author"]), len(container["seconds"])
        except (KeyError, TypeError, ValueError) as problem:
            raise damaged(container.path, "it lacks the authors of the commits") from problem
        if sizes != (4 * len(self), 8 * len(self)):
            raise damaged(container.path, "its columns have the wrong size")

    @cached_property
    def commit_columns(self) -> CommitColumns:
        codes = np.frombuffer(self._file["author"].all(), "<u4")
        if len(codes) and codes.max() >= len(self._authors):
            raise damaged(self._file.path, "unlisted author")
        return CommitColumns(Column(codes, self._authors), np.frombuffer(self._file["seconds"].all(), "<i8"))


class EditedCommits(OverlaidView):
    """Commits in the history of a tip as edits of a stored view."""

    def __init__(self, base: CommitsView, tip: str, difference: CommitDifference) -> None:
        edits: dict[bytes, ViewEntry | None] = {commit.encode("ascii"): None for commit in difference.removed}
        edits |= {commit.commit.encode("ascii"): _view_entry(commit) for commit in difference.added}
        located = locate_edits(base, edits)
        added = load_view(Path("commits"), tip, located.added, _no_postings())
        super().__init__(base, Edits(added, located.places, located.removed), tip)
        self._commits = base
        self._listed = {commit.commit: commit for commit in difference.added}

    @cached_property
    def commit_columns(self) -> CommitColumns:
        own = [self._listed[self._added.oid(entry)] for entry in range(len(self._added))]
        base = self._commits.commit_columns
        authors = base.authors.join(Column.from_texts([commit.author for commit in own])).take(self._source)
        seconds = np.array([commit.seconds for commit in own], np.int64)
        return CommitColumns(authors, np.concatenate([base.seconds, seconds])[self._source])


Commits = CommitsView | EditedCommits


def open_commits(location: RepositoryLocation, file: Path, tip: str, limit: int, *, keep: bool) -> Commits:
    """Return the newest commits in the history of a tip, at most `limit`.

    They are those of the file with the changes since then. With `keep` the file is written again after many changes.
    Raises: GitFailed.
    """
    base = _find(file)
    # Which commits a full list has lost is only known from another full list.
    is_usable = base is not None and base.limit == limit and len(base) < limit
    if base is not None and base.limit == limit and base.tree == tip:
        return base
    # Both sides of the difference count: after a switch of branches, commits leave the history as well.
    difference = _difference(location, base.tree, tip) if base is not None and is_usable else None
    if base is None or difference is None or len(base) + len(difference.added) - len(difference.removed) > limit:
        base, difference = _no_commits(limit), CommitDifference(list_commits(location, tip, limit), [])
    view = EditedCommits(base, tip, difference)
    changes = len(difference.added) + len(difference.removed)
    if not keep or changes <= min(_MAX_EDITS, len(base) // _COMMITS_PER_EDIT):
        return view
    parts = _file_parts(view, limit)
    # No lock: every writer publishes a complete view, and readers compare its tip with the one they need.
    with suppress(StorageFailed):
        write_atomic(file, [memoryview(part) for part in parts])
    return CommitsView(Container(file, MAGIC, b"".join(parts)))


def _find(file: Path) -> CommitsView | None:
    with suppress(DamagedFile, NewerFormat):
        container = find_container(file, MAGIC)
        return None if container is None else CommitsView(container)
    return None


def _difference(location: RepositoryLocation, old: str, new: str) -> CommitDifference | None:
    """Return the difference between two histories; None if git no longer has the old one."""
    with suppress(GitFailed):
        return list_difference(location, old, new)
    return None


def _no_commits(limit: int) -> CommitsView:
    fields, sections = view_contents("", [], _no_postings())
    extended = fields | {"limit": limit, "authors": []}
    return CommitsView(Container(Path(), MAGIC, b"".join(build_container(MAGIC, extended, sections | _columns(
        CommitColumns(Column.from_texts([]), np.zeros(0, np.int64))
    )))))  # fmt: skip


def _file_parts(view: EditedCommits, limit: int) -> list[Buffer]:
    """Return the content of a view's file, in parts."""
    fields, sections = view_contents(view.tree, view.columns(), _no_postings())
    columns = view.commit_columns
    extended = fields | {"limit": limit, "authors": list(columns.authors.values)}
    return build_container(MAGIC, extended, sections | _columns(columns))


def _columns(columns: CommitColumns) -> dict[str, Buffer]:
    return {"author": columns.authors.codes.astype("<u4").data, "seconds": columns.seconds.astype("<i8").data}


def _view_entry(commit: ListedCommit) -> ViewEntry:
    return ViewEntry(commit.commit.encode("ascii"), bytes.fromhex(commit.commit), COMMIT, INDEXED)


def _no_postings() -> dict[str, Postings]:
    return dict.fromkeys(PATH_FIELDS, NO_POSTINGS)
