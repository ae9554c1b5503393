"""Enters the server into the files of clients, and takes it out again: whatever else those hold stays byte for byte.

What a file was before is kept in the git directory until it is taken out: a file that nobody has touched meanwhile
becomes again what it was, out of one that somebody has only the entry goes.
"""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from gitmem.errors import GitmemError, UsageError
from gitmem.fsio import make_folder, read_file, remove_empty_folder, remove_file, write_atomic
from gitmem.git.locate import Location
from gitmem.install.clients import CLIENTS, GUIDE, Edit

ADDED: Final = "added"
THERE: Final = "there"
OTHER: Final = "other"

_RECORD: Final = "gitmem-clients"
_MOST_BYTES: Final = 8 << 20
_MODE: Final = 0o644


class _Entry(NamedTuple):
    """What was done to a file: its bytes before (None: it was not there), a hash of those after, folders made."""

    file: Path
    before: bytes | None
    after: str
    folder_made: bool


def register(location: Location, file: str, edit: Edit) -> str:
    """Enter the server into a file of the working tree: ADDED, THERE already, or OTHER where its name is taken.

    Raises: UsageError where the file is none that can be changed, StorageFailed.
    """
    path = _place(location, file)
    before = _read(path)
    text = _decode(path, before or b"")
    found = _in(path, lambda: edit.find(text))
    if found is not None:
        return THERE if found == edit.ours else OTHER
    after = _in(path, lambda: edit.add(text)).encode("utf-8")
    entries = [entry for entry in _read_record(location) if entry.file != path]
    folder_made = not path.parent.exists()
    _write_record(location, [*entries, _Entry(path, before, _hash(after), folder_made)])
    make_folder(path.parent, 0o755)
    write_atomic(path, [after], mode=_mode(path))
    return ADDED


def unregister(location: Location) -> tuple[list[Path], list[str]]:
    """Take out everything that was entered; returns the files that were changed, and what is wrong with the others."""
    changed: list[Path] = []
    problems: list[str] = []
    entries = _read_record(location)
    for entry in entries:
        try:
            if _restore(entry):
                changed.append(entry.file)
        except GitmemError as problem:
            problems.append(problem.message + (f"; {problem.hint}" if problem.hint else ""))
    remove_file(location.common_dir / _RECORD)
    return changed, problems


def _restore(entry: _Entry) -> bool:
    now = _read(entry.file)
    if now is None:
        return False
    if _hash(now) == entry.after:
        _put(entry, entry.before)
        return True
    edit = _edit_of(entry.file)
    text = _decode(entry.file, now)
    if edit is None or _in(entry.file, lambda: edit.find(text)) != edit.ours:
        return False
    rest = _in(entry.file, lambda: edit.remove(text))
    _put(entry, rest.encode("utf-8") if rest else None)
    return True


def _put(entry: _Entry, content: bytes | None) -> None:
    if content is not None:
        write_atomic(entry.file, [content], mode=_mode(entry.file))
        return
    remove_file(entry.file)
    if entry.folder_made and not any(entry.file.parent.iterdir()):
        remove_empty_folder(entry.file.parent)


def _edit_of(path: Path) -> Edit | None:
    """How a file that was entered is changed, by its name."""
    for client in CLIENTS.values():
        if path.as_posix().endswith("/" + client.file):
            return client.edit
        if path.name == client.guide:
            return GUIDE
    return None


def _place(location: Location, file: str) -> Path:
    if location.worktree is None:
        raise UsageError("a bare repository has no files for clients")
    path = location.worktree / file
    if path.is_symlink() or path.parent.is_symlink():
        raise UsageError(f"`{file}` is a symbolic link, so it is left alone", hint="gitmem install CLIENT --print")
    return path


def _read(path: Path) -> bytes | None:
    return read_file(path, _MOST_BYTES) if path.parent.is_dir() else None


def _decode(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise _unchanged(path, "it is not UTF-8") from problem


def _in(path: Path, action: Any) -> Any:
    """Do something with a file's text, and name the file where that is impossible."""
    try:
        return action()
    except UsageError as problem:
        raise _unchanged(path, problem.message) from problem


def _unchanged(path: Path, why: str) -> UsageError:
    return UsageError(
        f"`{path}` was left as it is: {why}", hint="gitmem install CLIENT --print shows what belongs there"
    )


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777 if path.exists() else _MODE


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_record(location: Location) -> list[_Entry]:
    data = read_file(location.common_dir / _RECORD, _MOST_BYTES)
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
        return []  # without it nothing is taken out


def _write_record(location: Location, entries: list[_Entry]) -> None:
    values = [
        {
            "file": str(entry.file),
            "before": None if entry.before is None else base64.b64encode(entry.before).decode("ascii"),
            "after": entry.after,
            "folder_made": entry.folder_made,
        }
        for entry in entries
    ]
    write_atomic(location.common_dir / _RECORD, [json.dumps(values, indent=1).encode("ascii")])
