"""Blob ids of the uncommitted files of one working tree: one small file per working tree, next to the index.

The ids save hashing files that have not changed. The file also records for how long a blob that is in no commit has
been unused. Nothing depends on it: without the file, all uncommitted files are hashed again.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import DamagedFile, NewerFormat
from gitmem.fsio import read_file, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import FIRST_FORMAT, Container, build_container

MAGIC: Final = b"GITMEMUC"
KEEP_DAYS: Final = 14
"""Days that an unreachable blob is kept after its last use: as long as git keeps unreachable objects by default."""


class FileStat(NamedTuple):
    """Stat data by which a changed file is recognised without reading it. Times are in nanoseconds."""

    size: int
    modified: int
    changed: int
    inode: int
    mode: int


class KnownFile(NamedTuple):
    """Blob id of a file. `stat` is None if the file could still change without a change of its stat data.

    This is git's "racily clean" case: a file written within the resolution of the file system's clock.
    """

    oid: str
    stat: FileStat | None


class UncommittedFiles(NamedTuple):
    """Uncommitted files of a working tree by path, and earlier ids with the day (since 1970) of their last use."""

    files: Mapping[bytes, KnownFile]
    last_used: Mapping[str, int]

    def find(self, path: bytes, stat: FileStat) -> str | None:
        """Return the id of a file whose stat data is unchanged, else None."""
        known = self.files.get(path)
        return known.oid if known is not None and known.stat == stat else None

    def updated(self, files: Mapping[bytes, KnownFile], today: int) -> "UncommittedFiles":
        """Return the state after a later scan; ids unused for KEEP_DAYS are dropped."""
        if files == self.files:
            return self
        current = {known.oid for known in files.values()}
        previous = {known.oid: today for known in self.files.values()}
        used = {**self.last_used, **previous}.items()
        return UncommittedFiles(
            files, {oid: day for oid, day in used if oid not in current and day > today - KEEP_DAYS}
        )


EMPTY: Final = UncommittedFiles({}, {})


def read_uncommitted(path: Path) -> UncommittedFiles:
    """Read the file; return EMPTY if it is missing, damaged or from a newer version."""
    with suppress(DamagedFile, NewerFormat, KeyError, TypeError, ValueError):
        data = read_file(path)
        if data is not None:
            fields = Container(path, MAGIC, data, oldest=FIRST_FORMAT).fields
            files = {path: KnownFile(str(oid), _load_stat(values)) for path, oid, values in fields["files"]}
            return UncommittedFiles(files, {str(oid): int(day) for oid, day in fields["used"]})
    return EMPTY


def _load_stat(values: Sequence[int]) -> FileStat | None:
    return FileStat(*values) if values else None


def write_uncommitted(path: Path, uncommitted: UncommittedFiles) -> None:
    """Publish the file without fsync: a loss of power may cost it, but nothing else. Raises StorageFailed."""
    fields = {
        "files": [[path, known.oid, list(known.stat or ())] for path, known in uncommitted.files.items()],
        "used": [[oid, day] for oid, day in uncommitted.last_used.items()],
    }
    write_atomic(path, [bytes(part) for part in build_container(MAGIC, fields, {})], durable=False)
