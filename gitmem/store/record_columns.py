"""Metadata of records as columns, so that filters need not read a single record.

Every value is text, empty if a record lacks that field. Columns are dictionary-encoded: each distinct value is stored
once, with one code per record. Times are written so that text order is time order.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import Buffer, Container
from gitmem.store.section import damaged

RECORD_COLUMNS: Final = (
    "type", "source", "sensitivity", "visibility", "conversation", "confidence", "time", "stored", "retention",
    "paths", "symbols", "supersedes", "expires", "title",
)  # fmt: skip
"""Column names. `time` is the time of the content, `stored` that of its arrival; records with only one have it twice.

`paths` and `symbols` are the code that a note is about, `supersedes` the notes that it replaces, one per line.
"""


class Column(NamedTuple):
    """One field of all records: `codes` [records] index into `values`, which holds each value once, unordered."""

    codes: NDArray[np.uint32]
    values: Sequence[str]

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> Self:
        """Encode one text per record."""
        numbers: dict[str, int] = {}
        codes = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.uint32, len(texts))
        return cls(codes, list(numbers))

    def join(self, other: "Column") -> "Column":
        """Return the records of this column followed by those of another."""
        numbers = {value: code for code, value in enumerate(self.values)}
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in other.values], np.uint32)
        return Column(np.concatenate([self.codes, codes[other.codes]]), list(numbers))

    def take(self, places: NDArray[np.int64]) -> "Column":
        """Return the records at some positions, in the order of the positions."""
        return Column(self.codes[places], self.values)

    def select(self, predicate: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return a mask of the records whose value satisfies a predicate, which is called once per distinct value."""
        accepted = np.fromiter((predicate(value) for value in self.values), bool, len(self.values))
        mask: NDArray[np.bool_] = accepted[self.codes]
        return mask

    def ranks(self) -> NDArray[np.int64]:
        """Return a number for each record; the numbers are in the order of the values."""
        order = sorted(range(len(self.values)), key=self.values.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank[self.codes]

    def text(self, place: int) -> str:
        """Return the value of one record."""
        return self.values[int(self.codes[place])]


def column_sections(columns: Mapping[str, Column]) -> dict[str, Buffer]:
    """Return all columns as sections of a file."""
    sections: dict[str, Buffer] = {}
    for name in RECORD_COLUMNS:
        sections[f"{name}_codes"] = columns[name].codes.astype("<u4").data
        sections[f"{name}_values"] = json.dumps(columns[name].values).encode()
    return sections


def has_columns(container: Container) -> bool:
    """Return whether a file has all columns."""
    return all(f"{name}_{part}" in container for name in RECORD_COLUMNS for part in ("codes", "values"))


def load_column(container: Container, name: str, records: int) -> Column:
    """Load one column of a file. Raises DamagedFile."""
    codes = np.frombuffer(container[f"{name}_codes"].all(), "<u4")
    try:
        values = json.loads(bytes(container[f"{name}_values"].all()))
    except (ValueError, RecursionError) as problem:
        raise damaged(container.path, f"its column `{name}` cannot be read") from problem
    is_valid = isinstance(values, list) and all(isinstance(value, str) for value in values)
    if not is_valid or len(codes) != records or (len(codes) and codes.max() >= len(values)):
        raise damaged(container.path, f"its column `{name}` does not fit its records")
    return Column(codes, values)
