"""Files of a working tree as the blobs that git would store: ids after git's own filters, and contents by id.

The content of an uncommitted blob is read from its file. If git would store other bytes than the file's (line endings,
clean filters), git writes the blob to a temporary folder; the repository's object database stays untouched.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from gitmem.closeable import Closeable
from gitmem.errors import GitmemError
from gitmem.fsio import read_file
from gitmem.git.ids import object_id
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_reader import ObjectReader, read_with_fallback, sizes_with_fallback
from gitmem.git.program import run_git
from gitmem.git.promisor import OBJECT_FOLDER
from gitmem.lazy_pattern import lazy_pattern

HASHED_AT_ONCE: Final = 500
"""Files passed to one git process: the deadline is checked in between."""

_READ_AT_ONCE: Final = 60
_MAX_COMPARED: Final = 1 << 26
"""Largest file that is hashed here, 64 MiB; git hashes larger ones without holding them in memory."""

_NEEDS_QUOTES: Final = lazy_pattern(rb'^"|[\x00-\x1f]')
_ESCAPED: Final = lazy_pattern(rb'[\x00-\x1f"\\]')


def hash_files(
    location: RepositoryLocation, paths: Sequence[bytes], *, deadline: float = float("inf"), objects: Path | None = None
) -> dict[bytes, str | None]:
    """Return the blob id that a commit would give each path's file; None for a file that cannot be read.

    Paths are relative to the top of the working tree. Those not reached before the deadline (`time.monotonic`) are
    absent, but some are always hashed. With `objects`, the blobs are written into that folder.
    """
    ids: dict[bytes, str | None] = {}
    rest = list(paths)
    while rest and (not ids or time.monotonic() < deadline):
        window = rest[:HASHED_AT_ONCE]
        oids = _hash(location, window, objects)
        ids |= zip(window, oids, strict=False)
        if len(oids) < len(window):  # git stops at a file that it cannot read
            ids[window[len(oids)]] = None
        rest = rest[min(len(oids) + 1, len(window)) :]
    return ids


def _hash(location: RepositoryLocation, paths: Sequence[bytes], objects: Path | None) -> list[str]:
    """Return the ids of the paths up to the first that git cannot read."""
    assert location.worktree is not None
    write, environment = (["-w"], {OBJECT_FOLDER: str(objects)}) if objects else ([], {})
    result = run_git(
        [f"--work-tree={location.worktree}", "hash-object", *write, "--stdin-paths"],
        cwd=location.worktree,
        git_dir=location.git_dir,
        environment=environment,
        stdin=b"".join(_quote(path) + b"\n" for path in paths),
        check=False,
    )
    return result.stdout.decode("ascii").split()


def _quote(path: bytes) -> bytes:
    """Return a path for a line of standard input, quoted as a C string if it contains control characters."""
    if not _NEEDS_QUOTES.search(path):
        return path
    return b'"' + _ESCAPED.sub(lambda match: b"\\%03o" % ord(match.group()), path) + b'"'


def blob_id(location: RepositoryLocation, data: bytes) -> str:
    """Return the id of a blob with this content."""
    return object_id("blob", data, location.object_format)


def read_unchanged(location: RepositoryLocation, places: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the contents of those blobs that are still byte for byte in their file; `places` maps ids to paths.

    Reading and hashing a file is cheaper than a lookup in git's packs.
    """
    assert location.worktree is not None
    contents: dict[str, bytes] = {}
    for oid, path in places.items():
        with suppress(GitmemError):
            data = read_file(location.worktree / os.fsdecode(path), _MAX_COMPARED)
            if data is not None and blob_id(location, data) == oid:
                contents[oid] = data
    return contents


class FileReader(Closeable):
    """ObjectReader that reads some blobs from files of the working tree, with another reader as fallback.

    `files` maps the ids of these blobs to paths. The fallback is also used if the file has changed in the meantime.
    """

    def __init__(self, location: RepositoryLocation, files: Mapping[str, bytes], fallback: ObjectReader) -> None:
        assert location.worktree is not None
        self._location = location
        self._worktree = location.worktree
        self._files = files
        self._fallback = fallback
        self.damaged = fallback.damaged

    def size(self, oid: str) -> int | None:
        return self.sizes([oid])[0]

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        return sizes_with_fallback(self._file_size, self._fallback, oids)

    def read(self, oid: str) -> bytes | None:
        return next(self.read_many([oid]))[1]

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        waiting = iter(oids)
        while window := list(islice(waiting, _READ_AT_ONCE)):
            data = self._read_files([oid for oid in window if oid in self._files])
            yield from read_with_fallback(window, data, data.get, self._fallback)

    def close(self) -> None:
        self._fallback.close()

    def _file_size(self, oid: str) -> int | None:
        with suppress(OSError, KeyError):
            return (self._worktree / os.fsdecode(self._files[oid])).lstat().st_size
        return None

    def _read_files(self, oids: Sequence[str]) -> dict[str, bytes]:
        """Return the contents of the blobs whose files have not changed."""
        unfiltered = read_unchanged(self._location, {oid: self._files[oid] for oid in oids})
        others = [oid for oid in oids if oid not in unfiltered]
        return unfiltered | self._read_filtered(others) if others else unfiltered

    def _read_filtered(self, oids: Sequence[str]) -> dict[str, bytes]:
        """Return the contents that git would store for files with filters."""
        import tempfile  # slow to import, and few files have filters

        with tempfile.TemporaryDirectory(prefix="gitmem-") as folder:
            ids = hash_files(self._location, [self._files[oid] for oid in oids], objects=Path(folder))
            return {oid: self._read_from(folder, oid) for oid in oids if ids[self._files[oid]] == oid}

    def _read_from(self, folder: str, oid: str) -> bytes:
        args = ["--no-replace-objects", "cat-file", "blob", oid]
        return run_git(args, git_dir=self._location.git_dir, environment={OBJECT_FOLDER: folder}).stdout
