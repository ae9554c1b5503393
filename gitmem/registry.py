"""Repositories that are known to this machine, so that one can be asked from another: a JSON file of paths and names.

It lies in the user's data directory and is written under a lock. A repository that is gone stays until it is removed.
`GITMEM_NO_REGISTRY` keeps it from being read and written.
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
_MOST_BYTES: Final = 16 << 20


class KnownRepository(NamedTuple):
    """A repository: the root of its working tree (or a bare one's folder) and the name it is called by."""

    name: str
    path: Path


def registry_file(environment: Mapping[str, str]) -> Path | None:
    """Where the registry lies: `$XDG_DATA_HOME/gitmem`, else `~/.local/share/gitmem`; None where there is no home."""
    if environment.get(OFF_VARIABLE):
        return None
    data = Path(environment.get("XDG_DATA_HOME", ""))
    home = environment.get("HOME") or environment.get("USERPROFILE")
    if not data.is_absolute():
        if not home:
            return None
        data = Path(home) / ".local" / "share"
    return data / "gitmem" / "repositories.json"


def read_registry(environment: Mapping[str, str]) -> list[KnownRepository]:
    """All known repositories in order of name; one that cannot be read counts as empty. Raises StorageFailed."""
    file = registry_file(environment)
    return _parse(read_file(file, _MOST_BYTES)) if file is not None else []


def add_repository(environment: Mapping[str, str], path: Path, name: str = "") -> KnownRepository | None:
    """Enter a repository; one that is there keeps its name unless another is given. None where there is no registry.

    Raises: UsageError where the name is taken, StorageFailed.
    """
    file = registry_file(environment)
    if file is None:
        return None
    _make_folders(file.parent)
    with writer_lock(file.with_suffix(".lock"), wait=True):
        known = _parse(read_file(file, _MOST_BYTES))
        others = [repository for repository in known if repository.path != path]
        old = next((repository for repository in known if repository.path == path), None)
        if old is not None and name in ("", old.name):
            return old
        if name and any(repository.name == name for repository in others):
            raise UsageError(f"another repository is called `{name}`", hint="gitmem repos list")
        entered = KnownRepository(name or _free_name(path.name, others), path)
        _write(file, [*others, entered])
    return entered


def remove_repository(environment: Mapping[str, str], wanted: str) -> KnownRepository | None:
    """Take out a repository by its name or path; None where it is not known. Raises StorageFailed."""
    file = registry_file(environment)
    if file is None or not file.exists():
        return None
    place = Path(os.path.realpath(wanted))
    with writer_lock(file.with_suffix(".lock"), wait=True):
        known = _parse(read_file(file, _MOST_BYTES))
        found = next((repository for repository in known if repository.name == wanted), None)
        found = found or next((repository for repository in known if repository.path == place), None)
        if found is not None:
            _write(file, [repository for repository in known if repository != found])
    return found


def _free_name(name: str, others: Sequence[KnownRepository]) -> str:
    """The folder's name, with a number where another is called so."""
    taken = {repository.name for repository in others}
    number = 1
    free = name or "repository"
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _parse(data: bytes | None) -> list[KnownRepository]:
    """What a registry holds, entries that make no sense left out."""
    try:
        value: Any = json.loads(data or b"{}")
    except ValueError:
        return []
    entries = value.get("repositories") if isinstance(value, dict) else None
    known = [
        KnownRepository(entry["name"], Path(entry["path"]))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and _is_sound(entry.get("name")) and _is_sound(entry.get("path"))
        if Path(entry["path"]).is_absolute()
    ]
    return sorted(known)


def _is_sound(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _write(file: Path, known: Sequence[KnownRepository]) -> None:
    entries = [{"name": repository.name, "path": str(repository.path)} for repository in sorted(known)]
    text = json.dumps({"version": _VERSION, "repositories": entries}, indent=2) + "\n"
    write_atomic(file, [text.encode("ascii")])


def _make_folders(folder: Path) -> None:
    """The folder and those above it, for this user alone where they are not there yet."""
    for place in (*reversed(folder.parents), folder):
        if not place.is_dir():
            make_folder(place)
