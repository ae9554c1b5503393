"""Rows in memory before they are written as a segment: columns, blobs and postings as numpy arrays.

A row is one chunk; the rows of a blob are adjacent. Nothing is read from or written to disk here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from gitmem.arrays import NDArray, distinct_with_places
from gitmem.store.columns import COLUMNS, FIELDS
from gitmem.store.postings import Postings


@dataclass(frozen=True, slots=True)
class Blobs:
    """Blobs of a batch.

    `keys` are pairs of object id and requested language; `languages` are the languages they were parsed as, and
    `outcomes` [blobs] indices into OUTCOMES. Blob i owns the rows from `first[i]` up to `first[i + 1]`. `names` has a
    record of the names in each, see `store.occurrences`.
    """

    keys: list[tuple[bytes, str]]
    languages: list[str]
    outcomes: NDArray[np.uint8]
    first: NDArray[np.int64]
    names: list[bytes]


@dataclass(frozen=True, slots=True)
class Rows:
    """Batch of whole blobs.

    `columns` by name as in COLUMNS, `labels` as in `store.labels`, `vectors` int8 [rows, dimensions], `contents` uint8
    [rows, CONTENT_BYTES].
    """

    blobs: Blobs
    columns: Mapping[str, NDArray[np.generic]]
    labels: list[bytes]
    vectors: NDArray[np.int8]
    contents: NDArray[np.uint8]
    postings: Mapping[str, Postings]

    def __len__(self) -> int:
        return len(self.vectors)


def concatenate(batches: Sequence[Rows]) -> Rows:
    """Return the rows of all batches, in order."""
    bases = np.cumsum([0] + [len(batch) for batch in batches])
    blobs = Blobs(
        [key for batch in batches for key in batch.blobs.keys],
        [language for batch in batches for language in batch.blobs.languages],
        np.concatenate([batch.blobs.outcomes for batch in batches]),
        np.concatenate(
            [batch.blobs.first[:-1] + base for batch, base in zip(batches, bases, strict=False)] + [bases[-1:]]
        ),
        [record for batch in batches for record in batch.blobs.names],
    )
    return Rows(
        blobs,
        {name: np.concatenate([batch.columns[name] for batch in batches]) for name in COLUMNS},
        [label for batch in batches for label in batch.labels],
        np.concatenate([batch.vectors for batch in batches]),
        np.concatenate([batch.contents for batch in batches]),
        {field: _join_postings([batch.postings[field] for batch in batches], bases) for field in FIELDS},
    )


def select_rows(rows: Rows, mask: NDArray[np.bool_], names: list[bytes]) -> Rows:
    """Return some of the rows, [rows], of all blobs, with other records of names for the blobs."""
    places = np.cumsum(mask) - 1
    first = np.concatenate([[0], np.cumsum(mask)])[rows.blobs.first].astype(np.int64)
    return Rows(
        replace(rows.blobs, first=first, names=names),
        {name: column[mask] for name, column in rows.columns.items()},
        [label for label, is_selected in zip(rows.labels, mask.tolist(), strict=True) if is_selected],
        rows.vectors[mask],
        rows.contents[mask],
        {field: _select_postings(postings, mask, places) for field, postings in rows.postings.items()},
    )


def _select_postings(postings: Postings, mask: NDArray[np.bool_], places: NDArray[np.int64]) -> Postings:
    """Return the postings of some rows, with only the terms that occur in them."""
    is_selected = mask[postings.row]
    used, term = distinct_with_places(postings.term[is_selected])
    return Postings(
        [postings.terms[number] for number in used.tolist()],
        term.astype(np.int32),
        places[postings.row[is_selected]].astype(np.int32),
        postings.frequency[is_selected],
    )


def _join_postings(parts: Sequence[Postings], bases: NDArray[np.int64]) -> Postings:
    """Return the postings of all parts, with one number per term and rows offset by `bases`."""
    names = list(dict.fromkeys(chain.from_iterable(part.terms for part in parts)))
    numbers = dict(zip(names, range(len(names)), strict=True))
    terms = []
    for part in parts:  # each batch numbers its terms by itself: renumber them
        own = np.fromiter(map(numbers.__getitem__, part.terms), np.int32, len(part.terms))
        terms.append(own[part.term] if len(own) else part.term)
    return Postings(
        names,
        np.concatenate(terms),
        np.concatenate([part.row + np.int32(base) for part, base in zip(parts, bases, strict=False)]),
        np.concatenate([part.frequency for part in parts]),
    )
