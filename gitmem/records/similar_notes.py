"""Find notes with the meaning of a new one, by their vectors in the index. They are reported, never merged.

A note that differs in one word (tabs or spaces, March or May) is as near as a repetition, and as worth a look.
"""

import math
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.freshness.record_refresh import Indexed
from gitmem.indexing.record_views import PREFIX
from gitmem.memory.note import Note, load_note
from gitmem.memory.record_paths import NOTES, note_path
from gitmem.memory.record_store import RecordStore
from gitmem.named_tuple import NamedTuple
from gitmem.records.note_links import find_links
from gitmem.search.dense import bit_distances, exact_cosines

MIN_SCORE: Final = 0.72
"""Cosine from which a sentence counts as similar. `python -m tests.bench similar-notes` measures the threshold."""

MIN_SCORE_PER_DOUBLING: Final = 0.06
MAX_MIN_SCORE: Final = 0.9
SENTENCE_NORM: Final = 10.0
"""Length of the vector of a sentence of some fifteen words, before normalisation.

Longer texts share more words, so they are nearer to each other even if their meanings differ. The threshold therefore
rises by MIN_SCORE_PER_DOUBLING with each doubling of that length, up to MAX_MIN_SCORE.
"""

MAX_SIMILAR: Final = 3
_CANDIDATES: Final = 32


class SimilarNote(NamedTuple):
    """Earlier note, and the cosine between its vector and that of the new one."""

    note: Note
    score: float


def find_similar(store: RecordStore, indexed: Indexed, note: Note) -> list[SimilarNote]:
    """Return at most MAX_SIMILAR notes similar to an indexed one, the nearest first. Raises DamagedFile.

    Notes that it supersedes, or that others supersede, are left out.
    """
    nearest = _find_nearest(indexed, note)
    return [
        SimilarNote(load_note(store.read_record(indexed.view.oid(entry), "note")), score) for entry, score in nearest
    ]


def min_score(norm: float) -> float:
    """Return the cosine from which a note counts as similar to one whose vector has this length."""
    return min(MAX_MIN_SCORE, MIN_SCORE + MIN_SCORE_PER_DOUBLING * max(0.0, math.log2(max(norm, 1.0) / SENTENCE_NORM)))


def _find_nearest(indexed: Indexed, note: Note) -> list[tuple[int, float]]:
    """Return the entries of the similar notes with their cosines.

    As in a search, the binary vectors of all notes select candidates, and the full vectors order these.
    """
    view, snapshot = indexed
    own = view.find(PREFIX + note_path(note.id))
    folder = view.folder(NOTES)
    notes = np.arange(folder.start, folder.stop)
    row_of = _first_rows(indexed, notes)  # a note is one chunk, so its first row is its only one
    if own is None or row_of[own - folder.start] < 0:
        return []
    row = row_of[[own - folder.start]]
    # Notes that could not be indexed have no row.
    others = (row_of >= 0) & (notes != own)
    replaced = [view.find(PREFIX + note_path(name)) for name in (*note.supersedes, *find_links(view))]
    others[[entry - folder.start for entry in replaced if entry is not None]] = False
    notes, rows = notes[others], row_of[others]
    vector = snapshot.unit_vectors(row)[0]
    distances = bit_distances(snapshot, vector)[rows]
    # The order by bits is only approximate, so more candidates than results are compared exactly.
    best = np.argsort(distances, kind="stable")[:_CANDIDATES]
    cosines = np.minimum(exact_cosines(snapshot, vector, rows[best]), 1)  # rounding can push a cosine above 1
    threshold = min_score(float(snapshot.gather(("norm",), row)["norm"][0]))
    order = [place for place in np.argsort(-cosines, kind="stable").tolist() if cosines[place] >= threshold]
    return [(int(notes[best[place]]), float(cosines[place])) for place in order[:MAX_SIMILAR]]


def _first_rows(indexed: Indexed, entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first row of each entry, -1 for an entry that is not indexed."""
    view, snapshot = indexed
    blobs = snapshot.match(view)[entries]
    known = np.maximum(blobs, 0)
    first = snapshot.blob_first[known]
    return np.where((blobs >= 0) & (snapshot.blob_first[known + 1] > first), first, -1)
