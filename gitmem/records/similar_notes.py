"""Notes that mean the same as a new one, told by their vectors in the index: pointed out, never merged.

A note that differs in one word (tabs or spaces, March or May) is as near as one that repeats it, and as worth a look.
"""

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from gitmem.indexing.record_views import PREFIX
from gitmem.memory.note import Note, load_note
from gitmem.memory.record_paths import NOTES, note_path
from gitmem.memory.record_store import RecordStore
from gitmem.search.dense import bit_distances, exact_cosines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitmem.freshness.record_refresh import Indexed

ALIKE: Final = 0.72
"""Cosine from which a sentence means the same as another: what `tests.bench alike` is about."""

ALIKE_DOUBLED: Final = 0.06
ALIKE_MOST: Final = 0.9
SENTENCE: Final = 10.0
"""Longer texts are nearer to each other whatever they say, as they share more words: so much more is asked for each
time the length doubles, told by the vector's length before normalisation, which a sentence of fifteen words brings to
SENTENCE."""

MOST: Final = 3
_CANDIDATES: Final = 32


class Alike(NamedTuple):
    """A note that was there already, and its cosine to the new one."""

    note: Note
    score: float


def find_alike(store: RecordStore, indexed: "Indexed", note_id: str) -> list[Alike]:
    """At most MOST notes that mean the same as one that is indexed, the nearest first. Raises DamagedFile."""
    near = _nearest(indexed, note_id)
    return [Alike(load_note(store.read_record(indexed.view.oid(entry), "note")), score) for entry, score in near]


def least_score(norm: float) -> float:
    """The cosine from which a note of so long a vector has been said before."""
    return min(ALIKE_MOST, ALIKE + ALIKE_DOUBLED * max(0.0, math.log2(max(norm, 1.0) / SENTENCE)))


def _nearest(indexed: "Indexed", note_id: str) -> list[tuple[int, float]]:
    """Entries of the view that are near enough, with their cosines."""
    view, snapshot = indexed
    own = view.find(PREFIX + note_path(note_id))
    folder = view.folder(NOTES)
    notes = np.arange(folder.start, folder.stop)
    row_of = _rows(indexed, notes)  # a note is found whole, so it has one
    if own is None or row_of[own - folder.start] < 0:
        return []
    row = row_of[[own - folder.start]]
    others = (row_of >= 0) & (notes != own)
    notes, rows = notes[others], row_of[others]
    vector = snapshot.unit_vectors(row)[0]
    distances = bit_distances(snapshot, vector)[rows]
    best = np.argsort(distances, kind="stable")[:_CANDIDATES]
    cosines = np.minimum(exact_cosines(snapshot, vector, rows[best]), 1)  # both are rounded
    least = least_score(float(snapshot.gather(("norm",), row)["norm"][0]))
    order = [place for place in np.argsort(-cosines, kind="stable").tolist() if cosines[place] >= least]
    return [(int(notes[best[place]]), float(cosines[place])) for place in order[:MOST]]


def _rows(indexed: "Indexed", entries: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """The first row of each entry, -1 where it has none."""
    view, snapshot = indexed
    blobs = snapshot.match(view)[entries]
    found = np.maximum(blobs, 0)
    first = snapshot.blob_first[found]
    return np.where((blobs >= 0) & (snapshot.blob_first[found + 1] > first), first, -1)
