"""The rows of one blob as the server stores them: one compressed record, from which a segment is made in memory.

    record = deflate(sizes, columns, labels, contents, postings of the text, postings of the symbols), vectors

A search reads the records of some hundred blobs and needs all rows of each, since a file is scored as one document. A
table with a row for each chunk would cost PostgreSQL's header of 24 bytes and an index entry for each, and many more
reads.
"""

# Vectors do not compress. They have four bits for each component: the sixteen levels have an error of at most eight
# of the 127 steps of a local index, which changes a cosine by some thousandths, less than the distance of two results.

import struct
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.errors import DatabaseFailed
from gitmem.store.columns import COLUMNS, CONTENT_BYTES, FIELDS
from gitmem.store.postings import Postings
from gitmem.store.rows import Blobs, Rows

_COUNTS: Final = struct.Struct("<IIIIIII")
_LEVEL: Final = 6
_MAX_BYTES: Final = 1 << 28


class BlobPostings(NamedTuple):
    """Postings of one field in one blob: the sorted terms, the number of rows of each, the rows and the frequencies."""

    terms: list[bytes]
    sizes: NDArray[np.int64]
    rows: NDArray[np.int64]
    counts: NDArray[np.uint8]


class BlobRows(NamedTuple):
    """Rows of one blob; `vectors` int8 [rows, dimensions]."""

    columns: Mapping[str, NDArray[np.generic]]
    labels: list[bytes]
    contents: NDArray[np.uint8]
    postings: Mapping[str, BlobPostings]
    vectors: NDArray[np.int8]


class StoredBlob(NamedTuple):
    """Blob as it comes from the server: its key, the language it was parsed as, its outcome, and its rows."""

    number: int
    oid: bytes
    asked: str
    language: str
    outcome: int
    record: bytes


def pack_blob(rows: BlobRows) -> bytes:
    """Return the record of a blob."""
    parts: list[bytes] = []
    numbers = [len(rows.labels)]
    for name, kind in COLUMNS.items():
        parts.append(np.ascontiguousarray(rows.columns[name]).astype(kind).tobytes())
    labels = b"".join(rows.labels)
    numbers.append(len(labels))
    parts += [np.fromiter(map(len, rows.labels), "<u4", len(rows.labels)).tobytes(), labels, rows.contents.tobytes()]
    for field in FIELDS:
        own = rows.postings[field]
        terms = b"\n".join(own.terms)
        numbers += [len(terms), len(own.rows)]
        parts += [terms, own.sizes.astype("<u4").tobytes(), own.rows.astype("<u4").tobytes(), own.counts.tobytes()]
    numbers.append(0)
    packed = zlib.compress(b"".join([_COUNTS.pack(*numbers), *parts]), _LEVEL)
    return packed + pack_vectors(rows.vectors)


def unpack_blob(record: bytes, dimensions: int, wanted: Collection[bytes]) -> BlobRows:
    """Return the rows of a record with the postings of the wanted terms alone. Raises DatabaseFailed."""
    try:
        inflater = zlib.decompressobj()
        data = inflater.decompress(record, _MAX_BYTES)
        count, label_bytes, *sizes, _ = _COUNTS.unpack_from(data)
        reader = _Reader(data, _COUNTS.size)
        columns = {name: reader.take(kind, count) for name, kind in COLUMNS.items()}
        lengths = reader.take("<u4", count)
        labels = list(_cut(reader.take_bytes(label_bytes), lengths))
        contents = reader.take("<u1", count * CONTENT_BYTES).astype(np.uint8).reshape(count, CONTENT_BYTES)
        postings = {
            field: _take_postings(reader, sizes[2 * at], sizes[2 * at + 1], wanted) for at, field in enumerate(FIELDS)
        }
        vectors = unpack_vectors(inflater.unused_data, count, dimensions)
    except (struct.error, zlib.error, ValueError) as problem:
        hint = "drop the repository and publish it again"
        raise DatabaseFailed(f"damaged record of a blob: {problem}", hint=hint) from problem
    return BlobRows(columns, labels, contents, postings, vectors)


