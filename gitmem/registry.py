"""Registry of the user's repositories, so that one can be searched from another: a JSON file of paths and names.

It is in the user's data directory and written under a lock. A deleted repository stays in it until it is removed.
With `GITMEM_NO_REGISTRY` set it is neither read nor written.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.fsio import make_folder, read_file, write_atomic
from gitmem.locks import writer_lock

OFF_VARIABLE: Final = "GITMEM_NO_REGISTRY"
_VERSION: Final = 1
_MAX_BYTES: Final = 16 << 20


class KnownRepository(NamedTuple):
    """Repository with its name and the root of its working tree; of a bare one, its folder."""

    name: str
    path: Path


def registry_file(environment: Mapping[str, str]) -> Path | None:
    """Return the path of the registry, None if it is turned off or without a home directory.

    It is in `$XDG_DATA_HOME/gitmem`, else in `~/.local/share/gitmem`.
    """
    folder = None if environment.get(OFF_VARIABLE) else data_folder(environment)
    return None if folder is None else folder / "repositories.json"


def data_folder(environment: Mapping[str, str]) -> Path | None:
    """Return gitmem's folder in the user's data directory, None without a home directory."""
    data = Path(environment.get("XDG_DATA_HOME", ""))
    home = environment.get("HOME") or environment.get("USERPROFILE")
    if not data.is_absolute():
        if not home:
            return None
        data = Path(home) / ".local" / "share"
    return data / "gitmem"


def read_registry(environment: Mapping[str, str]) -> list[KnownRepository]:
    """Return all repositories in order of name; a registry that is not valid counts as empty. Raises: StorageFailed."""
    file = registry_file(environment)
    return _parse(read_file(file, _MAX_BYTES)) if file is not None else []


def add_repository(environment: Mapping[str, str], path: Path, name: str = "") -> KnownRepository | None:
    """Add a repository and return it, or None without a registry.

    A repository that is listed already keeps its name unless `name` is given. Raises: UsageError if another repository
    has that name, StorageFailed.
    """
    file = registry_file(environment)
    if file is None:
        return None
    _make_folders(file.parent)
    with writer_lock(file.with_suffix(".lock"), wait=True):
        # Read under the lock: another process may just have added a repository.
        known = _parse(read_file(file, _MAX_BYTES))
        others = [repository for repository in known if repository.path != path]
        old = next((repository for repository in known if repository.path == path), None)
        if old is not None and name in ("", old.name):
            return old
        if name and any(repository.name == name for repository in others):
            raise UsageError(f"another repository is called `{name}`", hint="gitmem repos list")
        added = KnownRepository(name or _free_name(path.name, others), path)
        _write(file, [*others, added])
    return added


def remove_repository(environment: Mapping[str, str], name_or_path: str) -> KnownRepository | None:
    """Remove a repository and return it, or None if it is not listed; a name has precedence. Raises: StorageFailed."""
    file = registry_file(environment)
    if file is None or not file.exists():
        return None
    # A deleted repository has no path to resolve, but realpath works without it.
    path = Path(os.path.realpath(name_or_path))
    with writer_lock(file.with_suffix(".lock"), wait=True):
        known = _parse(read_file(file, _MAX_BYTES))
        match = next((repository for repository in known if repository.name == name_or_path), None)
        match = match or next((repository for repository in known if repository.path == path), None)
        if match is not None:
            _write(file, [repository for repository in known if repository != match])
    return match


def _free_name(name: str, others: Sequence[KnownRepository]) -> str:
    """Return the name of the folder, with a number if another repository has that name."""
    used = {repository.name for repository in others}
    number = 1
    free = name or "repository"
    while free in used:
        number += 1
        free = f"{name}-{number}"
    return free


def _parse(data: bytes | None) -> list[KnownRepository]:
    """Return the entries of a registry in order of name, without invalid ones."""
    try:
        value: Any = json.loads(data or b"{}")
    except ValueError:
        return []
    entries = value.get("repositories") if isinstance(value, dict) else None
    known = [
        KnownRepository(entry["name"], Path(entry["path"]))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and _is_valid(entry.get("name")) and _is_valid(entry.get("path"))
        if Path(entry["path"]).is_absolute()
    ]
    return sorted(known)


def _is_valid(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _write(file: Path, known: Sequence[KnownRepository]) -> None:
    entries = [{"name": repository.name, "path": str(repository.path)} for repository in sorted(known)]
    text = json.dumps({"version": _VERSION, "repositories": entries}, indent=2) + "\n"
    write_atomic(file, [text.encode("ascii")])


def _make_folders(folder: Path) -> None:
    """Create a folder and its missing parents, accessible only to this user."""
    for place in (*reversed(folder.parents), folder):
        if not place.is_dir():
            make_folder(place)
