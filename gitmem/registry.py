"""Registry of the user's repositories, so that one can be searched from another: a JSON file of paths and names.

It is in the user's data directory and written under a lock. A deleted repository stays in it until it is removed.
With `GITMEM_NO_REGISTRY` set it is neither read nor written.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from gitmem.errors import UsageError
from gitmem.fsio import make_folder, read_file, write_atomic
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple

Result = TypeVar("Result")

OFF_VARIABLE: Final = "GITMEM_NO_REGISTRY"
_VERSION: Final = 1
_MAX_BYTES: Final = 16 << 20

MAX_NAME: Final = 100
"""Largest number of characters in a name."""

# A name is part of ids (`NAME:src/app.py`) and of commands, so it is neither a path nor an option, nor has it a colon.
NAME_PATTERN: Final = r"\w[\w.+-]*"
_NAME: Final = re.compile(NAME_PATTERN)
RESERVED: Final = frozenset({"repository", "conversation", "template"})
"""Words that begin ids of other things."""

_UNFIT: Final = re.compile(r"[^\w.+-]+")


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

    A repository that is listed already keeps its name unless `name` is given. Raises: UsageError for an invalid name
    or that of another repository, StorageFailed.
    """
    if name:
        check_name(name)

    def add(known: list[KnownRepository]) -> tuple[list[KnownRepository], KnownRepository]:
        others = [repository for repository in known if repository.path != path]
        old = next((repository for repository in known if repository.path == path), None)
        if old is not None and name in ("", old.name):
            return known, old
        added = KnownRepository(name or free_name(path.name, {other.name for other in others}), path)
        _require_free(added.name, others)
        return [*others, added], added

    return _change(environment, add, create=True)


def rename_repository(environment: Mapping[str, str], old: str, new: str) -> KnownRepository | None:
    """Give a repository another name and return it; None without a registry. Of concurrent renames, one succeeds.

    Raises: UsageError for an unknown repository, an invalid name or that of another repository; StorageFailed.
    """
    check_name(new)

    def rename(known: list[KnownRepository]) -> tuple[list[KnownRepository], KnownRepository]:
        match = _find(known, old)
        if match is None:
            raise UsageError(f"unknown repository `{old}`", hint="gitmem repos list")
        # Looked up under the lock, so the second of two renames finds the old name gone.
        others = [repository for repository in known if repository != match]
        _require_free(new, others)
        renamed = match._replace(name=new)
        return [*others, renamed], renamed

    return _change(environment, rename, create=True)


def remove_repository(environment: Mapping[str, str], name_or_path: str) -> KnownRepository | None:
    """Remove a repository and return it, or None if it is not listed; a name has precedence. Raises: StorageFailed."""

    def remove(known: list[KnownRepository]) -> tuple[list[KnownRepository], KnownRepository | None]:
        match = _find(known, name_or_path)
        return [repository for repository in known if repository != match], match

    return _change(environment, remove, create=False)


def find_repository(environment: Mapping[str, str], name_or_path: str) -> KnownRepository | None:
    """Return the repository of a name or path; a name has precedence. Raises: StorageFailed."""
    return _find(read_registry(environment), name_or_path)


def check_name(name: str) -> None:
    """Raise UsageError unless a text is a valid name of a repository."""
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        hint = f"at most {MAX_NAME} letters, digits and `.`, `_`, `-`, `+`, beginning with a letter, digit or `_`"
        raise UsageError(f"invalid name of a repository: `{name}`", hint=hint)
    if name in RESERVED:
        raise UsageError(
            f"`{name}` cannot be the name of a repository", hint="ids of other things begin with this word"
        )


def free_name(folder: str, used: Collection[str]) -> str:
    """Return a valid name like that of a folder, with a number if another repository has that name."""
    number = 1
    first = _UNFIT.sub("-", folder).lstrip("-.+").rstrip("-")[: MAX_NAME - 10] or "unnamed"
    free = first
    while free in used or free in RESERVED:
        number += 1
        free = f"{first}-{number}"
    return free


def _find(known: Sequence[KnownRepository], name_or_path: str) -> KnownRepository | None:
    match = next((repository for repository in known if repository.name == name_or_path), None)
    if match is not None:
        return match
    # A deleted repository has no path to resolve, but realpath works without it.
    path = Path(os.path.realpath(name_or_path))
    return next((repository for repository in known if repository.path == path), None)


def _require_free(name: str, others: Sequence[KnownRepository]) -> None:
    if any(repository.name == name for repository in others):
        raise UsageError(f"another repository is called `{name}`", hint="gitmem repos list")


def _change(
    environment: Mapping[str, str],
    edit: Callable[[list[KnownRepository]], tuple[list[KnownRepository], Result]],
    *,
    create: bool,
) -> Result | None:
    """Edit the registry under its lock and return the result of the edit; None without a registry."""
    file = registry_file(environment)
    if file is None or not (create or file.exists()):
        return None
    make_folders(file.parent)
    with writer_lock(file.with_suffix(".lock"), wait=True):
        # Read under the lock: another process may just have changed it.
        known = _parse(read_file(file, _MAX_BYTES))
        edited, result = edit(known)
        if edited != known:
            _write(file, edited)
    return result


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


def make_folders(folder: Path) -> None:
    """Create a folder and its missing parents, accessible only to this user."""
    for place in (*reversed(folder.parents), folder):
        if not place.is_dir():
            make_folder(place)
