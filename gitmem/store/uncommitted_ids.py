"""What was uncommitted in one working tree when it was last looked at: one small file for each, beside the index.

It saves hashing files that have not changed, and it tells for how long a blob that is in no commit has been out of use.
Nothing depends on it: without the file everything is looked at anew.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.errors import DamagedFile, NewerFormat
from gitmem.fsio import read_file, write_atomic
from gitmem.store.format import Container, build_container

MAGIC: Final = b"GITMEMUC"
KEEP_DAYS: Final = 14
"""How long a blob that nothing reaches is kept after it was last seen: as long as git keeps such objects."""


class Stamp(NamedTuple):
    """What a file looks like from outside. Times are in nanoseconds."""

    size: int
    modified: int
    changed: int
    inode: int
    mode: int


class KnownFile(NamedTuple):
    """A file's blob id. `stamp` is None where the file could change without looking other than it did."""

    oid: str
    stamp: Stamp | None


class Record(NamedTuple):
    """The uncommitted files of a working tree by path, and the ids of those that were there before, with the day
    (since 1970) they were last seen."""

    files: Mapping[bytes, KnownFile]
    used: Mapping[str, int]

    def find(self, path: bytes, stamp: Stamp) -> str | None:
        """The id of a file that looks as it did."""
        known = self.files.get(path)
        return known.oid if known is not None and known.stamp == stamp else None

    def succeed(self, files: Mapping[bytes, KnownFile], today: int) -> "Record":
        """The record of a later look."""
        if files == self.files:
            return self
        held = {known.oid for known in files.values()}
        gone = {known.oid: today for known in self.files.values()}
        used = {oid: day for oid, day in {**self.used, **gone}.items() if oid not in held and day > today - KEEP_DAYS}
        return Record(files, used)


EMPTY: Final = Record({}, {})


def read_record(path: Path) -> Record:
    """Read a record; an empty one where there is none, or none that makes sense."""
    with suppress(DamagedFile, NewerFormat, KeyError, TypeError, ValueError):
        data = read_file(path)
        if data is not None:
            fields = Container(path, MAGIC, data).fields
            files = {path: KnownFile(str(oid), _load_stamp(stamp)) for path, oid, stamp in fields["files"]}
            return Record(files, {str(oid): int(day) for oid, day in fields["used"]})
    return EMPTY


def _load_stamp(values: Sequence[int]) -> Stamp | None:
    return Stamp(*values) if values else None


def write_record(path: Path, record: Record) -> None:
    """Publish a record. A power cut may cost it, which costs nothing else. Raises StorageFailed."""
    fields = {
        "files": [[path, known.oid, list(known.stamp or ())] for path, known in record.files.items()],
        "used": [[oid, day] for oid, day in record.used.items()],
    }
    write_atomic(path, [bytes(part) for part in build_container(MAGIC, fields, {})], durable=False)
