"""Lists of commits with author and time: all in the history of a commit, or those between two histories."""

from collections.abc import Sequence
from typing import Final

from gitmem.errors import GitFailed
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import first_error_line, run_git
from gitmem.named_tuple import NamedTuple

_LOG: Final = ("-c", "log.showSignature=false", "log", "--encoding=UTF-8", "--no-patch", "-z",
               "--format=%m%x00%H%x00%an <%ae>%x00%ct")  # fmt: skip
"""One commit in four fields; `%m` is `<` if it is only in the first of two histories."""

_FIELDS: Final = 4


class ListedCommit(NamedTuple):
    """Commit with its author, as name and address, and its time in seconds since 1970."""

    commit: str
    author: str
    seconds: int


class CommitDifference(NamedTuple):
    """Commits that one history has and the other one lacks: only the new one, or only the old one."""

    added: list[ListedCommit]
    removed: list[str]


def list_commits(location: RepositoryLocation, tip: str, limit: int) -> list[ListedCommit]:
    """Return the newest commits in the history of a commit, at most `limit`. Raises GitFailed."""
    return _select(location, [f"--max-count={limit}", tip]).added


def list_difference(location: RepositoryLocation, old: str, new: str) -> CommitDifference:
    """Return the commits by which the history of `new` differs from that of `old`. Raises GitFailed."""
    return _select(location, ["--left-right", f"{old}...{new}"])


def _select(location: RepositoryLocation, selection: Sequence[str]) -> CommitDifference:
    """Return the commits that some arguments of `git log` select, by the side of a range that they are on."""
    # Commits are read as stored: a replacement could name any author.
    result = run_git(["--no-replace-objects", *_LOG, *selection, "--"], git_dir=location.git_dir, check=False)
    if result.code != 0:
        raise GitFailed(f"git cannot list the commits: {first_error_line(result.stderr)}", hint="run: git fsck")
    fields = result.stdout.decode("utf-8", "replace").split("\0")
    # `-z` ends each commit with a NUL byte, so the fields of all commits follow each other.
    difference = CommitDifference([], [])
    for at in range(0, len(fields) - _FIELDS + 1, _FIELDS):
        side, commit, author, seconds = fields[at : at + _FIELDS]
        if side == "<":
            difference.removed.append(commit)
        else:
            difference.added.append(ListedCommit(commit, author, int(seconds or 0)))
    return difference
