"""Which blobs a repository still holds on to. For dropping what it does not: in doubt, a blob counts as reachable."""

from collections.abc import Iterable
from typing import Final

from gitmem.git.batch import ProgramReader
from gitmem.git.locate import Location
from gitmem.git.program import run_git

ROOTS: Final = ("--all", "--reflog", "--indexed-objects")
"""Every ref, and HEAD, reflogs and index of every working tree."""


def reachable_blobs(location: Location) -> set[str]:
    """Every blob that a ref, a reflog, or HEAD or index of any working tree reaches. Raises GitFailed on damage:
    an incomplete answer must not look like a complete one."""
    args = ["--no-replace-objects", "rev-list", "--objects", "--no-object-names", "--missing=allow-any", *ROOTS]
    only_blobs = ["--filter=object:type=blob", "--filter-provided-objects"]
    result = run_git([*args, *only_blobs], git_dir=location.git_dir, check=False)
    if result.code != 0:  # git before 2.32 has no such filter; commits and trees in the set do no harm
        result = run_git(args, git_dir=location.git_dir)
    return set(result.stdout.decode("ascii").split())


def missing_objects(location: Location, oids: Iterable[str]) -> set[str]:
    """The ids that the object database does not hold, without fetching any of them."""
    with ProgramReader(location) as reader:
        return reader.missing(oids)
