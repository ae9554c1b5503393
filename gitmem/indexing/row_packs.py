"""Packs: rows of some blobs as a segment, to be shared. They are made from an index and taken into another one.

A pack comes from elsewhere, so everything in it is checked before it is used: its name is the hash of its bytes, its
size and that of its header are limited, and all of it is decoded once. `row_check` compares its rows with the blobs
themselves.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences, is_among
from gitmem.chunking.blob_text import MAX_GROWTH
from gitmem.errors import DamagedFile, NewerFormat
from gitmem.named_tuple import NamedTuple
from gitmem.store.columns import RETRIED
from gitmem.store.leaf_table import MAX_FOREIGN_HEADER, Key, segment_keys
from gitmem.store.manifest import SegmentEntry
from gitmem.store.packed_file import PackedContainer
from gitmem.store.section import damaged
from gitmem.store.segment import MAGIC, Segment
from gitmem.store.segment_writer import SegmentSource, write_sources

PACK_BYTES: Final = 24 << 20
"""Size at which a pack is full: hosts refuse files of 100 MB, and a reader holds one pack in memory."""

MAX_PACK_BYTES: Final = 96 << 20
"""Size up to which a pack is read. One blob of the largest size that is indexed, with long vectors, fits."""

_MOST_INFLATED: Final = 64 << 20
"""Bytes that the deflated sections of a pack may have. Only packs of few rows have some, a tenth of it."""

_ROW_BYTES: Final = 400
"""Bytes of a row without its vector, on average."""


class Selection(NamedTuple):
    """Blobs of a segment, as a mask."""

    segment: Segment
    keep: NDArray[np.bool_]


def select_blobs(segments: Sequence[Segment], is_wanted: Callable[[Key], bool]) -> list[Selection]:
    """Return the wanted blobs of each segment, without those that could not be read or chunked."""
    selections = []
    for segment in segments:
        mask = np.fromiter(map(is_wanted, segment_keys(segment)), np.bool_, segment.blobs)
        selections.append(Selection(segment, mask & ~is_among(segment.outcomes, RETRIED)))
    return selections


def write_packs(selections: Sequence[Selection], folder: Path) -> Iterator[SegmentEntry]:
    """Write the selected blobs as packs, each a file in the folder. Raises: DamagedFile, StorageFailed."""
    # First fit in the order of the segments: packs are filled by rows, because these decide their size.
    group: list[SegmentSource] = []
    room = 0
    for segment, keep in selections:
        limit = max(1, PACK_BYTES // (_ROW_BYTES + segment.width("vectors") + segment.width("bits")))
        for part in _split(segment, keep, limit):
            rows = int(differences(segment.first)[part].sum())
            if group and rows > room:
                yield write_sources(folder, group, folder)
                group = []
            room = (room if group else limit) - rows
            group.append(SegmentSource(segment, part))
    if group:
        yield write_sources(folder, group, folder)


def _split(segment: Segment, keep: NDArray[np.bool_], limit: int) -> Iterator[NDArray[np.bool_]]:
    """Yield masks of at most `limit` rows, or of one blob, that add up to a mask."""
    sizes = np.where(keep, differences(segment.first), 0)
    # The rows of each part end in the same multiple of the limit, so a part has at most one blob too many.
    parts = np.cumsum(sizes) // limit
    for number in np.unique(parts[keep]).tolist():
        yield keep & (parts == number)


def read_pack(name: str, size: int, read: Callable[[], bytes | None], dimensions: int, id_bytes: int) -> Segment:
    """Read a pack of limited size and open it, see `open_pack`. Raises: DamagedFile, NewerFormat."""
    if size > MAX_PACK_BYTES:
        raise damaged(Path(name), f"{size:,} bytes, the limit is {MAX_PACK_BYTES:,}")
    data = read()
    if data is None:
        raise damaged(Path(name), "it cannot be read")
    return open_pack(name, data, dimensions, id_bytes)


def open_pack(name: str, data: bytes, dimensions: int, id_bytes: int) -> Segment:
    """Open a pack from elsewhere. `dimensions` are those of the index, 0 if unknown.

    Raises: DamagedFile, NewerFormat, if anything in it is not as a writer of this version leaves it.
    """
    path = Path(name)
    if hashlib.blake2b(data, digest_size=20).hexdigest() != name:
        raise damaged(path, "its content does not match its name")
    segment = Segment(PackedContainer(path, MAGIC, data, max_header=MAX_FOREIGN_HEADER, most_inflated=_MOST_INFLATED))
    # Checksums first: a block that fails one must not reach a decoder.
    segment.check_blocks()
    segment.check_structure()
    if segment.is_compact:
        raise damaged(path, "its rows are those of a past")
    if segment.oids.shape[1] != id_bytes:
        raise damaged(path, "its blobs are those of another object format")
    if segment.rows and dimensions and segment.dimensions != dimensions:
        raise damaged(path, f"vectors of {segment.dimensions} dimensions instead of {dimensions}")
    _check_numbers(segment)
    return segment


def _check_numbers(segment: Segment) -> None:
    """Check the numbers that a search computes with."""
    rows = np.arange(segment.rows)
    for name in ("scale", "norm"):
        values = segment.values(name, rows).astype(np.float64)
        if not (np.isfinite(values) & (values >= 0)).all():
            raise damaged(segment.path, f"a {name} that is no length")


def find_overlong(segment: Segment, blobs: Sequence[int], sizes: Sequence[int | None]) -> int | None:
    """Return the first of some blobs with a row beyond the end of any text of it, by their sizes in bytes."""
    for blob, size in zip(blobs, sizes, strict=True):
        rows = np.arange(int(segment.first[blob]), int(segment.first[blob + 1]))
        if not len(rows):
            continue
        ends = segment.values("start", rows).astype(np.int64) + segment.values("length", rows).astype(np.int64)
        if size is None or int(ends.max()) > MAX_GROWTH * size:
            return blob
    return None


def describe_fault(problem: DamagedFile | NewerFormat) -> str:
    """Return the fault of a pack, without the words that refer to an own file."""
    return problem.message.partition(" is damaged: ")[2] or problem.message
