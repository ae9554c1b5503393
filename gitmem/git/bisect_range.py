"""The range of a bisection: the one that is named, that of a running `git bisect`, or the last commits of HEAD."""

from typing import Final

from gitmem.errors import UsageError
from gitmem.git.file_history import run_history
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.git.revisions import Revision, resolve, resolve_range
from gitmem.named_tuple import NamedTuple

DEFAULT_COMMITS: Final = 500
"""Commits of HEAD's main line that are the range if none is named and no bisection runs."""

_SHORT: Final = 9


class BisectRange(NamedTuple):
    """Commits without and with a fault, and how the user knows the ends. Without `goods` it is a whole history."""

    goods: tuple[str, ...]
    bad: str
    since: str
    until: str


def find_range(location: RepositoryLocation, text: str) -> BisectRange:
    """Return the range `A..B` or `A...B`, or if `text` is empty that of a running bisection, else the last commits.

    Raises: UsageError, UnknownRevision, GitFailed.
    """
    if text:
        since, until = resolve_range(location, text)
        return BisectRange((_commit_of(since),), _commit_of(until), since.name, until.name)
    return _find_running(location) or _find_last(location)


def _commit_of(end: Revision) -> str:
    if end.commit is None:
        raise UsageError(f"`{end.name}` is a tree without history", hint="name a commit, tag or branch")
    return end.commit


def _find_running(location: RepositoryLocation) -> BisectRange | None:
    """Return the range of a running bisection, None unless it has a commit of both kinds."""
    # `git bisect start --term-old fast --term-new slow` names the references so.
    try:
        bad_term, good_term = (location.git_dir / "BISECT_TERMS").read_text("utf-8").split()
    except (OSError, ValueError):
        return None
    # The references of a bisection belong to the working tree, which `git_dir` names.
    listed = run_git(["for-each-ref", "--format=%(objectname) %(refname)", "refs/bisect"], git_dir=location.git_dir)
    refs = [line.split(" ", 1) for line in listed.stdout.decode("utf-8", "replace").splitlines()]
    bad = next((oid for oid, name in refs if name == f"refs/bisect/{bad_term}"), None)
    goods = tuple(oid for oid, name in refs if name.startswith(f"refs/bisect/{good_term}-"))
    return BisectRange(goods, bad, goods[0][:_SHORT], bad[:_SHORT]) if bad and goods else None


def _find_last(location: RepositoryLocation) -> BisectRange:
    """Return the last commits of HEAD's main line, all of its history if it is shorter."""
    head = resolve(location, "HEAD")
    bad = _commit_of(head)
    args = ["rev-list", "--first-parent", f"--skip={DEFAULT_COMMITS}", "--max-count=1", bad]
    good = run_history(location, args).decode("ascii").strip()
    return BisectRange((good,), bad, f"HEAD~{DEFAULT_COMMITS}", "HEAD") if good else BisectRange((), bad, "", "HEAD")
