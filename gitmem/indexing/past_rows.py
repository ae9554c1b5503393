"""Keep of each version of a file only the definitions that no earlier one had, and a record of all that are in it.

The record says of which chunks a version consists, by marks: parts of the hashes of their contents (`mark_records`). It
takes the place of the record of names, which nobody asks of the past, so it is published, verified and merged with the
segment of its blob. Workers send marks as names.

A small edit changes the meaning of a chunk as little as its vector. So a chunk that nearly equals an earlier one with
the same symbol is taken for the same version of it: no search could tell them apart, and half of all versions are such.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.indexing.mark_records import RecordWriter, marks_of
from gitmem.store.labels import label_symbol
from gitmem.store.occurrences import unpack_occurrences
from gitmem.store.open_segments import OpenSegments
from gitmem.store.rows import Rows, select_rows
from gitmem.types import OCCURRENCE_KINDS, Chunk, NameColumns

DEFINITIONS: Final = frozenset(
    ("section", "namespace", "class", "interface", "struct", "enum", "trait", "impl", "type", "function", "method",
     "macro")
)  # fmt: skip
"""Chunk types that are kept. Text between definitions and single fields change often, and say little by themselves."""

_KIND: Final = OCCURRENCE_KINDS.index("name")

_SAME_BITS: Final = 26
"""Greatest number of differing signs in the vectors of versions that count as one: of 256, an angle of 18 degrees."""

_MAX_SENT: Final = 300_000
"""Contents that a worker remembers: some 30 MB."""


def _pack_marks(marks: Sequence[bytes]) -> NameColumns:
    """Return marks as columns of a record. As receivers they get no postings: nobody looks for the blobs of one."""
    size = len(marks)
    return NameColumns([0] * size, [_KIND] * size, [b""] * size, marks)


class Definitions:
    """Filter for the chunks of a worker: the definitions that it has not sent before in this run.

    Most chunks of a version are those of the version before. So they are neither counted nor embedded again.
    """

    def __init__(self) -> None:
        self._sent: set[bytes] = set()
        self._pending: set[bytes] = set()

    def select(self, chunks: Sequence[Chunk], contents: Sequence[bytes]) -> tuple[list[int], NameColumns]:
        """Return the places of the new definitions among the chunks of a blob, and the record of all of them."""
        places = [place for place, chunk in enumerate(chunks) if chunk.chunk_type in DEFINITIONS]
        new = []
        for place in places:
            if contents[place] not in self._sent and contents[place] not in self._pending:
                self._pending.add(contents[place])
                new.append(place)
        hashes = np.frombuffer(b"".join(contents[place] for place in places), np.uint8)
        return new, _pack_marks(marks_of(hashes.reshape(len(places), -1)) if places else [])

    def commit(self) -> None:
        """Note that the rows since the last call will be sent. Those of a batch that was stopped never are."""
        # To forget some costs only their embedding; the process that writes drops rows that it has.
        if len(self._sent) > _MAX_SENT:
            self._sent.clear()
        self._sent |= self._pending
        self._pending.clear()

    def roll_back(self) -> None:
        """Forget the rows since the last call of `commit`."""
        self._pending.clear()


class NewRows:
    """Filter for the rows of a run: those that differ from all in the index and in earlier batches."""

    def __init__(self, index: OpenSegments) -> None:
        self._same: dict[bytes, bytes] = {}
        self._signatures: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
        self._records = RecordWriter()
        # A run that goes on after a stop knows the rows, and finds again which of them equal others.
        for segment in index.segments:
            rows = np.arange(segment.rows, dtype=np.int64)
            for mark, symbol, signature in zip(
                marks_of(segment.contents()), segment.symbols(rows), _signatures(segment.vectors(rows)), strict=True
            ):
                self._same[mark] = mark
                self._signatures[symbol].append((signature, mark))

    def __call__(self, rows: Rows) -> Rows:
        """Return the rows to store. In the records the others are replaced by those that they equal."""
        marks = marks_of(rows.contents)
        is_new = np.zeros(len(marks), bool)
        for row, (mark, label, signature) in enumerate(zip(marks, rows.labels, _signatures(rows.vectors), strict=True)):
            is_new[row] = self._add(mark, label_symbol(label), signature)
        blobs = zip(rows.blobs.keys, rows.blobs.names, strict=True)
        return select_rows(rows, is_new, [self._record(*key, names) for key, names in blobs])

    def _add(self, mark: bytes, symbol: str, signature: int) -> bool:
        """Note a row; return whether it is a new one."""
        if mark in self._same:
            return False
        # An identical content may also come from two workers, which do not know of each other.
        similar = self._signatures[symbol]
        same = next((earlier for other, earlier in similar if (signature ^ other).bit_count() <= _SAME_BITS), mark)
        self._same[mark] = same
        if same is mark:
            similar.append((signature, mark))
        return same is mark

    def _record(self, oid: bytes, language: str, names: bytes) -> bytes:
        """Return the record of a version, in which rows are replaced by those that they equal."""
        sent = unpack_occurrences(names)
        marks = [sent.strings[number] for number in sent.receivers.tolist()]
        return self._records.pack(oid, language, [self._same.get(mark, mark) for mark in marks])


def _signatures(vectors: NDArray[np.int8]) -> Iterable[int]:
    """Return the signs of vectors, [vectors, dimensions], each as a number."""
    for bits in np.packbits(vectors > 0, axis=1):
        yield int.from_bytes(bits.tobytes(), "little")
