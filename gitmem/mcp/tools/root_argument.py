"""Find the repository that the `root` argument of a call means.

It is the server's own folder by default, another working tree of its repository, a repository that the client has open,
or one that the user has registered on this machine. Everything else is refused, so that a call cannot read what the
user has not shared.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gitmem.errors import NotARepository, UsageError
from gitmem.git.locate import RepositoryLocation, locate
from gitmem.registry import read_registry


def find_root(
    folder: Path, root: str, environment: Mapping[str, str], read_open: Callable[[], Sequence[Path]] = tuple
) -> Path:
    """Return the folder to open; `root` is a folder, or the name of a registered or open repository.

    `read_open` returns the repositories that the client has open. It is called only if the others do not fit. Raises
    UsageError.
    """
    if not root:
        return folder
    repositories = read_registry(environment)
    by_name = next((repository.path for repository in repositories if repository.name == root), None)
    if by_name is not None:
        return by_name
    try:
        location = locate(folder / root)
    except NotARepository as error:
        by_name = next((path for path in read_open() if path.name == root), None)
        if by_name is not None:
            return by_name
        names = ", ".join([repository.name for repository in repositories] + [path.name for path in read_open()])
        raise UsageError(f"`{root}` is neither a working tree nor a known repository: {error.message}",
                         hint=f"known repositories: {names or 'none'}") from error  # fmt: skip
    place = location.worktree or location.git_dir
    is_known = any(os.path.realpath(repository.path) == str(place) for repository in repositories)
    if is_known or _is_same_repository(folder, location) or place in read_open():
        return place
    raise UsageError(f"gitmem has no access to `{root}`", hint=f"the user can add it: gitmem repos add {place}")


def _is_same_repository(folder: Path, location: RepositoryLocation) -> bool:
    """Return whether a location is a working tree of the server's own repository."""
    try:
        return locate(folder).common_dir == location.common_dir
    except NotARepository:
        return False
