"""File with the cached history of one path: lists of commits, traces and elements. Nothing depends on it."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gitmem.errors import DamagedFile, NewerFormat, StorageFailed
from gitmem.fsio import read_file, remove_file, write_atomic
from gitmem.store.format import FIRST_FORMAT, Container, build_container

MAGIC: Final = b"GITMEMHI"
MAX_FILES: Final = 256
MAX_BYTES: Final = 32 << 20
"""Limits of all such files together; those written first are removed first."""

_MAX_FILE: Final = 2 << 20


def read_history(file: Path) -> Mapping[str, Any]:
    """Return the fields of a file; none if it is missing, damaged or from a newer version."""
    with suppress(DamagedFile, NewerFormat, StorageFailed):
        data = read_file(file, _MAX_FILE)
        if data is not None:
            return Container(file, MAGIC, data, oldest=FIRST_FORMAT).fields
    return {}


def write_history(file: Path, fields: Mapping[str, Any]) -> None:
    """Publish a file without fsync, unless it is too large, and remove old ones. Raises StorageFailed."""
    parts = [bytes(part) for part in build_container(MAGIC, fields, {})]
    if sum(map(len, parts)) >= _MAX_FILE:
        return
    write_atomic(file, parts, durable=False)
    prefix = file.name.partition("-")[0]
    entries = []
    for other in file.parent.glob(f"{prefix}-*"):
        with suppress(FileNotFoundError):
            status = other.stat()
            entries.append((status.st_mtime_ns, status.st_size, other))
    total = 0
    for number, (_, size, other) in enumerate(sorted(entries, reverse=True)):
        total += size
        if number >= MAX_FILES or total > MAX_BYTES:
            remove_file(other)
