"""Digests of the rows of single blobs: the leaves of a Merkle tree over an index.

A leaf depends only on the blob, the language requested for it, and the version of chunker and model. So neither the
order of the blobs, nor the number of jobs, nor the increments in which an index grew, changes it. It has two parts: one
covers everything that chunking and counting give, the other one vectors, which only a model can compute again.
"""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences, distinct_with_places
from gitmem.named_tuple import NamedTuple
from gitmem.store.columns import COLUMNS, FIELDS, OUTCOMES
from gitmem.store.occurrences import NAMES, inflate_names
from gitmem.store.section import damaged
from gitmem.store.segment import Segment
from gitmem.store.vector_levels import SEARCHED_LEVELS

LEAF_BYTES: Final = 32

_VECTOR_COLUMNS: Final = ("scale", "norm")
_WINDOW_ROWS: Final = 1 << 17
"""Rows whose postings are in memory at once: some 100 MB. Larger segments are read once for each window."""

_STEP_TERMS: Final = 1 << 14
_TERM_HASH_BYTES: Final = 16
_ROW_SHIFT: Final = 40
_RANK_SHIFT: Final = 8

_Bytes = NDArray[np.uint8]


class Leaves(NamedTuple):
    """Digests of some blobs, [blobs, LEAF_BYTES] each: of their rows without vectors, and of the vectors."""

    rows: _Bytes
    vectors: _Bytes


class _Postings(NamedTuple):
    """Postings of a field in a window of rows, sorted by row and term: [postings] each, and the hash of each term."""

    rows: NDArray[np.int64]
    terms: NDArray[np.int64]
    counts: NDArray[np.uint8]
    hashes: _Bytes


def digest_blobs(segment: Segment, blobs: Sequence[int] | NDArray[np.int64]) -> Leaves:
    """Return the leaves of some blobs of a segment, given in ascending order. Raises DamagedFile."""
    rows, vectors = bytearray(), bytearray()
    for window in _split(segment, blobs):
        for of_rows, of_vectors in _digest_window(segment, window):
            rows += of_rows
            vectors += of_vectors
    tables = (np.frombuffer(bytes(part), np.uint8).reshape(-1, LEAF_BYTES) for part in (rows, vectors))
    return Leaves(*tables)


def _split(segment: Segment, blobs: Sequence[int] | NDArray[np.int64]) -> Iterator[list[int]]:
    """Divide blobs into windows of adjacent rows, of `_WINDOW_ROWS` at most unless one blob has more."""
    window: list[int] = []
    for blob in map(int, blobs):
        if window and segment.first[blob + 1] - segment.first[window[0]] > _WINDOW_ROWS:
            yield window
            window = []
        window.append(blob)
    if window:
        yield window


def _digest_window(segment: Segment, blobs: Sequence[int]) -> Iterator[tuple[bytes, bytes]]:
    """Yield both parts of the leaf of each blob of a window."""
    first = segment.first
    low, high = int(first[blobs[0]]), int(first[blobs[-1] + 1])
    # One read of each column for the window: single reads for each blob would take most of the time.
    rows = np.arange(low, high)
    columns = {name: segment.values(name, rows) for name in COLUMNS} if len(rows) else {}
    labels, vectors = segment.labels(rows), segment.vectors(rows) if len(rows) else np.zeros((0, 0), np.int8)
    contents = segment.pick_contents(rows)
    postings = [_read_postings(segment, field, low, high) for field in FIELDS]
    names = _read_postings(segment, NAMES, blobs[0], blobs[-1] + 1)
    for blob in blobs:
        start, end = int(first[blob]) - low, int(first[blob + 1]) - low
        # The number of rows is part of the head, so columns of fixed width need no lengths.
        own = {name: values[start:end].tobytes() for name, values in columns.items()}
        digest = hashlib.blake2b(_head(segment, blob, end - start), digest_size=LEAF_BYTES, person=b"gitmem rows")
        for name, data in own.items():
            if name not in _VECTOR_COLUMNS:
                digest.update(data)
        for label in labels[start:end]:
            digest.update(struct.pack("<I", len(label)) + label)
        digest.update(contents[start:end].tobytes())
        for field in postings:
            digest.update(_encode_postings(field, start, end))
        digest.update(_encode_postings(names, blob - blobs[0], blob - blobs[0] + 1))
        of_vectors = hashlib.blake2b(digest_size=LEAF_BYTES, person=b"gitmem vectors")
        of_vectors.update(struct.pack("<II", end - start, segment.dimensions if end > start else 0))
        of_vectors.update(vectors[start:end].tobytes())
        for name in _VECTOR_COLUMNS:
            of_vectors.update(own.get(name, b""))
        yield digest.digest(), of_vectors.digest()


