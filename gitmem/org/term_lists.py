"""Lists of the blobs with each term, in the form that the server stores: buckets of terms in runs of blobs.

    part     blobs whose numbers share all but the last 13 bits
    run      some blobs of a part, those that one publication added or that several runs were merged from
    bucket   terms of a run whose hashes share their first `scale` bits
    list     row for a bucket: the last 16 bits of the hashes, and for each the blob within its part with its code

An inverted index of PostgreSQL (GIN) needs a column of terms besides the index, and has an entry of some 20 bytes for
each rare term. A bucket of some 256 postings takes 4 bytes for each, and one row.
"""

# Small runs are merged like those of a log-structured merge tree (O'Neil et al. 1996), because a lookup reads a row of
# every run. The bucket of a small run does not have the other bits of its hashes that a larger run needs, so the lists
# of small runs keep those in a third array. Two terms of one bucket that share 16 bits of their hashes, one pair in
# 65,536, only make a blob a candidate without a match.

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.org.binary_copy import encode_int2_array

PART_BITS: Final = 13
PART_BLOBS: Final = 1 << PART_BITS

SMALL_POSTINGS: Final = 1 << 16
"""Postings below which a run is merged with others: those of some 500 blobs."""

_BUCKET_POSTINGS: Final = 256
_MOST_SCALE: Final = 16
_LOW: Final = np.uint32(0xFFFF)


class Postings(NamedTuple):
    """Postings of one part in any order: hash of the term, and the entry, a blob within the part and its code."""

    hashes: NDArray[np.uint32]
    entries: NDArray[np.uint16]


class PackedList(NamedTuple):
    """Postings of one bucket as arrays of PostgreSQL, sorted by term. `highs` are the first 16 bits of the hashes."""

    bucket: int
    terms: bytes
    entries: bytes
    highs: bytes | None


def split_parts(
    blobs: NDArray[np.int64], hashes: NDArray[np.uint32], codes: NDArray[np.uint8]
) -> Iterator[tuple[int, Postings]]:
    """Yield the postings of each part; `blobs` are the numbers of blobs that hold the terms."""
    entries = ((blobs & (PART_BLOBS - 1)) << 3 | codes).astype(np.uint16)
    parts = blobs >> PART_BITS
    for part in np.unique(parts).tolist():
        own = parts == part
        yield part, Postings(hashes[own], entries[own])


def choose_scale(postings: int) -> int:
    """Return the number of bits of a hash that choose its bucket."""
    return min(_MOST_SCALE, max(0, (postings // _BUCKET_POSTINGS).bit_length()))


def pack_lists(postings: Postings) -> Iterator[PackedList]:
    """Yield the lists of a run."""
    hashes, entries = postings
    bucket = hashes.astype(np.int64) >> (32 - choose_scale(len(hashes)))
    # By bucket, then by the last bits of the hash.
    order = np.lexsort((entries, hashes & _LOW, bucket))
    bucket, hashes, signed = bucket[order], hashes[order], entries[order].view(np.int16)
    terms, highs = (hashes & _LOW).astype(np.uint16).view(np.int16), (hashes >> 16).astype(np.uint16).view(np.int16)
    starts = np.flatnonzero(np.diff(bucket, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(hashes)], strict=True):
        yield PackedList(
            int(bucket[start]),
            encode_int2_array(terms[start:end]),
            encode_int2_array(signed[start:end]),
            encode_int2_array(highs[start:end]) if len(hashes) < SMALL_POSTINGS else None,
        )


def join_lists(rows: Sequence[tuple[list[int], list[int], list[int]]], live: NDArray[np.int64]) -> Postings:
    """Return the postings of lists of small runs that belong to live blobs, numbers within the part.

    Each row has terms, entries and the first bits of the hashes, as the server returns them.
    """
    terms, entries, highs = (
        np.array([value for row in rows for value in row[field]], np.int16).view(np.uint16) for field in range(3)
    )
    is_live = np.isin(entries >> 3, live)
    hashes = highs.astype(np.uint32) << np.uint32(16) | terms
    return Postings(hashes[is_live], entries[is_live])
