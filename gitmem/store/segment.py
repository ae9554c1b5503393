"""Segments: immutable files of chunks, vectors and postings, named by the hash of their bytes.

Columns that are scanned and bit signatures are read whole, from the mapped file. Of everything else only the requested
blocks are read. `store.segment_writer` writes segments.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.maps import find_mapped
from gitmem.store.columns import COLUMNS, CONTENT_BYTES, FIELDS, OUTCOMES, SCANNED
from gitmem.store.format import Container
from gitmem.store.keys import blob_keys
from gitmem.store.labels import label_symbol, unpack_units, unpack_whole
from gitmem.store.manifest import SegmentEntry
from gitmem.store.occurrences import NAMES, Occurrences, unpack_occurrences
from gitmem.store.packed_file import PackedContainer
from gitmem.store.postings import ROW, PackedPostings, PostingList, SortedPostings, read_offsets
from gitmem.store.section import damaged
from gitmem.store.vector_levels import PAST_LEVELS, SEARCHED_LEVELS
from gitmem.types import CHUNK_TYPES

if TYPE_CHECKING:
    from gitmem.store.rows import Rows

MAGIC: Final = b"GITMEMSG"
COMPACT: Final = "compact"
"""Field that says that a segment is compact."""

MAX_ROWS: Final = 1 << 20
"""Rows of the largest segments: some 700 MB. Merging them further would gain little, and rewrite all of that."""

_CHECKED_TERMS: Final = 1 << 14


class Segment:
    """Open segment.

    One that `is_compact` has vectors of fewer `levels`, and records that are not those of names. The container inflates
    sections that are deflated.
    """

    def __init__(self, container: Container) -> None:
        self._file = container
        fields = container.fields
        try:
            self.rows, self.blobs = int(fields["rows"]), int(fields["blobs"])
            self.dimensions, self._id_bytes = int(fields["dimensions"]), int(fields["id_bytes"])
            self.languages = [str(name) for name in fields["languages"]]
            self.is_compact = bool(fields.get(COMPACT, False))
            self.levels = PAST_LEVELS if self.is_compact else SEARCHED_LEVELS
            sizes = {"oids": self.blobs * self._id_bytes, "first": 4 * (self.blobs + 1), "asked": 2 * self.blobs,
                     "vectors": self.rows * self.width("vectors"), "bits": self.rows * -(-self.dimensions // 8),
                     "language": 2 * self.blobs, "outcome": self.blobs, "label_at": 4 * (self.rows + 1),
                     "names_at": 4 * (self.blobs + 1)}  # fmt: skip
            sizes |= {name: self.rows * np.dtype(kind).itemsize for name, kind in COLUMNS.items()}
            sizes |= {"content": self.rows * CONTENT_BYTES, "content_order": 4 * self.rows}
            wrong = [name for name, size in sizes.items() if len(container[name]) != size]
            self._postings = {name: PostingList(container, name, ROW, self.rows) for name in FIELDS}
            self._names = PostingList(container, NAMES, ROW, self.blobs)
            _ = container["names"]
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise damaged(container.path, "a section or field is missing") from problem
        if wrong or self.rows > MAX_ROWS:
            raise damaged(container.path, f"section `{(wrong or ['rows'])[0]}` has the wrong size")

    @property
    def path(self) -> Path:
        return self._file.path

    def require_whole(self) -> None:
        """Raise DamagedFile if the file was truncated after it was opened."""
        self._file.require_whole()

    def check_blocks(self) -> None:
        """Read every block. Raises DamagedFile."""
        self._file.check()

    def check(self) -> None:
        """Read every block and compare the hash of the whole file with its name. Raises DamagedFile."""
        self.check_blocks()
        digest = hashlib.blake2b(digest_size=20)
        self._file.hash_into(digest.update)
        if digest.hexdigest() != self.path.name:
            raise damaged(self.path, "its content does not match its name")

    def check_structure(self) -> None:
        """Decode everything that `check` only compares with checksums. Raises DamagedFile."""
        _ = self.first, self.outcomes, self.blob_languages, self.keys, self._chunk_types
        bounds = self.label_bounds()
        if (differences(bounds.astype(np.int64)) < 0).any():
            raise damaged(self.path, "offset out of range in section `label_at`")
        for start in range(0, self.rows, _CHECKED_TERMS):
            self._check_labels(self.labels(np.arange(start, min(start + _CHECKED_TERMS, self.rows))))
        for field in (*FIELDS, NAMES):
            for _part in self.iter_postings(field, _CHECKED_TERMS):
                pass
        for blob in range(0 if self.is_compact else self.blobs):
            self.occurrences(blob)

    def column(self, name: str) -> NDArray[np.generic]:
        """Return one of COLUMNS, with one value per row. For some rows only, `values` reads less."""
        return self._chunk_types if name == "kind" else np.frombuffer(self._file[name].all(), COLUMNS[name])

    @cached_property
    def _chunk_types(self) -> NDArray[np.generic]:
        column = np.frombuffer(self._file["kind"].all(), COLUMNS["kind"])
        if len(column) and column.max() >= len(CHUNK_TYPES):
            raise damaged(self.path, "unknown chunk type")
        return column

    def values(self, name: str, rows: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return the values of one of COLUMNS for some rows; only their blocks are read."""
        if name in SCANNED:
            return self.column(name)[rows]
        return self._file[name].pick(rows, self.width(name)).view(COLUMNS[name])[:, 0]

    def width(self, name: str) -> int:
        """Return the number of bytes per row of a section."""
        vector = self.levels.width(self.dimensions)
        widths = {"bits": -(-self.dimensions // 8), "vectors": vector, "content": CONTENT_BYTES}
        return widths[name] if name in widths else np.dtype(COLUMNS[name]).itemsize

    @contextmanager
    def borrow(self, name: str, start: int, end: int) -> Iterator[memoryview]:
        """Read a range of a section in a `with` block, at whose end its memory is given back."""
        section = self._file[name]
        yield section.read(start, end)
        section.release(start, end)

    def bits(self) -> NDArray[np.uint8]:
        """Return the bit signatures: the signs of all vectors, packed, [rows, dimensions / 8]."""
        return np.frombuffer(self._file["bits"].all(), np.uint8).reshape(self.rows, -(-self.dimensions // 8))

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the quantised vectors of some rows, [len(rows), dimensions]; only their blocks are read."""
        magnitudes, signs = (self._file[name].pick(rows, self.width(name)) for name in ("vectors", "bits"))
        return self.levels.unpack(magnitudes, signs, self.dimensions)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Row bounds of the blobs, [blobs + 1]."""
        first = np.frombuffer(self._file["first"].all(), "<u4").astype(np.int64)
        if len(first) and (first[0] != 0 or first[-1] != self.rows or (differences(first) < 0).any()):
            raise damaged(self.path, "its blobs do not match its rows")
        return first

    @cached_property
    def outcomes(self) -> NDArray[np.uint8]:
        """Outcome of each blob, as indices into OUTCOMES."""
        outcomes = np.frombuffer(self._file["outcome"].all(), np.uint8)
        if len(outcomes) and outcomes.max() >= len(OUTCOMES):
            raise damaged(self.path, "unknown outcome")
        return outcomes

    @cached_property
    def blob_languages(self) -> NDArray[np.uint16]:
        """Language that each blob was parsed as, as indices into `languages`."""
        return self._language_column("language")

    @cached_property
    def oids(self) -> NDArray[np.uint8]:
        """Object ids of the blobs, [blobs, 20 or 32]."""
        return np.frombuffer(self._file["oids"].all(), np.uint8).reshape(self.blobs, self._id_bytes)

    def pick_oids(self, blobs: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the object ids of some blobs, [len(blobs), 20 or 32]; only their blocks are read."""
        return self._file["oids"].pick(blobs, self._id_bytes)

    def contents(self) -> NDArray[np.uint8]:
        """Return the content hashes of all rows, [rows, CONTENT_BYTES]."""
        return np.frombuffer(self._file["content"].all(), np.uint8).reshape(self.rows, CONTENT_BYTES)

    def find_contents(self, hashes: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return a row with each content hash, -1 if there is none; `hashes` is [hashes, CONTENT_BYTES]."""
        rows = np.full(len(hashes), -1, np.int64)
        if not self.rows:
            return rows
        # A binary search for all hashes at once, by their first eight bytes. It reads and verifies only the blocks that
        # it touches. Two contents that share these bytes and differ are so rare that the second counts as not found.
        heads = _heads(hashes)
        low, high = np.zeros(len(hashes), np.int64), np.full(len(hashes), self.rows, np.int64)
        for _ in range(self.rows.bit_length()):
            middle = (low + high) // 2
            is_less = _heads(self._contents_at(middle)[1]) < heads
            low, high = np.where((low < high) & is_less, middle + 1, low), np.where(is_less, high, middle)
        found, contents = self._contents_at(low)
        is_same = (contents == hashes).all(axis=1)
        rows[is_same] = found[is_same]
        return rows

    def _contents_at(self, ranks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the rows at some ranks of the order of their content hashes, and their hashes."""
        ranks = np.minimum(ranks, self.rows - 1)
        rows = self._file["content_order"].pick(ranks, 4).view("<u4")[:, 0].astype(np.int64)
        return rows, self._file["content"].pick(rows, CONTENT_BYTES)

    def pick_contents(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the content hashes of some rows, [len(rows), CONTENT_BYTES]; only their blocks are read."""
        return self._file["content"].pick(rows, CONTENT_BYTES)

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """64-bit key of (object id, requested language) of each blob."""
        return blob_keys(self.oids, self.asked, self.languages)

    @property
    def asked(self) -> NDArray[np.uint16]:
        """Language that was requested for each blob, as indices into `languages`."""
        return self._language_column("asked")

    def _language_column(self, name: str) -> NDArray[np.uint16]:
        column = np.frombuffer(self._file[name].all(), "<u2")
        if len(column) and column.max() >= len(self.languages):
            raise damaged(self.path, "unlisted language")
        return column

    def symbols(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the qualified names of the chunks of some rows."""
        return list(map(label_symbol, self.labels(rows)))

    def labels(self, rows: NDArray[np.int64]) -> list[bytes]:
        """Return the labels of some rows, see `store.labels`."""
        at = self._file["label_at"]
        return self._file["labels"].slices(*(at.pick(places, 4).view("<u4")[:, 0] for places in (rows, rows + 1)))

    def _check_labels(self, labels: Iterable[bytes]) -> None:
        try:
            for label in labels:
                unpack_units(label, 0, 0)
                unpack_whole(label, 0, 0)
        except ValueError as problem:
            raise damaged(self.path, "invalid label") from problem

    def read_label(self, start: int, end: int) -> bytes:
        """Return the label between two offsets, see `label_bounds`."""
        return bytes(self._file["labels"].read(start, end))

    def read_magnitudes(self, row: int) -> memoryview:
        """Return the packed magnitudes of the vector of one row; only their blocks are read."""
        width = self.width("vectors")
        return self._file["vectors"].read(row * width, (row + 1) * width)

    def label_bounds(self) -> NDArray[np.uint32]:
        """Return the offsets of all labels in section `labels`, [rows + 1]."""
        return read_offsets(self._file, "label_at", len(self._file["labels"]))

    def find_postings(self, field: str, term: bytes) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]] | None:
        """Return the rows that contain a term, ascending, and its frequencies; None if it does not occur."""
        return self._postings[field].find(term)

    def find_name(self, name: bytes) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]] | None:
        """Return the blobs in which a name occurs, ascending, and the set of its roles in each; None without any."""
        return self._names.find(name)

    def occurrences(self, blob: int) -> Occurrences:
        """Return the occurrences of names in a blob. Raises DamagedFile."""
        try:
            return unpack_occurrences(self.name_record(blob))
        except ValueError as problem:
            raise damaged(self.path, str(problem)) from problem

    def name_record(self, blob: int) -> bytes:
        """Return the record of the names in a blob, as it is stored. Raises DamagedFile."""
        start, end = self._file["names_at"].pick(np.array([blob, blob + 1]), 4).view("<u4")[:, 0].tolist()
        return bytes(self._file["names"].read(start, end))

    def name_bounds(self) -> NDArray[np.uint32]:
        """Return the offsets of the records of all blobs in section `names`, [blobs + 1]."""
        return read_offsets(self._file, "names_at", len(self._file["names"]))

    def find_packed_postings(self, field: str, term: bytes) -> PackedPostings | None:
        """Return the same as stored, for a caller that joins the postings of many segments."""
        return self._postings[field].find_packed(term)

    def iter_postings(self, field: str, terms: int) -> Iterator[SortedPostings]:
        """Yield the postings of a field, or of the names, in parts of about `terms` terms, in order."""
        return (self._names if field == NAMES else self._postings[field]).iter_parts(terms)

    def load_rows(self) -> "Rows":
        """Return all rows as they were written."""
        from gitmem.store.rows import Blobs, Rows  # loads dataclasses, and no search needs whole segments

        first = self.first
        requested = self.asked
        ids = self.oids.tobytes()
        width = self._id_bytes
        blobs = Blobs(
            [(ids[place * width : (place + 1) * width], self.languages[code]) for place, code in enumerate(requested)],
            [self.languages[code] for code in self.blob_languages],
            self.outcomes,
            first,
            [
                bytes(self._file["names"].read(start, end))
                for start, end in itertools.pairwise(self.name_bounds().tolist())
            ],
        )
        at = self.label_bounds().tolist()
        labels = bytes(self._file["labels"].all())
        return Rows(
            blobs,
            {name: self.column(name) for name in COLUMNS},
            [labels[start:end] for start, end in itertools.pairwise(at)],
            self.vectors(np.arange(self.rows)) if self.rows else np.zeros((0, self.dimensions), np.int8),
            self.contents(),
            {name: postings.load() for name, postings in self._postings.items()},
        )


def _heads(contents: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the first eight bytes of content hashes as numbers."""
    heads: NDArray[np.uint64] = np.ascontiguousarray(contents[:, :8]).view("<u8")[:, 0]
    return heads


def find_segment(folder: Path, entry: SegmentEntry) -> Segment | None:
    """Open a segment of the manifest, or return None if its file is missing. Raises DamagedFile."""
    path = folder / entry.name
    mapped = find_mapped(path)
    if mapped is None:
        return None
    # The writer knew every byte of it. Whatever has happened since, only the disk itself could have changed the content
    # without the modification time; `gitmem verify` finds that. Without this, the checksums of everything that a search
    # scans would be a tenth of a first search in a million rows.
    is_verified = mapped.stamp == (entry.inode, entry.modified, entry.bytes)
    segment = Segment(PackedContainer(path, MAGIC, mapped, is_verified=is_verified))
    if (segment.rows, segment.blobs) != (entry.rows, entry.blobs):
        raise damaged(path, "its size differs from the manifest")
    return segment
