"""The repositories known to this machine: enter, list, take out."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import StorageFailed
from gitmem.paths import INDEX_NAME
from gitmem.registry import Known, add_repository, read_registry, remove_repository
from gitmem.workspace import Workspace


class Listed(NamedTuple):
    """A known repository; `state` is `indexed`, `no index` or `missing`."""

    name: str
    path: Path
    state: str


def list_repositories(environment: Mapping[str, str]) -> list[Listed]:
    """All known repositories, as they are now."""
    return [Listed(known.name, known.path, _state(known.path)) for known in read_registry(environment)]


def _state(path: Path) -> str:
    if not path.is_dir():
        return "missing"
    return (
        "indexed" if any((path / name / "manifest").is_file() for name in (INDEX_NAME, INDEX_NAME[1:])) else "no index"
    )


def enter_repository(workspace: Workspace, environment: Mapping[str, str], name: str = "") -> Known | None:
    """Enter a repository by its main working tree, or a bare one's folder; None where nothing is kept.

    Raises UsageError where the name is taken, StorageFailed.
    """
    root = workspace.paths.root.parent
    return add_repository(environment, root, name)


def note_repository(workspace: Workspace, environment: Mapping[str, str]) -> None:
    """Enter a repository in passing: where the list cannot be written, nothing depends on it."""
    try:
        enter_repository(workspace, environment)
    except StorageFailed:
        return


def forget_repository(environment: Mapping[str, str], wanted: str) -> Known | None:
    """Take a repository out by name or path; None where it is not known. Its index stays."""
    return remove_repository(environment, wanted)
