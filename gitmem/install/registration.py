"""Add the server to clients' files and remove it again; everything else in them stays byte for byte.

Each edit is recorded, so that a removal removes exactly what was added: entries of a repository in its git directory,
entries for all projects in the user's data directory. If removing the entry would not restore the file, the original
content is recorded as well, and a file that was not changed since gets it back.
"""

import base64
import hashlib
import json
import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final, TypeVar

from gitmem.errors import GitmemError, UsageError
from gitmem.fsio import FOLDER_MODE, make_folder, read_file, remove_empty_folder, remove_file, write_atomic
from gitmem.install.clients import CLIENTS, GUIDE_EDIT, PROJECT, entry_edit, entry_keys
from gitmem.install.entry_edit import GUIDE, Edit, make_edit
from gitmem.install.registered_files import MAX_BYTES
from gitmem.named_tuple import NamedTuple

ADDED: Final = "added"
PRESENT: Final = "present"
CONFLICT: Final = "conflict"

_FILE_MODE: Final = 0o644
_FOLDER_MODE: Final = 0o755

Result = TypeVar("Result")


class Target(NamedTuple):
    """What to add to a file: the edit, by its format, keys and value, and the client and scope it is for."""

    file: Path
    format: str
    keys: tuple[str, ...]
    value: Any
    client: str
    scope: str

    @property
    def edit(self) -> Edit:
        """Return the edit of the file."""
        return make_edit(self.format, self.keys, self.value)


class Registered(NamedTuple):
    """Record of an edit: its target, the bytes before (None if the file was missing), a hash of those after.

    `is_reversible` means that removing the entry restores the file; then `before` is not recorded. `new_folders` is
    the number of folders that were created for the file.
    """

    target: Target
    before: bytes | None
    after: str
    is_reversible: bool
    new_folders: int


def register(record: Path, target: Target, mode: int = _FILE_MODE) -> str:
    """Add the server to a file. `mode` is that of a new file.

    Return ADDED, PRESENT if it is there already, or CONFLICT if there is another entry of its name.
    Raises: UsageError if the file cannot be edited, StorageFailed.
    """
    path, edit = target.file, target.edit
    _refuse_links(path, target.scope)
    before = _read(path)
    text = _decode(path, before or b"")
    present = _with_path(path, lambda: edit.find(text))
    if present is not None:
        return PRESENT if present == edit.ours else CONFLICT
    added = _with_path(path, lambda: edit.add(text))
    after = added.encode("utf-8")
    is_reversible = edit.remove(added).encode("utf-8") == (before or b"") and before != b""
    missing = _missing_folders(path)
    entry = Registered(target, None if is_reversible else before, _hash(after), is_reversible, missing)
    # The record is written first: if the process is killed between the two, a removal finds an unchanged file and
    # does nothing, while an edit without a record could never be removed.
    others = [other for other in read_record(record) if (other.target.file, other.target.keys) != (path, target.keys)]
    _write_record(record, [*others, entry])
    _make_folders(path.parent, _FOLDER_MODE)
    write_atomic(path, [after], mode=_mode(path, mode))
    return ADDED


def unregister(record: Path, clients: Collection[str] = ()) -> tuple[list[Path], list[str]]:
    """Remove the recorded entries, of some clients or of all; return the files changed, and the problems."""
    changed: list[Path] = []
    problems: list[str] = []
    kept: list[Registered] = []
    for entry in read_record(record):
        if clients and entry.target.client not in clients:
            kept.append(entry)
            continue
        try:
            if _restore(entry):
                changed.append(entry.target.file)
        except GitmemError as problem:
            problems.append(problem.message + (f"; {problem.hint}" if problem.hint else ""))
    if kept:
        _write_record(record, kept)
    else:
        remove_file(record)
    return changed, problems


def find_entry(target: Target) -> Any:
    """Return the entry in a file, None if there is none. Raises UsageError, StorageFailed."""
    content = _read(target.file)
    return None if content is None else _with_path(target.file, lambda: target.edit.find(_decode(target.file, content)))


