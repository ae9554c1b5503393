"""Files of a working tree as the blobs they would be: their ids by git's own filters, and their contents by id.

What is in no commit yet is read from the file itself. Where git would store something else than the file's bytes
(line ends, clean filters), git makes that in a folder of its own that goes again: the person's objects stay untouched.
"""

import os
import re
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
from gitmem.git.locate import Location
from gitmem.git.object_reader import ObjectReader, read_with_fallback, sizes_with_fallback
from gitmem.git.program import run_git
from gitmem.git.promisor import OBJECT_FOLDER

_HASHED_AT_ONCE: Final = 500
_READ_AT_ONCE: Final = 60
_COMPARED_MOST: Final = 1 << 26
"""Files beyond these 64 MiB are left to git, which does not hold them in memory to hash them."""

_NEEDS_QUOTES: Final = re.compile(rb'^"|[\x00-\x1f]')
_ESCAPED: Final = re.compile(rb'[\x00-\x1f"\\]')


def hash_files(
    location: Location, paths: Sequence[bytes], *, deadline: float = float("inf"), objects: Path | None = None
) -> dict[bytes, str | None]:
    """The blob id of each path's file as a commit would have it; None for one that cannot be read.

    Paths are from the top of the working tree. Those that are not reached before the deadline (`time.monotonic`) are
    left out, but some are always hashed. With `objects` the blobs are written into that folder.
    """
    found: dict[bytes, str | None] = {}
    rest = list(paths)
    while rest and (not found or time.monotonic() < deadline):
        window = rest[:_HASHED_AT_ONCE]
        oids = _hash(location, window, objects)
        found |= zip(window, oids, strict=False)
        if len(oids) < len(window):  # git stops at a file that it cannot read
            found[window[len(oids)]] = None
        rest = rest[min(len(oids) + 1, len(window)) :]
    return found


def _hash(location: Location, paths: Sequence[bytes], objects: Path | None) -> list[str]:
    """Ids of the first paths, as many as git could read one after the other."""
    assert location.worktree is not None
    write, environment = (["-w"], {OBJECT_FOLDER: str(objects)}) if objects else ([], {})
    result = run_git(
        [f"--work-tree={location.worktree}", "hash-object", *write, "--stdin-paths"],
        cwd=location.worktree,
        git_dir=location.git_dir,
        environment=environment,
        stdin=b"".join(_quoted(path) + b"\n" for path in paths),
        check=False,
    )
    return result.stdout.decode("ascii").split()


def _quoted(path: bytes) -> bytes:
    """A path on a line of its own, in the way of C where it would not be one otherwise."""
    if not _NEEDS_QUOTES.search(path):
        return path
    return b'"' + _ESCAPED.sub(lambda match: b"\\%03o" % ord(match.group()), path) + b'"'


def blob_id(location: Location, data: bytes) -> str:
    """The id of a blob with this content."""
    return object_id("blob", data, location.object_format)


def read_unchanged(location: Location, places: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those of some blobs, told by id and path, that files of the working tree still hold byte for byte.

    Reading and hashing a file is cheaper than having git look the blob up in its packs.
    """
    assert location.worktree is not None
    found: dict[str, bytes] = {}
    for oid, path in places.items():
        with suppress(GitmemError):
            data = read_file(location.worktree / os.fsdecode(path), _COMPARED_MOST)
            if data is not None and blob_id(location, data) == oid:
                found[oid] = data
    return found


class FileReader(Closeable):
    """An ObjectReader that reads some blobs from files of the working tree, and asks another one for the rest.

    `files` tells the path of each such blob. Where the file has changed since, the other reader is asked as well.
    """

    def __init__(self, location: Location, files: Mapping[str, bytes], others: ObjectReader) -> None:
        assert location.worktree is not None
        self._location = location
        self._worktree = location.worktree
        self._files = files
        self._others = others
        self.damaged = others.damaged

    def size(self, oid: str) -> int | None:
        return self.sizes([oid])[0]

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        return sizes_with_fallback(self._file_size, self._others, oids)

    def read(self, oid: str) -> bytes | None:
        return next(self.read_many([oid]))[1]

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        waiting = iter(oids)
        while window := list(islice(waiting, _READ_AT_ONCE)):
            data = self._read_files([oid for oid in window if oid in self._files])
            yield from read_with_fallback(window, data, data.get, self._others)

    def close(self) -> None:
        self._others.close()

    def _file_size(self, oid: str) -> int | None:
        with suppress(OSError, KeyError):
            return (self._worktree / os.fsdecode(self._files[oid])).lstat().st_size
        return None

    def _read_files(self, oids: Sequence[str]) -> dict[str, bytes]:
        """The blobs that the files still hold."""
        found = read_unchanged(self._location, {oid: self._files[oid] for oid in oids})
        others = [oid for oid in oids if oid not in found]
        return found | self._read_filtered(others) if others else found

    def _read_filtered(self, oids: Sequence[str]) -> dict[str, bytes]:
        """What git would store for files whose own bytes are something else."""
        import tempfile  # slow to import, and few files have filters

        with tempfile.TemporaryDirectory(prefix="gitmem-") as folder:
            made = hash_files(self._location, [self._files[oid] for oid in oids], objects=Path(folder))
            return {oid: self._read_made(oid, folder) for oid in oids if made[self._files[oid]] == oid}

    def _read_made(self, oid: str, folder: str) -> bytes:
        args = ["--no-replace-objects", "cat-file", "blob", oid]
        return run_git(args, git_dir=self._location.git_dir, environment={OBJECT_FOLDER: folder}).stdout
