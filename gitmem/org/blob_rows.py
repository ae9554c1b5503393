"""Take the rows of single blobs out of a segment, as the server stores them. Nothing is chunked or embedded again."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.org.blob_record import BlobPostings, BlobRows, pack_blob
from gitmem.org.term_keys import TermCodes, hash_terms, pack_codes, row_impacts
from gitmem.store.columns import COLUMNS, FIELDS
from gitmem.store.segment import Segment

PART_ROWS: Final = 1 << 16
"""Rows whose postings are sorted at once: some 100 MB."""

_TERMS: Final = 1 << 15


class UploadedBlob(NamedTuple):
    """Row of the table `blobs` and of `signatures`, without the text, and the dictionary for that."""

    oid: bytes
    asked: str
    language: str
    outcome: int
    chunks: int
    kinds: int
    words: int
    record: bytes
    dictionary: bytes
    bits: NDArray[np.uint8]
    terms: TermCodes


class _Field(NamedTuple):
    """Postings of a field by blob: those of blob i lie from `bounds[i]` up to `bounds[i + 1]`, sorted by term."""

    terms: list[bytes]
    hashes: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    term: NDArray[np.int64]
    row: NDArray[np.int64]
    repeats: NDArray[np.uint8]


def iter_blobs(segment: Segment, blobs: NDArray[np.int64]) -> Iterator[UploadedBlob]:
    """Yield some blobs of a segment, ascending, with all of their rows. Raises DamagedFile."""
    sizes = np.diff(segment.first)[blobs]
    # Each part begins in another multiple of the limit, so it exceeds the limit by one blob at most.
    part_of = np.cumsum(sizes) // PART_ROWS
    for part in np.unique(part_of).tolist():
        yield from _iter_part(segment, blobs[part_of == part])


def _iter_part(segment: Segment, blobs: NDArray[np.int64]) -> Iterator[UploadedBlob]:
    first = segment.first
    sizes = (first[blobs + 1] - first[blobs]).tolist()
    ends = np.cumsum([0, *sizes]).tolist()
    rows = np.concatenate([np.arange(first[blob], first[blob + 1]) for blob in blobs.tolist()])
    columns = {name: segment.values(name, rows) for name in COLUMNS}
    labels, contents = segment.labels(rows), segment.pick_contents(rows)
    vectors, bits = segment.vectors(rows), segment.bits()[rows]
    fields = {field: _invert(segment, field, rows, ends) for field in FIELDS}
    oids = segment.pick_oids(blobs)
    for at, blob in enumerate(blobs.tolist()):
        start, end = ends[at], ends[at + 1]
        own = {name: column[start:end] for name, column in columns.items()}
        words = own["words"].astype(np.float64)
        postings = {field: _slice(fields[field], at, start) for field in FIELDS}
        yield UploadedBlob(
            oids[at].tobytes(),
            segment.languages[int(segment.asked[blob])],
            segment.languages[int(segment.blob_languages[blob])],
            int(segment.outcomes[blob]),
            end - start,
            int(np.bitwise_or.reduce(own["kinds"].astype(np.int64))),
            int(words.sum()),
            *pack_blob(BlobRows(own, labels[start:end], contents[start:end], postings, vectors[start:end])),
            bits[start:end],
            _codes(fields, at, start, words),
        )


def _invert(segment: Segment, field: str, rows: NDArray[np.int64], ends: Sequence[int]) -> _Field:
    """Return the postings of some rows by blob; `ends` are the bounds of the blobs among the rows."""
    place_of = np.full(segment.rows, -1, np.int64)
    place_of[rows] = np.arange(len(rows))
    names: list[bytes] = []
    term, place, count = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
    for part in segment.iter_postings(field, _TERMS):
        places = place_of[part.places]
        inside = places >= 0
        numbers = np.repeat(np.arange(len(names), len(names) + len(part.terms)), np.diff(part.bounds))
        names += part.terms
        term.append(numbers[inside])
        place.append(places[inside])
        count.append(part.counts[inside])
    terms, places = np.concatenate(term), np.concatenate(place)
    blob_of = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    owner = blob_of[places]
    # Terms and places ascend already within a blob, and a stable sort keeps that.
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(len(ends)))
    return _Field(names, hash_terms(names), bounds, terms[order], places[order], np.concatenate(count)[order])


def _slice(field: _Field, blob: int, start: int) -> BlobPostings:
    own = slice(int(field.bounds[blob]), int(field.bounds[blob + 1]))
    numbers, sizes = np.unique(field.term[own], return_counts=True)
    terms = [field.terms[number] for number in numbers.tolist()]
    return BlobPostings(terms, sizes.astype(np.int64), field.row[own] - start, field.repeats[own])


def _codes(fields: dict[str, _Field], blob: int, start: int, words: NDArray[np.float64]) -> TermCodes:
    """Return the codes of a blob's terms, see `term_keys`."""
    hashes, rows, counts = [], [], []
    for field in FIELDS:
        own = slice(int(fields[field].bounds[blob]), int(fields[field].bounds[blob + 1]))
        hashes.append(fields[field].hashes[fields[field].term[own]])
        rows.append(fields[field].row[own] - start)
        counts.append(fields[field].repeats[own].astype(np.float64))
    is_symbol = np.repeat([0.0, 1.0], [len(hashes[0]), len(hashes[1])])
    row, count = np.concatenate(rows), np.concatenate(counts)
    # One number for hash and row, so that both fields of a row are added up before saturation.
    pair, at = np.unique(np.concatenate(hashes).astype(np.int64) * len(words) + row, return_inverse=True)
    text = np.bincount(at, count * (1 - is_symbol), len(pair))
    symbol = np.bincount(at, count * is_symbol, len(pair))
    impact = row_impacts(text.astype(np.float64), symbol.astype(np.float64), words[pair % max(len(words), 1)])
    terms, first = np.unique(pair // max(len(words), 1), return_index=True)
    if not len(terms):
        return TermCodes(np.zeros(0, np.uint32), np.zeros(0, np.uint8))
    best, number = np.maximum.reduceat(impact, first), np.diff(np.append(first, len(pair)))
    return TermCodes(terms.astype(np.uint32), pack_codes(best, number))
