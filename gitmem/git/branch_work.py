"""Present work: the uncommitted files, and the changed files and the subjects of the branch since its merge base.

At most four git processes; none of them reads the content of a file or the history before the branch.
"""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Final

from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_text
from gitmem.git.program import run_git
from gitmem.git.ref_log import find_merge_base
from gitmem.git.status import read_status
from gitmem.named_tuple import NamedTuple

MAX_PATHS: Final = 200
"""Paths that are looked at, uncommitted ones first."""

MAX_SUBJECTS: Final = 10

_REMOTE: Final = "refs/remotes/origin/"
_DEFAULTS: Final = (f"{_REMOTE}HEAD", f"{_REMOTE}main", f"{_REMOTE}master", "refs/heads/main", "refs/heads/master")
"""Refs that may be the default branch, the most certain one first. The remote's is not ahead by unpushed commits."""


class BranchCommit(NamedTuple):
    """Subject of a commit, and its author as name and address."""

    subject: str
    author: str


class BranchWork(NamedTuple):
    """Work on a branch. `branch` is empty on the default branch and on no branch; `commits` are the newest first."""

    branch: str
    paths: tuple[str, ...]
    commits: tuple[BranchCommit, ...]


def read_branch_work(location: RepositoryLocation) -> BranchWork:
    """Return what is being worked on in a working tree. Raises GitFailed."""
    # The files of a plain folder are all uncommitted, and none of them is being worked on more than others.
    entries = [] if location.worktree is None or location.plain else read_status(location).entries
    base, default = _find_base(location)
    branch_paths: Sequence[bytes] = []
    commits: tuple[BranchCommit, ...] = ()
    if base is not None and location.head_commit not in (None, base):
        span = f"{base}..{location.head_commit}"
        # Without renames: both names count, and no blob is read to compare contents.
        args = ["--no-replace-objects", "diff", "--no-ext-diff", "--no-renames", "--name-only", "-z", span, "--"]
        branch_paths = run_git(args, git_dir=location.git_dir).stdout.split(b"\0")[:-1]
        commits = tuple(_read_commits(location, span))
    # Uncommitted files come first: they are what the next session goes on with.
    paths = dict.fromkeys(path_text(path) for path in chain((entry.path for entry in entries), branch_paths))
    branch = location.branch or ""
    return BranchWork("" if branch == default else branch, tuple(islice(paths, MAX_PATHS)), commits)


def _find_base(location: RepositoryLocation) -> tuple[str | None, str]:
    """Return the commit at which HEAD left the default branch, None if there is none, and that branch's name."""
    if location.head_commit is None:
        return None, ""
    args = ["for-each-ref", "--format=%(refname) %(objectname) %(symref)", *_DEFAULTS]
    lines = run_git(args, git_dir=location.git_dir).stdout.decode("utf-8", "replace").splitlines()
    refs = {name: (commit, target) for name, commit, target in (line.split(" ", 2) for line in lines)}
    name = next((name for name in _DEFAULTS if name in refs), None)
    if name is None:
        return None, ""
    # `origin/HEAD` points to the branch whose name matters; the other refs are branches themselves.
    commit, target = refs[name]
    default = (target or name).removeprefix(_REMOTE).removeprefix("refs/heads/")
    return find_merge_base(location, commit, location.head_commit), default


def _read_commits(location: RepositoryLocation, span: str) -> list[BranchCommit]:
    args = ["--no-replace-objects", "-c", "log.showSignature=false", "log", "--encoding=UTF-8", "--no-merges", "-z",
            f"--max-count={MAX_SUBJECTS}", "--format=%s%x00%an <%ae>", span, "--"]  # fmt: skip
    fields = run_git(args, git_dir=location.git_dir).stdout.decode("utf-8", "replace").split("\0")
    return [BranchCommit(*pair) for pair in zip(fields[0::2], fields[1::2], strict=False)]
