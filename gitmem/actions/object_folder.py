"""Artefact store in a folder, for example of a network drive or of the cache of a CI."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.actions.index_objects import PREFIX, StoredObject
from gitmem.errors import GitmemError, StorageFailed, UnsafeIndex, UsageError
from gitmem.fsio import make_folder, read_file, remove_file, write_atomic

_FOLDER_MODE: Final = 0o777
_FILE_MODE: Final = 0o644
_TEMPORARY: Final = ".tmp"
_OLD_SECONDS: Final = 86_400
"""Age at which a temporary file is taken for one of a killed process."""


class ObjectFolder:
    """Store in an existing folder."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            # It may be a drive that is not mounted: to make it would hide that.
            raise UsageError(f"the store `{folder}` is not a folder", hint=f"mkdir -p {folder}")
        self.place = str(folder)
        self._root = folder / PREFIX

    def list(self) -> Iterator[StoredObject]:
        """Yield all complete files. Links are not followed."""
        try:
            for group in _folders(self._root):
                for writer in _folders(group):
                    for entry in os.scandir(writer):
                        if entry.is_file(follow_symlinks=False) and not entry.name.endswith(_TEMPORARY):
                            name = f"{group.name}/{writer.name}/{entry.name}"
                            yield StoredObject(name, entry.stat(follow_symlinks=False).st_size)
        except OSError as problem:
            raise GitmemError(
                f"the store `{self.place}` cannot be read: {problem.strerror}", hint=f"ls -lR {self._root}"
            ) from problem

    def read(self, name: str, size: int) -> bytes | None:
        """Return the content of a file, None if it is gone or not a regular file."""
        try:
            return read_file(self._root / name, limit=size)
        except (StorageFailed, UnsafeIndex):
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file by rename, durably. Raises StorageFailed."""
        path = self._root / name
        for folder in (self._root, path.parent.parent, path.parent):
            # The folders are for everybody, as far as the umask allows: each writer has one.
            make_folder(folder, _FOLDER_MODE)
        _remove_abandoned(path.parent)
        write_atomic(path, [data], mode=_FILE_MODE)

    def remove(self, name: str) -> None:
        """Remove a file. Raises StorageFailed."""
        remove_file(self._root / name)


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder, none if it does not exist."""
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return []
    return sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of killed writers. Nobody else writes to the folder of this clone."""
    before = time.time() - _OLD_SECONDS
    for path in folder.glob(f"*{_TEMPORARY}"):
        with suppress(OSError):
            if path.stat().st_mtime < before:
                remove_file(path)