def _restore(entry: Registered) -> bool:
    """Restore a file or remove our entry from it; return False if there is nothing of ours."""
    path, edit = entry.target.file, entry.target.edit
    content = _read(path)
    if content is None:
        return False
    if _hash(content) == entry.after and not entry.is_reversible:
        _write(entry, entry.before)
        return True
    text = _decode(path, content)
    if _with_path(path, lambda: edit.find(text)) != edit.ours:
        return False
    rest = _with_path(path, lambda: edit.remove(text))
    _write(entry, rest.encode("utf-8") if rest else None)
    return True


def _write(entry: Registered, content: bytes | None) -> None:
    """Write a file, or remove it with the folders that were created for it, if they are empty."""
    path = entry.target.file
    if content is not None:
        write_atomic(path, [content], mode=_mode(path, _FILE_MODE))
        return
    remove_file(path)
    for folder in list(path.parents)[: entry.new_folders]:
        if any(folder.iterdir()):
            return
        remove_empty_folder(folder)


def _make_folders(folder: Path, mode: int) -> None:
    for place in (*reversed(folder.parents), folder):
        if not place.exists():
            make_folder(place, mode)


def _missing_folders(path: Path) -> int:
    return sum(1 for folder in path.parents if not folder.exists())


def _refuse_links(path: Path, scope: str) -> None:
    # In a repository a link may come from somebody else and lead anywhere. The user's own links are followed.
    if scope == PROJECT and os.path.realpath(path) != str(path):
        raise UsageError(f"`{path.name}` is a symbolic link and was not changed", hint="gitmem install CLIENT --print")


def _read(path: Path) -> bytes | None:
    return read_file(path, MAX_BYTES) if path.parent.is_dir() else None


def _decode(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise _not_changed(path, "not valid UTF-8") from problem


def _with_path(path: Path, action: Callable[[], Result]) -> Result:
    """Run an edit function, and add the path to its error."""
    try:
        return action()
    except UsageError as problem:
        raise _not_changed(path, problem.message) from problem


def _not_changed(path: Path, reason: str) -> UsageError:
    return UsageError(f"`{path}` was not changed: {reason}", hint="gitmem install CLIENT --print shows the entry")


def _mode(path: Path, new: int) -> int:
    return path.stat().st_mode & 0o777 if path.exists() else new


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_record(record: Path) -> list[Registered]:
    """Return the recorded edits. A damaged record counts as empty: without a record nothing is removed."""
    data = read_file(record, MAX_BYTES) if record.parent.is_dir() else None
    try:
        values: Any = json.loads(data or b"[]")
        return [entry for value in values if (entry := _parse_entry(value)) is not None]
    except (ValueError, TypeError, KeyError):
        return []


def _parse_entry(value: Any) -> Registered | None:
    target = _parse_target(value) if "format" in value else _guess_target(Path(value["file"]))
    if target is None:
        return None
    before = None if value["before"] is None else base64.b64decode(value["before"])
    folders = int(value["new_folders"] if "new_folders" in value else value["folder_made"])
    return Registered(target, before, str(value["after"]), bool(value.get("is_reversible", False)), folders)


def _parse_target(value: Any) -> Target:
    keys = tuple(map(str, value["keys"]))
    return Target(Path(value["file"]), value["format"], keys, value["value"], value["client"], value["scope"])


def _guess_target(path: Path) -> Target | None:
    """Return the target of an older record, which has only the path: the name of the file says the rest."""
    for name, client in CLIENTS.items():
        place = client.places.get(PROJECT)
        if place is not None and path.as_posix().endswith(f"/{place.files[0]}"):
            edit = entry_edit(client, PROJECT, "")
            return Target(path, client.format, entry_keys(place, ""), edit.ours, name, PROJECT)
        if path.name == client.guide:
            return Target(path, GUIDE, (), GUIDE_EDIT.ours, name, PROJECT)
    return None


def _write_record(record: Path, entries: list[Registered]) -> None:
    values = [
        {
            **entry.target._asdict(),
            "file": str(entry.target.file),
            "before": None if entry.before is None else base64.b64encode(entry.before).decode("ascii"),
            "after": entry.after,
            "is_reversible": entry.is_reversible,
            "new_folders": entry.new_folders,
        }
        for entry in entries
    ]
    _make_folders(record.parent, FOLDER_MODE)
    write_atomic(record, [json.dumps(values, indent=1).encode("ascii")])
