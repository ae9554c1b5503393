"""Blobs reachable in a repository, so that the others can be dropped. In doubt, a blob counts as reachable."""

from typing import Final

from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git

ROOTS: Final = ("--all", "--reflog", "--indexed-objects")
"""Options for every ref, and for HEAD, reflogs and index of every working tree."""


def reachable_blobs(location: RepositoryLocation) -> set[str]:
    """Return every blob reachable from a ref, a reflog, or HEAD or index of any working tree.

    Raises GitFailed on damage: an incomplete answer must not look like a complete one.
    """
    args = ["--no-replace-objects", "rev-list", "--objects", "--no-object-names", "--missing=allow-any", *ROOTS]
    only_blobs = ["--filter=object:type=blob", "--filter-provided-objects"]
    result = run_git([*args, *only_blobs], git_dir=location.git_dir, check=False)
    if result.code != 0:  # git before 2.32 lacks the filter; commits and trees in the set do no harm
        result = run_git(args, git_dir=location.git_dir)
    return set(result.stdout.decode("ascii").split())
