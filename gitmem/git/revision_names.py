"""Names of branches and tags, for a user who chooses a revision."""

import os

from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.named_tuple import NamedTuple


class RevisionNames(NamedTuple):
    """Checked-out branch, None if there is none, and branches and tags, the last changed first."""

    branch: str | None
    branches: list[str]
    tags: list[str]


def list_revision_names(location: RepositoryLocation, limit: int) -> RevisionNames:
    """Return at most `limit` branches, remote ones among them, and as many tags. Raises GitFailed."""
    # The newest first: of a thousand branches, the user wants one of the last.
    heads = _list(location, limit, "--sort=-committerdate", "refs/heads", "refs/remotes")
    return RevisionNames(location.branch, heads, _list(location, limit, "--sort=-creatordate", "refs/tags"))


def _list(location: RepositoryLocation, limit: int, *args: str) -> list[str]:
    # `%(symref)` marks `origin/HEAD`, which is another name of a branch.
    names = "--format=%(if)%(symref)%(then)%(else)%(refname:lstrip=2)%(end)"
    result = run_git(["for-each-ref", names, f"--count={limit}", *args], git_dir=location.git_dir)
    return [line for line in os.fsdecode(result.stdout).splitlines() if line]
