"""Join of a view with segments, stored: which blob each path has, and the sorted keys of the blobs.

Both sides never change, so neither does their join. A query reads it instead of sorting and comparing the ids of all
paths and blobs; it matches only the segments and paths that came later. Nothing depends on the file: without it, the
join is computed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import DamagedFile, NewerFormat, StorageFailed
from gitmem.fsio import write_atomic
from gitmem.paths import JOIN_SUFFIX
from gitmem.store.format import Container, build_container, find_container
from gitmem.store.section import damaged

MAGIC: Final = b"GITMEMJN"


class Join:
    """Stored join of the base of a view with some segments.

    Blobs are numbered as in a snapshot of these segments. Raises: DamagedFile.
    """

    def __init__(self, container: Container, entries: int) -> None:
        try:
            self.segments = {str(name): int(blobs) for name, blobs in container.fields["segments"]}
            matches, keys, blobs = (container[name].numbers(kind) for name, kind in _SECTIONS)
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise damaged(container.path, "a section or field is missing") from problem
        self.blobs = sum(self.segments.values())
        is_valid = len(matches) == entries and len(keys) == len(blobs) == self.blobs
        if not is_valid or (len(blobs) and blobs.max() >= self.blobs) or (entries and matches.max() >= self.blobs):
            raise damaged(container.path, "its blobs do not match its segments")
        self.matches = matches
        self.sorted_keys = keys
        self.sorted_blobs = blobs

    def renumber(self, first: Mapping[str, int]) -> NDArray[np.int64]:
        """Return the present number of each blob, [blobs + 1].

        `first` has the number of the first blob of each present segment. Blobs of other segments have the number -1, as
        has the last place, so that the number of a missing blob remains -1.
        """
        numbers = np.full(self.blobs + 1, -1, np.int64)
        start = 0
        for name, blobs in self.segments.items():
            if name in first:
                numbers[start : start + blobs] = np.arange(first[name], first[name] + blobs)
            start += blobs
        return numbers


_SECTIONS: Final = (("matches", "<i4"), ("keys", "<u8"), ("blobs", "<u4"))


def join_file(base: Path) -> Path:
    """Return the file for the join of a base."""
    return base.with_suffix(JOIN_SUFFIX)


def find_join(base: Path, entries: int) -> Join | None:
    """Open the join of a base with some entries; None if it is missing or damaged."""
    try:
        return read_join(join_file(base), entries)
    except (DamagedFile, NewerFormat, StorageFailed):
        return None


def read_join(path: Path, entries: int) -> Join | None:
    """Open a join of a base with some entries, or return None without a file. Raises: DamagedFile."""
    container = find_container(path, MAGIC)
    return None if container is None else Join(container, entries)


def write_join(base: Path, segments: Mapping[str, int], matches: NDArray[np.int64], keys: NDArray[np.uint64]) -> None:
    """Publish the join of a base with segments, given with their numbers of blobs. Raises: StorageFailed.

    `matches` [entries] is the result of `Snapshot.match` for the base, and `keys` are those of all blobs.
    """
    order = np.argsort(keys, kind="stable")
    columns = (matches, keys[order], order)
    sections = {name: column.astype(kind).data for (name, kind), column in zip(_SECTIONS, columns, strict=True)}
    parts = build_container(MAGIC, {"segments": [list(item) for item in segments.items()]}, sections)
    write_atomic(join_file(base), [memoryview(part) for part in parts])
