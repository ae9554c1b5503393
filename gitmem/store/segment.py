"""Segments: immutable files of chunks, vectors and postings, named by the hash of their bytes.

Columns and bit signatures are read whole, from the mapped file. Of vectors, terms and postings, only the requested
blocks are read. A segment has at most 32,768 rows, so that a row number and a flag fit into the two bytes of a posting.
"""

import hashlib
import itertools
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gitmem.fsio import read_file, sync_folder, write_atomic
from gitmem.store.columns import COLUMNS, FIELDS, OUTCOMES
from gitmem.store.format import Buffer, Container, build_container, damaged, find_container
from gitmem.store.keys import blob_keys
from gitmem.store.manifest import SegmentEntry
from gitmem.store.postings import ROW, PackedPostings, PostingList, pack_offsets, posting_sections, read_offsets
from gitmem.types import CHUNK_TYPES

if TYPE_CHECKING:
    from gitmem.store.rows import Rows

MAGIC: Final = b"GITMEMSG"
MAX_ROWS: Final = 1 << 15


def write_segment(folder: Path, rows: "Rows") -> SegmentEntry:
    """Publish rows as a segment; the same rows give the same file. Raises StorageFailed."""
    assert len(rows) <= MAX_ROWS, "a batch must fit into a segment"
    languages = sorted({*rows.blobs.languages, *(language for _, language in rows.blobs.keys)})
    fields = {
        "rows": len(rows),
        "blobs": len(rows.blobs.keys),
        "dimensions": rows.vectors.shape[1],
        "id_bytes": len(rows.blobs.keys[0][0]) if rows.blobs.keys else 20,
        "languages": languages,
    }
    parts = build_container(MAGIC, fields, _sections(rows, {name: code for code, name in enumerate(languages)}))
    # Named by content: an interrupted run that is repeated writes the same file again instead of a second one.
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(part)
    name = digest.hexdigest()
    target = folder / name
    if _is_published(target, name):
        sync_folder(folder)  # a killed process may have left the file without an fsync of its folder
    else:
        write_atomic(target, [memoryview(part) for part in parts])
    return SegmentEntry(name, len(rows), len(rows.blobs.keys), sum(memoryview(part).nbytes for part in parts))


def _is_published(target: Path, name: str) -> bool:
    """Return whether the file exists with the content of its name; a damaged one is to be replaced."""
    data = read_file(target)
    return data is not None and hashlib.blake2b(data, digest_size=20).hexdigest() == name


def _sections(rows: "Rows", codes: dict[str, int]) -> dict[str, Buffer]:
    """Return all sections; `codes` are the indices of the languages."""
    sections: dict[str, Buffer] = {
        "oids": b"".join(oid for oid, _ in rows.blobs.keys),
        "asked": np.array([codes[language] for _, language in rows.blobs.keys], "<u2").data,
        "language": np.array([codes[language] for language in rows.blobs.languages], "<u2").data,
        "outcome": rows.blobs.outcomes.astype("<u1").data,
        "first": rows.blobs.first.astype("<u4").data,
        "symbol_at": pack_offsets(rows.symbols).data,
        "symbols": b"".join(rows.symbols),
        # Bit signatures: the number of differing signs estimates the angle of two vectors (Charikar 2002). Search scans
        # them and reads only the vectors of the nearest rows.
        "bits": np.packbits(rows.vectors > 0, axis=1).data,
        "vectors": np.ascontiguousarray(rows.vectors).data,
    }
    for name, kind in COLUMNS.items():
        sections[name] = np.ascontiguousarray(rows.columns[name].astype(kind)).data
    for name in FIELDS:
        sections |= posting_sections(name, rows.postings[name], ROW)
    return sections


