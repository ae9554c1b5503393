"""Which repository a call means by `root`: none for that of the server's folder, another working tree of it, or one
that is known to this machine. Anything else is refused, so that a call reads nothing the user has not handed over."""

import os
from collections.abc import Mapping
from pathlib import Path

from gitmem.errors import NotARepository, UsageError
from gitmem.git.locate import Location, locate


def find_root(folder: Path, root: str, environment: Mapping[str, str]) -> Path:
    """The folder to open. Raises NotARepository, UsageError."""
    if not root:
        return folder
    from gitmem.registry import read_registry

    known = read_registry(environment)
    named = next((repository.path for repository in known if repository.name == root), None)
    if named is not None:
        return named
    try:
        asked = locate(folder / root)
    except NotARepository as problem:
        names = ", ".join(repository.name for repository in known) or "none"
        raise UsageError(f"`{root}` is neither a working tree nor a known repository: {problem.message}",
                         hint=f"known repositories: {names}") from problem  # fmt: skip
    place = asked.worktree or asked.git_dir
    if _is_own(folder, asked) or any(os.path.realpath(repository.path) == str(place) for repository in known):
        return place
    raise UsageError(f"`{root}` is not known to gitmem", hint=f"the user can add it: gitmem repos add {place}")


def _is_own(folder: Path, asked: Location) -> bool:
    """Whether it is a working tree of the server's own repository."""
    try:
        return locate(folder).common_dir == asked.common_dir
    except NotARepository:
        return False
