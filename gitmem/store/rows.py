"""Rows in memory on their way into a segment: columns, blobs and postings as numpy arrays.

Nothing is read or written here. A row is one chunk; the rows of a blob are neighbours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gitmem.store.columns import COLUMNS, FIELDS


@dataclass(frozen=True, slots=True)
class Postings:
    """`terms[term[i]]` stands `count[i]` times (capped at 255) in row `row[i]`."""

    terms: list[bytes]
    term: NDArray[np.int32]
    row: NDArray[np.int32]
    count: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Blobs:
    """Blob i is `keys[i]` (object id, language asked for), was read as `languages[i]`, ended as `outcomes[i]` and owns
    rows `first[i]` to `first[i + 1]`."""

    keys: list[tuple[bytes, str]]
    languages: list[str]
    outcomes: NDArray[np.uint8]
    first: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of whole blobs. `columns` by name as in COLUMNS, `vectors` int8 [rows, dimensions]."""

    blobs: Blobs
    columns: Mapping[str, NDArray[np.generic]]
    symbols: list[bytes]
    vectors: NDArray[np.int8]
    postings: Mapping[str, Postings]

    def __len__(self) -> int:
        return len(self.vectors)


def concatenate(batches: Sequence[Rows]) -> Rows:
    """Put batches one behind the other."""
    bases = np.cumsum([0] + [len(batch) for batch in batches])
    blobs = Blobs(
        [key for batch in batches for key in batch.blobs.keys],
        [language for batch in batches for language in batch.blobs.languages],
        np.concatenate([batch.blobs.outcomes for batch in batches]),
        np.concatenate(
            [batch.blobs.first[:-1] + base for batch, base in zip(batches, bases, strict=False)] + [bases[-1:]]
        ),
    )
    return Rows(
        blobs,
        {name: np.concatenate([batch.columns[name] for batch in batches]) for name in COLUMNS},
        [symbol for batch in batches for symbol in batch.symbols],
        np.concatenate([batch.vectors for batch in batches]),
        {field: _join_postings([batch.postings[field] for batch in batches], bases) for field in FIELDS},
    )


def _join_postings(parts: Sequence[Postings], bases: NDArray[np.int64]) -> Postings:
    numbers: dict[bytes, int] = {}
    terms = []
    for part in parts:
        own = np.fromiter((numbers.setdefault(term, len(numbers)) for term in part.terms), np.int32, len(part.terms))
        terms.append(own[part.term] if len(own) else part.term)
    return Postings(
        list(numbers),
        np.concatenate(terms),
        np.concatenate([part.row + np.int32(base) for part, base in zip(parts, bases, strict=False)]),
        np.concatenate([part.count for part in parts]),
    )


def select_blobs(rows: Rows, keep: NDArray[np.bool_]) -> Rows:
    """Only the blobs marked in `keep`, in their order, with their rows."""
    first = rows.blobs.first
    sizes = np.diff(first)
    wanted = np.repeat(keep, sizes)
    renumbered = np.cumsum(wanted) - 1
    chosen = np.flatnonzero(keep)
    blobs = Blobs(
        [rows.blobs.keys[place] for place in chosen],
        [rows.blobs.languages[place] for place in chosen],
        rows.blobs.outcomes[keep],
        np.concatenate([[0], np.cumsum(sizes[keep])]).astype(np.int64),
    )
    return Rows(
        blobs,
        {name: column[wanted] for name, column in rows.columns.items()},
        [rows.symbols[row] for row in np.flatnonzero(wanted)],
        rows.vectors[wanted],
        {field: _select_postings(postings, wanted, renumbered) for field, postings in rows.postings.items()},
    )


def _select_postings(postings: Postings, wanted: NDArray[np.bool_], renumbered: NDArray[np.int64]) -> Postings:
    kept = wanted[postings.row]
    return Postings(
        postings.terms, postings.term[kept], renumbered[postings.row[kept]].astype(np.int32), postings.count[kept]
    )
