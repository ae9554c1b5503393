"""Add the server to clients' files and remove it again; everything else in them stays byte for byte.

The original content of each file is recorded in the git directory until the removal. A file that was not changed since
gets it back. From a file that was changed since, only the entry is removed.
"""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from gitmem.errors import GitmemError, UsageError
from gitmem.fsio import make_folder, read_file, remove_empty_folder, remove_file, write_atomic
from gitmem.git.locate import RepositoryLocation
from gitmem.install.clients import CLIENTS, GUIDE, Edit
from gitmem.install.registered_files import MAX_BYTES, RECORD

ADDED: Final = "added"
PRESENT: Final = "present"
CONFLICT: Final = "conflict"

_MODE: Final = 0o644

Result = TypeVar("Result")


class _Entry(NamedTuple):
    """Record of an edit: the bytes before (None if the file was missing), a hash of those after, and a new folder."""

    file: Path
    before: bytes | None
    after: str
    folder_made: bool


def register(location: RepositoryLocation, file: str, edit: Edit) -> str:
    """Add the server to a file of the working tree.

    Return ADDED, PRESENT if it is there already, or CONFLICT if there is another entry of its name.
    Raises: UsageError if the file cannot be edited, StorageFailed.
    """
    path = _resolve(location, file)
    before = _read(path)
    text = _decode(path, before or b"")
    present = _with_path(path, lambda: edit.find(text))
    if present is not None:
        return PRESENT if present == edit.ours else CONFLICT
    after = _with_path(path, lambda: edit.add(text)).encode("utf-8")
    # The record is written first: if the process is killed between the two, a removal finds an unchanged file and
    # does nothing, while an edit without a record could never be removed.
    entries = [entry for entry in _read_record(location) if entry.file != path]
    folder_made = not path.parent.exists()
    _write_record(location, [*entries, _Entry(path, before, _hash(after), folder_made)])
    make_folder(path.parent, 0o755)
    write_atomic(path, [after], mode=_mode(path))
    return ADDED


def unregister(location: RepositoryLocation) -> tuple[list[Path], list[str]]:
    """Remove all recorded entries; return the files changed, and the problems with the others."""
    changed: list[Path] = []
    problems: list[str] = []
    entries = _read_record(location)
    for entry in entries:
        try:
            if _restore(entry):
                changed.append(entry.file)
        except GitmemError as problem:
            problems.append(problem.message + (f"; {problem.hint}" if problem.hint else ""))
    remove_file(location.common_dir / RECORD)
    return changed, problems


def _restore(entry: _Entry) -> bool:
    """Restore a file or remove our entry from it; return False if there is nothing of ours."""
    content = _read(entry.file)
    if content is None:
        return False
    if _hash(content) == entry.after:
        _write(entry, entry.before)
        return True
    edit = _find_edit(entry.file)
    text = _decode(entry.file, content)
    if edit is None or _with_path(entry.file, lambda: edit.find(text)) != edit.ours:
        return False
    rest = _with_path(entry.file, lambda: edit.remove(text))
    _write(entry, rest.encode("utf-8") if rest else None)
    return True


def _write(entry: _Entry, content: bytes | None) -> None:
    """Write a file, or remove it with the folder that was created for it, if that is empty."""
    if content is not None:
        write_atomic(entry.file, [content], mode=_mode(entry.file))
        return
    remove_file(entry.file)
    if entry.folder_made and not any(entry.file.parent.iterdir()):
        remove_empty_folder(entry.file.parent)


def _find_edit(path: Path) -> Edit | None:
    """Return the edit functions for a recorded file, by its name."""
    for client in CLIENTS.values():
        if path.as_posix().endswith("/" + client.file):
            return client.edit
        if path.name == client.guide:
            return GUIDE
    return None


def _resolve(location: RepositoryLocation, file: str) -> Path:
    if location.worktree is None:
        raise UsageError("a bare repository has no files for clients")
    path = location.worktree / file
    if path.is_symlink() or path.parent.is_symlink():
        raise UsageError(f"`{file}` is a symbolic link and was not changed", hint="gitmem install CLIENT --print")
    return path


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


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777 if path.exists() else _MODE


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_record(location: RepositoryLocation) -> list[_Entry]:
    data = read_file(location.common_dir / RECORD, MAX_BYTES)
    try:
        values: Any = json.loads(data or b"[]")
        return [
            _Entry(
                Path(value["file"]),
                None if value["before"] is None else base64.b64decode(value["before"]),
                str(value["after"]),
                bool(value["folder_made"]),
            )
            for value in values
        ]
    except (ValueError, TypeError, KeyError):
        return []  # damaged: without a record nothing is removed


def _write_record(location: RepositoryLocation, entries: list[_Entry]) -> None:
    values = [
        {
            "file": str(entry.file),
            "before": None if entry.before is None else base64.b64encode(entry.before).decode("ascii"),
            "after": entry.after,
            "folder_made": entry.folder_made,
        }
        for entry in entries
    ]
    write_atomic(location.common_dir / RECORD, [json.dumps(values, indent=1).encode("ascii")])
