"""`gitmem repos`: add, list and remove the repositories that this user's servers may search."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import StorageFailed
from gitmem.paths import INDEX_NAME
from gitmem.registry import KnownRepository, add_repository, read_registry, remove_repository
from gitmem.workspace import Workspace


class Listed(NamedTuple):
    """Registered repository; `state` is `indexed`, `no index` or `missing`."""

    name: str
    path: Path
    state: str


def list_repositories(environment: Mapping[str, str]) -> list[Listed]:
    """Return all registered repositories with their present state."""
    return [Listed(known.name, known.path, _state(known.path)) for known in read_registry(environment)]


def _state(path: Path) -> str:
    if not path.is_dir():
        # The folder was moved or deleted, or its disk is not mounted: keep the entry, the user decides.
        return "missing"
    return (
        "indexed" if any((path / name / "manifest").is_file() for name in (INDEX_NAME, INDEX_NAME[1:])) else "no index"
    )


def enter_repository(workspace: Workspace, environment: Mapping[str, str], name: str = "") -> KnownRepository | None:
    """Register a repository by its main working tree, or a bare one's folder; return None without a registry.

    Raises: UsageError if the name is taken, StorageFailed.
    """
    root = workspace.paths.root.parent
    return add_repository(environment, root, name)


def note_repository(workspace: Workspace, environment: Mapping[str, str]) -> None:
    """Register a repository if the registry can be written; no other feature of the command depends on it."""
    try:
        enter_repository(workspace, environment)
    except StorageFailed:
        return


def forget_repository(environment: Mapping[str, str], name_or_path: str) -> KnownRepository | None:
    """Remove a repository from the registry; return None if it is not registered. Its index stays."""
    return remove_repository(environment, name_or_path)
