"""Find the repository that the `root` argument of a call means.

It is the server's own folder by default, another working tree of its repository, or a repository that the user has
registered on this machine. Everything else is refused, so that a call cannot read what the user has not shared.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from gitmem.errors import NotARepository, UsageError
from gitmem.git.locate import RepositoryLocation, locate
from gitmem.registry import read_registry


def find_root(folder: Path, root: str, environment: Mapping[str, str]) -> Path:
    """Return the folder to open; `root` is a folder or the registered name of one. Raises UsageError."""
    if not root:
        return folder
    repositories = read_registry(environment)
    by_name = next((repository.path for repository in repositories if repository.name == root), None)
    if by_name is not None:
        return by_name
    try:
        location = locate(folder / root)
    except NotARepository as error:
        names = ", ".join(repository.name for repository in repositories) or "none"
        raise UsageError(f"`{root}` is neither a working tree nor a known repository: {error.message}",
                         hint=f"known repositories: {names}") from error  # fmt: skip
    place = location.worktree or location.git_dir
    is_known = any(os.path.realpath(repository.path) == str(place) for repository in repositories)
    if is_known or _is_same_repository(folder, location):
        return place
    raise UsageError(f"gitmem has no access to `{root}`", hint=f"the user can add it: gitmem repos add {place}")


def _is_same_repository(folder: Path, location: RepositoryLocation) -> bool:
    """Return whether a location is a working tree of the server's own repository."""
    try:
        return locate(folder).common_dir == location.common_dir
    except NotARepository:
        return False