class Segment:
    """Open segment."""

    def __init__(self, container: Container) -> None:
        self._file = container
        fields = container.fields
        try:
            self.rows, self.blobs = int(fields["rows"]), int(fields["blobs"])
            self.dimensions, self._id_bytes = int(fields["dimensions"]), int(fields["id_bytes"])
            self.languages = [str(name) for name in fields["languages"]]
            sizes = {"oids": self.blobs * self._id_bytes, "first": 4 * (self.blobs + 1), "asked": 2 * self.blobs,
                     "vectors": self.rows * self.dimensions, "bits": self.rows * -(-self.dimensions // 8),
                     "language": 2 * self.blobs, "outcome": self.blobs, "symbol_at": 4 * (self.rows + 1)}  # fmt: skip
            sizes |= {name: self.rows * np.dtype(kind).itemsize for name, kind in COLUMNS.items()}
            wrong = [name for name, size in sizes.items() if len(container[name]) != size]
            self._postings = {name: PostingList(container, name, ROW, self.rows) for name in FIELDS}
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
        if hashlib.blake2b(self.path.read_bytes(), digest_size=20).hexdigest() != self.path.name:
            raise damaged(self.path, "its content does not match its name")

    def column(self, name: str) -> NDArray[np.generic]:
        """Return one of COLUMNS, with one value per row."""
        return self._chunk_types if name == "kind" else np.frombuffer(self._file[name].all(), COLUMNS[name])

    @cached_property
    def _chunk_types(self) -> NDArray[np.generic]:
        column = np.frombuffer(self._file["kind"].all(), COLUMNS["kind"])
        if len(column) and column.max() >= len(CHUNK_TYPES):
            raise damaged(self.path, "unknown chunk type")
        return column

    def bits(self) -> NDArray[np.uint8]:
        """Return the bit signatures: the signs of all vectors, packed, [rows, dimensions / 8]."""
        return np.frombuffer(self._file["bits"].all(), np.uint8).reshape(self.rows, -(-self.dimensions // 8))

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the quantised vectors of some rows, [len(rows), dimensions]; only their blocks are read."""
        return self._file["vectors"].pick(rows, self.dimensions).view(np.int8)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Row bounds of the blobs, [blobs + 1]."""
        first = np.frombuffer(self._file["first"].all(), "<u4").astype(np.int64)
        if len(first) and (first[0] != 0 or first[-1] != self.rows or (np.diff(first) < 0).any()):
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

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """64-bit key of (object id, requested language) of each blob."""
        return blob_keys(self.oids, self._language_column("asked"), self.languages)

    def _language_column(self, name: str) -> NDArray[np.uint16]:
        column = np.frombuffer(self._file[name].all(), "<u2")
        if len(column) and column.max() >= len(self.languages):
            raise damaged(self.path, "unlisted language")
        return column

    def symbols(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the qualified names of the chunks of some rows."""
        read, at = self._file["symbols"].read, self._symbol_at
        spans = zip(at[rows].tolist(), at[rows + 1].tolist(), strict=True)
        return [str(read(start, end), "utf-8", "replace") for start, end in spans]

    @cached_property
    def _symbol_at(self) -> NDArray[np.uint32]:
        return read_offsets(self._file, "symbol_at", len(self._file["symbols"]))

    def find_postings(self, field: str, term: bytes) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]] | None:
        """Return the rows that contain a term, ascending, and its frequencies; None if it does not occur."""
        return self._postings[field].find(term)

    def find_packed_postings(self, field: str, term: bytes) -> PackedPostings | None:
        """Return the same as stored, for a caller that joins the postings of many segments."""
        return self._postings[field].find_packed(term)

    def load_rows(self) -> "Rows":
        """Return all rows as they were written."""
        from gitmem.store.rows import Blobs, Rows  # loads dataclasses, and only compaction needs whole segments

        first = self.first
        requested = self._language_column("asked")
        ids = self.oids.tobytes()
        width = self._id_bytes
        blobs = Blobs(
            [(ids[place * width : (place + 1) * width], self.languages[code]) for place, code in enumerate(requested)],
            [self.languages[code] for code in self.blob_languages],
            self.outcomes,
            first,
        )
        at = self._symbol_at.tolist()
        symbols = bytes(self._file["symbols"].all())
        return Rows(
            blobs,
            {name: self.column(name) for name in COLUMNS},
            [symbols[start:end] for start, end in itertools.pairwise(at)],
            np.frombuffer(self._file["vectors"].all(), np.int8).reshape(self.rows, self.dimensions),
            {name: postings.load() for name, postings in self._postings.items()},
        )


def find_segment(folder: Path, entry: SegmentEntry) -> Segment | None:
    """Open a segment of the manifest, or return None if its file is missing. Raises DamagedFile."""
    container = find_container(folder / entry.name, MAGIC)
    if container is None:
        return None
    segment = Segment(container)
    if (segment.rows, segment.blobs) != (entry.rows, entry.blobs):
        raise damaged(container.path, "its size differs from the manifest")
    return segment