def _head(segment: Segment, blob: int, rows: int) -> bytes:
    """Return everything about a blob that is not in its rows. Each text is preceded by its length."""
    try:
        names = inflate_names(segment.name_record(blob))
    except ValueError as problem:
        raise damaged(segment.path, str(problem)) from problem
    texts = [
        segment.pick_oids(np.array([blob])).tobytes(),
        segment.languages[int(segment.asked[blob])].encode(),
        segment.languages[int(segment.blob_languages[blob])].encode(),
        OUTCOMES[int(segment.outcomes[blob])].encode(),
        names,
    ]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts) + struct.pack("<I", rows)


def _read_postings(segment: Segment, field: str, low: int, high: int) -> _Postings:
    """Turn the postings of a field, stored by term, into postings by row, for the rows from `low` to `high`."""
    keys: list[NDArray[np.uint64]] = []
    hashes = bytearray()
    known = 0
    for part in segment.iter_postings(field, _STEP_TERMS):
        terms = np.repeat(np.arange(len(part.terms)), differences(part.bounds))
        inside = (part.places >= low) & (part.places < high)
        if not inside.any():
            continue
        used, ranks = distinct_with_places(terms[inside])
        for term in used.tolist():
            hashes += hashlib.blake2b(part.terms[term], digest_size=_TERM_HASH_BYTES).digest()
        # Row, rank of the term and frequency in one number, so that a plain sort inverts the postings. Terms come in
        # ascending order, so their ranks sort as the terms do, whatever else is in the segment.
        rows = (part.places[inside] - low).astype(np.uint64)
        numbers = np.left_shift((ranks + known).astype(np.uint64), np.uint64(_RANK_SHIFT))
        keys.append(np.left_shift(rows, np.uint64(_ROW_SHIFT)) + numbers + part.counts[inside].astype(np.uint64))
        known += len(used)
    joined = np.concatenate([np.zeros(0, np.uint64), *keys])
    joined.sort()
    terms = (joined >> np.uint64(_RANK_SHIFT)).astype(np.int64) & ((1 << _ROW_SHIFT - _RANK_SHIFT) - 1)
    counts = joined.astype(np.uint8)  # keeps the lowest byte
    table = np.frombuffer(bytes(hashes), np.uint8).reshape(-1, _TERM_HASH_BYTES)
    return _Postings((joined >> np.uint64(_ROW_SHIFT)).astype(np.int64), terms, counts, table)


def _encode_postings(postings: _Postings, start: int, end: int) -> bytes:
    """Return the postings of some rows: number of postings, then row within the blob, term and frequency of each."""
    # Hashes stand for terms, so a posting has a fixed width and no separator that a term could contain.
    first, last = np.searchsorted(postings.rows, [start, end]).tolist()
    table = np.zeros((last - first, 4 + _TERM_HASH_BYTES + 1), np.uint8)
    table[:, :4] = (postings.rows[first:last] - start).astype("<u4").view(np.uint8).reshape(-1, 4)
    table[:, 4:-1] = postings.hashes[postings.terms[first:last]]
    table[:, -1] = postings.counts[first:last]
    return struct.pack("<I", last - first) + table.tobytes()


def find_differing_vectors(segment: Segment, blob: int, other: Segment, other_blob: int) -> bool:
    """Return whether two blobs with the same rows have vectors that two processors cannot explain.

    The last bit of a sum depends on the order in which a processor adds, and so may the level of a component.
    """
    one, two = (np.arange(int(item.first[at]), int(item.first[at + 1]))
                for item, at in ((segment, blob), (other, other_blob)))  # fmt: skip
    if len(one) != len(two) or (len(one) and segment.dimensions != other.dimensions):
        return True
    if not len(one):
        return False
    steps = SEARCHED_LEVELS.steps(segment.vectors(one)) - SEARCHED_LEVELS.steps(other.vectors(two))
    if np.abs(steps).max(initial=0) > 1:
        return True
    pairs = ((segment.values(name, one), other.values(name, two)) for name in _VECTOR_COLUMNS)
    return not all(np.allclose(left.astype(float), right.astype(float), rtol=0.01) for left, right in pairs)


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root of a Merkle tree over leaves, in their order, by the hashing of RFC 6962, section 2.1.

    The prefixes keep a leaf from being taken for an inner node. An odd node at the end of a level moves up unchanged.
    """
    level = [_hash(b"\0" + leaf) for leaf in leaves] or [_hash(b"")]
    while len(level) > 1:
        pairs = [_hash(b"\1" + level[at] + level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) & ~1 :]
    return level[0]


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=LEAF_BYTES).digest()