def pack_vectors(vectors: NDArray[np.int8]) -> bytes:
    """Return vectors with four bits for each component, two components in a byte."""
    levels = (vectors.astype(np.int16) + 128).astype(np.uint8) >> 4
    even = levels[:, ::2]
    odd = np.zeros_like(even)
    odd[:, : levels.shape[1] // 2] = levels[:, 1::2]
    return (even << 4 | odd).tobytes()


def unpack_vectors(data: bytes, rows: int, dimensions: int) -> NDArray[np.int8]:
    """Return packed vectors, [rows, dimensions]; each component is the middle of its level. Raises ValueError."""
    pairs = np.frombuffer(data, np.uint8).reshape(rows, -(-dimensions // 2))
    components = _PAIRS[pairs].reshape(rows, -1)
    return components[:, :dimensions]


_PAIRS: Final = np.stack(
    [np.repeat(np.arange(-120, 136, 16), 16), np.tile(np.arange(-120, 136, 16), 16)], axis=1
).astype(np.int8)
"""Both components of each byte."""


class _Reader:
    """Reads arrays one after the other. Raises ValueError at the end of the data."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at

    def take(self, kind: str, count: int) -> NDArray[np.generic]:
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += values.nbytes
        return values

    def take_bytes(self, size: int) -> bytes:
        data = self._data[self._at : self._at + size]
        self._at += size
        return data


def _cut(joined: bytes, lengths: NDArray[np.generic]) -> Iterator[bytes]:
    at = 0
    for length in lengths.tolist():
        yield joined[at : at + length]
        at += length


def _take_postings(reader: _Reader, term_bytes: int, count: int, wanted: Collection[bytes]) -> BlobPostings:
    joined = reader.take_bytes(term_bytes)
    terms = joined.split(b"\n") if joined else []
    sizes = reader.take("<u4", len(terms)).astype(np.int64)
    rows, counts = reader.take("<u4", count).astype(np.int64), reader.take("<u1", count).astype(np.uint8)
    places = [at for at, term in enumerate(terms) if term in wanted]
    mask = np.zeros(len(terms), bool)
    mask[places] = True
    selection = np.repeat(mask, sizes)
    return BlobPostings([terms[at] for at in places], sizes[mask], rows[selection], counts[selection])


def join_blobs(blobs: Sequence[StoredBlob], dimensions: int, wanted: Collection[bytes]) -> Rows:
    """Return the rows of some blobs as rows of one segment, with the postings of the wanted terms alone."""
    unpacked = [unpack_blob(blob.record, dimensions, wanted) for blob in blobs]
    sizes = [len(rows.labels) for rows in unpacked]
    first = np.cumsum([0, *sizes]).astype(np.int64)
    return Rows(
        Blobs(
            [(blob.oid, blob.asked) for blob in blobs],
            [blob.language for blob in blobs],
            np.array([blob.outcome for blob in blobs], np.uint8),
            first,
            [b""] * len(blobs),
        ),
        {name: np.concatenate([rows.columns[name] for rows in unpacked]) for name in COLUMNS},
        [label for rows in unpacked for label in rows.labels],
        np.concatenate([rows.vectors for rows in unpacked]),
        np.concatenate([rows.contents for rows in unpacked]),
        {field: _join_postings([rows.postings[field] for rows in unpacked], first) for field in FIELDS},
    )


def _join_postings(parts: Sequence[BlobPostings], first: NDArray[np.int64]) -> Postings:
    numbers: dict[bytes, int] = {}
    term, row, count = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.uint8)]
    for part, base in zip(parts, first.tolist(), strict=False):
        own = np.array([numbers.setdefault(name, len(numbers)) for name in part.terms], np.int32)
        term.append(np.repeat(own, part.sizes))
        row.append((part.rows + base).astype(np.int32))
        count.append(part.counts)
    return Postings(list(numbers), np.concatenate(term), np.concatenate(row), np.concatenate(count))
