"""Files of a shared index in an artefact store: a folder that several machines mount, or a bucket of a cloud.

Names are PREFIX/GROUP/WRITER/FILE. A store need only write a file as a whole. Each file has its content's hash in the
name or can be made again, so writers never wait for each other, and an interrupted push leaves nothing that is read.
"""

import re
from collections.abc import Collection, Iterable
from typing import Final, Protocol

from gitmem.actions.shared_files import DIGEST, MAX_FILES, PACK, TABLE, Listing, SharedFile
from gitmem.closeable import Closeable
from gitmem.memory.writer_identity import is_writer_id
from gitmem.named_tuple import NamedTuple

PREFIX: Final = "gitmem-index"

_GROUP: Final = re.compile(r"[0-9a-f]{16}\Z")
_FILE: Final = re.compile(rf"[0-9a-f]{{40}}(?:{re.escape(PACK)}|{re.escape(TABLE)}|{re.escape(DIGEST)})\Z")


class StoredObject(NamedTuple):
    """Name of a file below the prefix, and its size in bytes."""

    name: str
    size: int


class ObjectStore(Protocol):
    """Artefact store. `place` names it for people. All methods raise GitmemError if it cannot be reached."""

    place: str

    def list(self) -> Iterable[StoredObject]:
        """Return all complete files."""

    def read(self, name: str, size: int) -> bytes | None:
        """Return at most `size` bytes of a file, None if it is gone."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file that is visible only as a whole."""

    def remove(self, name: str) -> None:
        """Remove a file."""


class IndexObjects(Closeable):
    """Shared files of a store. `group` is the name of a version of chunker and model."""

    def __init__(self, store: ObjectStore, group: str, writer: str) -> None:
        self.place = store.place
        self.writer = writer
        self._store = store
        self._group = group

    def find_files(self) -> Listing:
        """Return all files. Others than those of an index are ignored."""
        files: dict[str, list[SharedFile]] = {}
        others: set[tuple[str, str]] = set()
        for name, size in self._store.list():
            parts = name.split("/")
            if len(parts) != 3 or not _GROUP.match(parts[0]) or not is_writer_id(parts[1]) or not _FILE.match(parts[2]):
                continue
            group, writer, file = parts
            if group != self._group:
                others.add((group, writer))
            elif len(files.setdefault(writer, [])) <= MAX_FILES:
                files[writer].append(SharedFile(writer, file, size, name))
        excessive = {writer for writer, own in files.items() if len(own) > MAX_FILES}
        listed = [file for writer in sorted(files.keys() - excessive) for file in sorted(files[writer])]
        return Listing(listed, len(others), [f"{each}: more than {MAX_FILES:,} files" for each in sorted(excessive)])

    def read(self, file: SharedFile) -> bytes | None:
        """Return the content of a file; None if it is gone or has grown since it was listed."""
        data = self._store.read(file.id, file.size + 1)
        return data if data is not None and len(data) == file.size else None

    def add(self, files: Iterable[tuple[str, bytes]], removed: Collection[str] = ()) -> None:
        """Remove files and write others, one after the other."""
        for name in removed:
            self._store.remove(f"{self._group}/{self.writer}/{name}")
        for name, data in files:
            self._store.write(f"{self._group}/{self.writer}/{name}", data)

    def close(self) -> None:
        """Do nothing: a store keeps nothing open."""
