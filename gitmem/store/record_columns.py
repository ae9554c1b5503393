"""What is known of records beside their content, as columns: asked for without reading a record.

Every fact is text, empty where a record has none of that name. A column holds each of its values once and a code for
each record. Times are written so that text order is time order.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gitmem.store.format import Buffer, Container, damaged

FACTS: Final = (
    "type", "source", "sensitivity", "visibility", "conversation", "confidence", "time", "stored", "retention",
    "paths", "symbols",
)  # fmt: skip
"""The columns. `time` is that of what is told, `stored` when it came in; records that have only one have it twice.
`paths` and `symbols` are the code that a note is about, one a line."""


class Column(NamedTuple):
    """One fact of all records: places in `values`, [records], and each value once, in no order."""

    codes: NDArray[np.uint32]
    values: Sequence[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """The column of one text a record."""
        known: dict[str, int] = {}
        codes = np.fromiter((known.setdefault(text, len(known)) for text in texts), np.uint32, len(texts))
        return cls(codes, list(known))

    def then(self, other: "Column") -> "Column":
        """The records of this column and behind them those of another."""
        known = {value: code for code, value in enumerate(self.values)}
        codes = np.array([known.setdefault(value, len(known)) for value in other.values], np.uint32)
        return Column(np.concatenate([self.codes, codes[other.codes]]), list(known))

    def take(self, places: NDArray[np.int64]) -> "Column":
        """Some records of this column, in the order of the places."""
        return Column(self.codes[places], self.values)

    def where(self, keep: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Which records have a value that is to be kept; each value is judged once."""
        kept = np.fromiter((keep(value) for value in self.values), bool, len(self.values))
        found: NDArray[np.bool_] = kept[self.codes]
        return found

    def ranks(self) -> NDArray[np.int64]:
        """A number for each record that orders them as their values are ordered."""
        order = sorted(range(len(self.values)), key=self.values.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank[self.codes]

    def text(self, place: int) -> str:
        """The value of one record."""
        return self.values[int(self.codes[place])]


def fact_sections(columns: Mapping[str, Column]) -> dict[str, Buffer]:
    """Columns as sections of a file."""
    sections: dict[str, Buffer] = {}
    for name in FACTS:
        sections[f"{name}_codes"] = columns[name].codes.astype("<u4").data
        sections[f"{name}_values"] = json.dumps(columns[name].values).encode()
    return sections


def has_facts(container: Container) -> bool:
    """Whether a file has all columns."""
    return all(f"{name}_{part}" in container for name in FACTS for part in ("codes", "values"))


def load_fact(container: Container, name: str, records: int) -> Column:
    """One column of a file. Raises DamagedFile."""
    codes = np.frombuffer(container[f"{name}_codes"].all(), "<u4")
    try:
        values = json.loads(bytes(container[f"{name}_values"].all()))
    except (ValueError, RecursionError) as problem:
        raise damaged(container.path, f"its column `{name}` cannot be read") from problem
    sound = isinstance(values, list) and all(isinstance(value, str) for value in values)
    if not sound or len(codes) != records or (len(codes) and codes.max() >= len(values)):
        raise damaged(container.path, f"its column `{name}` does not fit its records")
    return Column(codes, values)
