"""The rows of one blob as the server stores them: one compressed record, from which a segment is made in memory.

    record = format, checksum, words, numbers, vectors, contents

    words    deflate with `COMMON_TERMS`: labels, terms of the text and of the symbols
    numbers  Huffman codes of single bytes mostly: columns, lengths of labels, postings
    vectors  Huffman codes of pairs of components

A search reads the records of some hundred blobs and needs all rows of each, since a file is scored as one document. A
table with a row for each chunk would cost PostgreSQL's header of 24 bytes and an index entry for each, and many more
reads. Records of the first format, one stream without dictionary, are read as well.
"""

# Vectors have four bits for each component: the sixteen levels have an error of at most eight of the 127 steps of a
# local index, which changes a cosine by some thousandths, less than the distance of two results. Levels near zero are
# frequent, so Huffman codes take a sixth off. Neither they nor numbers have repetitions that are worth looking for.
#
# Each kind of data has a stream of its own, because deflate has one code for all bytes of a block. Words come first,
# because they are the dictionary of the text (`blob_text`).

import struct
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import DatabaseFailed
from gitmem.named_tuple import NamedTuple
from gitmem.org.common_terms import COMMON_TERMS
from gitmem.store.columns import COLUMNS, CONTENT_BYTES, FIELDS
from gitmem.store.postings import Postings
from gitmem.store.rows import Blobs, Rows

_HEAD: Final = struct.Struct("<BI")
_SECOND: Final = 2
"""Number of the format in the first byte. Those of the first format begin with 0x78, as zlib does."""

_FIRST_COUNTS: Final = struct.Struct("<IIIIIII")
_LEVEL: Final = 6
_MAX_BYTES: Final = 1 << 28
_RAW: Final = -zlib.MAX_WBITS

_WIDTHS: "Final[Mapping[int, np.dtype[Any]]]" = {1: np.dtype("<u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4")}
_STORED: Final = 256
"""Bytes of vectors that are stored as they are: the codes for so few would take as much as they save."""

_BLOCK: Final = struct.Struct("<BHH")
"""Head of a stored block of deflate, the last one: the length, and its complement."""

_FLOATS: Final = {name: kind for name, kind in COLUMNS.items() if np.dtype(kind).kind == "f"}
_LARGE: Final = ("start", "length", "kinds")
_SMALL: Final = tuple(name for name in COLUMNS if name not in {*_LARGE, *_FLOATS})
"""Columns of whole numbers. All of a group are stored in as few bytes as the largest number of a blob needs."""


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


class PackedBlob(NamedTuple):
    """Record of a blob, and the words in it."""

    record: bytes
    words: bytes


def pack_blob(rows: BlobRows) -> PackedBlob:
    """Return the record of a blob."""
    labels = b"".join(rows.labels)
    terms = [b"\n".join(rows.postings[field].terms) for field in FIELDS]
    postings = [rows.postings[field] for field in FIELDS]
    counts = [len(rows.labels), len(labels), *map(len, terms), *(len(own.rows) for own in postings)]
    sizes = np.concatenate([own.sizes for own in postings])
    # Many blobs have few rows, and each call of numpy takes as long as a hundred numbers: so there are few groups.
    numbers = [
        _pack_numbers(np.array(counts, np.int64)),
        _pack_numbers(np.array([rows.columns[name] for name in _LARGE], np.int64)),
        _pack_numbers(np.array([*(rows.columns[name] for name in _SMALL), [*map(len, rows.labels)]], np.int64)),
        *(rows.columns[name].astype(kind).tobytes() for name, kind in _FLOATS.items()),
        _pack_numbers(sizes),
        _pack_numbers(_steps(sizes, np.concatenate([own.rows for own in postings]))),
        *(own.counts.tobytes() for own in postings),
    ]
    words = b"".join([labels, *terms])
    streams = b"".join([
        _deflate(words, zlib.Z_DEFAULT_STRATEGY, COMMON_TERMS),
        _deflate(b"".join(numbers), zlib.Z_HUFFMAN_ONLY),
        _deflate_vectors(pack_vectors(rows.vectors)),
        rows.contents.tobytes(),
    ])  # fmt: skip
    return PackedBlob(_HEAD.pack(_SECOND, zlib.crc32(streams)) + streams, words)


