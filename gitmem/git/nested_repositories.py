"""Repositories inside of a working tree: its submodules, and untracked folders that are repositories themselves.

git tracks only the commit of a submodule, and does not look into another repository at all. So their files are in no
tree of the outer repository: each is located, indexed and searched as a repository of its own.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gitmem.errors import GitFailed, NotARepository
from gitmem.git.locate import RepositoryLocation, locate
from gitmem.git.program import run_git
from gitmem.named_tuple import NamedTuple

MAX_NESTED: Final = 1000
"""Most repositories inside of one: far more than anybody has, but no endless loop through strange mounts."""

_GITLINK: Final = b"160000 "


class NestedRepository(NamedTuple):
    """Folder of a repository inside of another one; `problem` is the reason why git cannot open it, mostly ""."""

    folder: Path
    problem: str = ""


def find_nested(location: RepositoryLocation) -> list[NestedRepository]:
    """Return the repositories inside of a working tree in order of path, those inside of these as well.

    Ignored folders and submodules that are not checked out are left out. Raises: GitFailed.
    """
    found: dict[Path, NestedRepository] = {}
    pending = [location]
    while pending and len(found) < MAX_NESTED:
        outer = pending.pop()
        for folder in _iter_folders(outer):
            # A folder can be a gitlink and lead elsewhere by a link: git would not follow it either.
            if folder in found or folder.is_symlink() or not (folder / ".git").exists():
                continue
            found[folder] = NestedRepository(folder)
            try:
                inner = locate(folder)
            except (NotARepository, GitFailed) as problem:
                found[folder] = NestedRepository(folder, problem.message)
                continue
            if inner.worktree == folder:
                pending.append(inner)
            else:
                del found[folder]
    return sorted(found.values())


def _iter_folders(outer: RepositoryLocation) -> Iterator[Path]:
    """Yield the folders that may be repositories: gitlinks, and untracked folders that git does not enter."""
    if outer.worktree is None:
        return
    for args in (("--stage",), ("--others", "--exclude-standard")):
        result = run_git(["ls-files", "-z", *args], cwd=outer.worktree, git_dir=outer.git_dir)
        for entry in result.stdout.split(b"\0"):
            # git ends the name of an untracked folder with a slash only if it is a repository.
            path = entry.partition(b"\t")[2] if entry.startswith(_GITLINK) else entry if entry.endswith(b"/") else b""
            if path:
                yield outer.worktree / os.fsdecode(path)
