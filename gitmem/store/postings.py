"""Inverted lists on disk: terms in order, and for each the places it stands at, ascending, with counts.

A term is found by bisection over the mapped terms, so a query reads a few blocks of a dictionary of any size.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.store.format import Buffer, Container, damaged
from gitmem.store.rows import Postings

ROW: Final = "<u2"
"""Places are rows of a segment."""

ENTRY: Final = "<u4"
"""Places are entries of a view."""


def posting_sections(field: str, postings: Postings, place: str) -> dict[str, Buffer]:
    """The sections that hold one field's lists."""
    terms, bounds, places, counts = arrange(postings)
    return {
        f"{field}.terms": b"".join(terms),
        f"{field}.term_at": offsets(terms).data,
        f"{field}.posting_at": bounds.astype("<u4").data,
        f"{field}.places": places.astype(place).data,
        f"{field}.counts": counts.data,
    }


def arrange(postings: Postings) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """Sorted terms that occur, where each one's postings begin (one more at the end), rows ascending, counts."""
    order = sorted(range(len(postings.terms)), key=postings.terms.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    term = rank[postings.term]
    place = np.lexsort((postings.row, term))
    term = term[place]
    present, starts = np.unique(term, return_index=True)
    bounds = np.append(starts, len(term)).astype(np.int64)
    return [postings.terms[order[number]] for number in present], bounds, postings.row[place], postings.count[place]


def offsets(strings: Sequence[bytes]) -> NDArray[np.uint32]:
    """Where each of some joined strings begins, and where the last ends."""
    return np.cumsum([0, *map(len, strings)]).astype("<u4")


def checked_bounds(file: Container, name: str, end: int) -> NDArray[np.uint32]:
    """Offsets that must rise from 0 to `end`. Raises DamagedFile."""
    section = file[name]
    if len(section) < 4 or len(section) % 4:
        raise damaged(file.path, f"its part `{name}` is cut short")
    bounds = np.frombuffer(section.all(), "<u4")
    if bounds[0] != 0 or bounds[-1] != end or (bounds[1:] < bounds[:-1]).any():
        raise damaged(file.path, f"its part `{name}` points outside")
    return bounds


class PostingList:
    """The lists of one field in an open file."""

    def __init__(self, container: Container, field: str, place: str) -> None:
        self._file = container
        self._field = field
        self._place = np.dtype(place)
        self._terms = container[f"{field}.terms"]
        self._places = container[f"{field}.places"]
        self._counts = container[f"{field}.counts"]
        if len(self._places) != len(self._counts) * self._place.itemsize:
            raise damaged(container.path, f"its part `{field}.places` has another size than it says")

    @cached_property
    def _term_at(self) -> NDArray[np.uint32]:
        return checked_bounds(self._file, f"{self._field}.term_at", len(self._terms))

    @cached_property
    def _posting_at(self) -> NDArray[np.uint32]:
        bounds = checked_bounds(self._file, f"{self._field}.posting_at", len(self._counts))
        if len(bounds) != len(self._term_at):
            raise damaged(self._file.path, f"its part `{self._field}.posting_at` has another size than it says")
        return bounds

    def find(self, term: bytes) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]] | None:
        """Places of a term, ascending, and counts; None where it does not stand anywhere."""
        number = self._find_term(term)
        if number is None:
            return None
        start, end = self._posting_at[number : number + 2].tolist()
        size = self._place.itemsize
        places = np.frombuffer(self._places.read(size * start, size * end), self._place)
        return places, np.frombuffer(self._counts.read(start, end), np.uint8)

    def _find_term(self, term: bytes) -> int | None:
        count = len(self._term_at) - 1
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if self._term(middle) < term:
                low = middle + 1
            else:
                high = middle
        return low if low < count and self._term(low) == term else None

    def _term(self, number: int) -> bytes:
        start, end = self._term_at[number : number + 2].tolist()
        return bytes(self._terms.read(start, end))

    def load(self) -> Postings:
        """Everything, as triples."""
        at, bounds = self._term_at.tolist(), self._posting_at.astype(np.int64)
        joined = bytes(self._terms.all())
        return Postings(
            [joined[start:end] for start, end in zip(at, at[1:], strict=False)],
            np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds)),
            np.frombuffer(self._places.all(), self._place).astype(np.int32),
            np.frombuffer(self._counts.all(), np.uint8),
        )