def _deflate(data: bytes, strategy: int, dictionary: bytes = b"") -> bytes:
    # Most blobs are small, and to clear tables for a window of 32 KiB takes longer than to compress them. The tables
    # that count as memory must hold all symbols, or there are several blocks, each with its own codes.
    bits = min(15, max(9, (len(data) + len(dictionary)).bit_length()))
    settings = (_LEVEL, zlib.DEFLATED, -bits, min(8, max(1, bits - 6)), strategy)
    stream = zlib.compressobj(*settings, dictionary) if dictionary else zlib.compressobj(*settings)
    return stream.compress(data) + stream.flush()


def _deflate_vectors(data: bytes) -> bytes:
    if len(data) <= _STORED:
        return _BLOCK.pack(1, len(data), len(data) ^ 0xFFFF) + data
    return _deflate(data, zlib.Z_HUFFMAN_ONLY)


def _pack_numbers(values: NDArray[np.generic]) -> bytes:
    """Return numbers in as many bytes as the largest one needs, after the number of these bytes."""
    most = int(values.max()) if values.size else 0
    width = 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4
    return bytes([width]) + values.astype(_WIDTHS[width]).tobytes()


def _steps(sizes: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of each term as differences: rows ascend, and small numbers compress better."""
    steps = np.diff(rows, prepend=0)
    # The first row of a term is no difference to the last one of the term before. No term is without rows.
    starts = np.cumsum(sizes) - sizes
    steps[starts] = rows[starts]
    return steps


def unpack_blob(record: bytes, dimensions: int, wanted: Collection[bytes]) -> BlobRows:
    """Return the rows of a record with the postings of the wanted terms alone. Raises DatabaseFailed."""
    try:
        if record[:1] != bytes([_SECOND]):
            return _unpack_first(record, dimensions, wanted)
        words, rest = _inflate(_checked(record), COMMON_TERMS)
        numbers, rest = _inflate(rest)
        vectors, contents = _inflate(rest)
        texts, reader = _Reader(words), _Reader(numbers)
        count, label_bytes, *lengths = reader.take_numbers(2 + 2 * len(FIELDS)).tolist()
        large = reader.take_numbers(len(_LARGE) * count).reshape(len(_LARGE), count)
        *small, label_lengths = reader.take_numbers((len(_SMALL) + 1) * count).reshape(len(_SMALL) + 1, count)
        columns = {
            **dict(zip((*_LARGE, *_SMALL), (*large, *small), strict=True)),
            **{name: reader.take(kind, count) for name, kind in _FLOATS.items()},
        }
        labels = list(_cut(texts.take_bytes(label_bytes), label_lengths))
        terms = [_split(texts.take_bytes(size)) for size in lengths[: len(FIELDS)]]
        postings = dict(zip(FIELDS, _pick_postings(reader, terms, lengths[len(FIELDS) :], wanted), strict=True))
        hashes = np.frombuffer(contents, np.uint8).reshape(count, CONTENT_BYTES)
        return BlobRows(columns, labels, hashes, postings, unpack_vectors(vectors, count, dimensions))
    except (struct.error, zlib.error, ValueError, IndexError, KeyError) as problem:
        hint = "drop the repository and publish it again"
        raise DatabaseFailed(f"damaged record of a blob: {problem}", hint=hint) from problem


def words_of_record(record: bytes) -> bytes:
    """Return the labels and terms of a record, nothing if it has the first format. Raises zlib.error, ValueError."""
    return _inflate(_checked(record), COMMON_TERMS)[0] if record[:1] == bytes([_SECOND]) else b""


def _checked(record: bytes) -> bytes:
    """Return the streams of a record. Raises ValueError if the checksum is wrong."""
    _, checksum = _HEAD.unpack_from(record)
    streams = record[_HEAD.size :]
    if zlib.crc32(streams) != checksum:
        raise ValueError("wrong checksum")
    return streams


def _inflate(data: bytes, dictionary: bytes = b"") -> tuple[bytes, bytes]:
    """Return the content of a stream, and the data after it."""
    stream = zlib.decompressobj(_RAW, dictionary) if dictionary else zlib.decompressobj(_RAW)
    content = stream.decompress(data, _MAX_BYTES)
    if not stream.eof:
        raise ValueError("a stream is incomplete")
    return content, stream.unused_data


def _split(joined: bytes) -> list[bytes]:
    return joined.split(b"\n") if joined else []


def _pick_postings(
    reader: "_Reader", terms: Sequence[list[bytes]], numbers: Sequence[int], wanted: Collection[bytes]
) -> Iterator[BlobPostings]:
    """Yield the postings of the wanted terms of each field, which has some terms and a number of postings."""
    sizes, steps = reader.take_numbers(sum(map(len, terms))), reader.take_numbers(sum(numbers))
    counts = reader.take("<u1", sum(numbers))
    ends = np.cumsum(sizes, dtype=np.int64)
    first = 0
    for own in terms:
        places = [at for at, term in enumerate(own, first) if term in wanted]
        if places:
            spans = [slice(int(ends[at - 1]) if at else 0, int(ends[at])) for at in places]
            yield BlobPostings(
                [own[at - first] for at in places],
                sizes[places].astype(np.int64),
                np.concatenate([np.cumsum(steps[span], dtype=np.int64) for span in spans]),
                np.concatenate([counts[span] for span in spans]).astype(np.uint8),
            )
        else:
            yield BlobPostings([], np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))
        first += len(own)


def _unpack_first(record: bytes, dimensions: int, wanted: Collection[bytes]) -> BlobRows:
    """Return the rows of a record of the first format."""
    inflater = zlib.decompressobj()
    data = inflater.decompress(record, _MAX_BYTES)
    count, label_bytes, *sizes, _ = _FIRST_COUNTS.unpack_from(data)
    reader = _Reader(data, _FIRST_COUNTS.size)
    columns = {name: reader.take(kind, count) for name, kind in COLUMNS.items()}
    lengths = reader.take("<u4", count)
    labels = list(_cut(reader.take_bytes(label_bytes), lengths))
    contents = reader.take("<u1", count * CONTENT_BYTES).astype(np.uint8).reshape(count, CONTENT_BYTES)
    postings = {
        field: _take_postings(reader, sizes[2 * at], sizes[2 * at + 1], wanted) for at, field in enumerate(FIELDS)
    }
    return BlobRows(columns, labels, contents, postings, unpack_vectors(inflater.unused_data, count, dimensions))


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
    components = _PAIRS[pairs].reshape(rows, 2 * pairs.shape[1])
    return components[:, :dimensions]


_PAIRS: Final = np.stack(
    [np.repeat(np.arange(-120, 136, 16), 16), np.tile(np.arange(-120, 136, 16), 16)], axis=1
).astype(np.int8)
"""Both components of each byte."""


class _Reader:
    """Reads arrays one after the other. Raises ValueError at the end of the data."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self._at = data, at

    def take(self, kind: "str | np.dtype[Any]", count: int) -> NDArray[np.generic]:
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += values.nbytes
        return values

    def take_numbers(self, count: int) -> NDArray[np.generic]:
        """Return numbers of `_pack_numbers`."""
        width = self._data[self._at]
        self._at += 1
        return self.take(_WIDTHS[width], count)

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
    terms = _split(joined)
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
        {
            name: np.concatenate([rows.columns[name] for rows in unpacked]).astype(kind)
            for name, kind in COLUMNS.items()
        },
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
