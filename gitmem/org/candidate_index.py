"""An index in memory of the candidates of one query: a segment, the view of their paths, and the scope over both.

So the search engine, which knows nothing of a server, scores and ranks these rows as it does those of a local index,
with the statistics of all the rows that the server searched.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.org.blob_record import StoredBlob, join_blobs
from gitmem.org.candidate_blobs import CandidatePath, VisibleHead, corpus_of, words_of
from gitmem.org.filtered_blobs import path_matcher
from gitmem.search.scope import Filters, Scope, TermCounts
from gitmem.store.open_segments import OpenSegments
from gitmem.store.path_postings import path_postings
from gitmem.store.postings import Postings
from gitmem.store.segment_writer import load_rows
from gitmem.types import REPOSITORY_END


class CandidateView:
    """Paths of the candidates in some heads. A path begins with its repository, as in `store.combined_view`."""

    def __init__(self, heads: Sequence[VisibleHead], places: Sequence[CandidatePath], oids: Sequence[str]) -> None:
        """Take the paths sorted by head; `oids` are those of their blobs."""
        numbers = {head.head: number for number, head in enumerate(heads)}
        # Sorted by the name of the repository and the path: the first path of a blob represents it.
        order = sorted(range(len(places)), key=lambda at: (numbers[places[at].head], places[at].path))
        self.places = [places[at] for at in order]
        self._oids = [oids[at] for at in order]
        self._head_of = [numbers[place.head] for place in self.places]
        self._prefixes = [head.repository.encode() + REPOSITORY_END + b"/" for head in heads]
        self._name_words = [words_of(head.repository) for head in heads]

    def __len__(self) -> int:
        return len(self.places)

    def path(self, entry: int) -> bytes:
        """Return the name of the repository of an entry, and its path there."""
        return self._prefixes[self._head_of[entry]] + self.places[entry].path

    def oid(self, entry: int) -> str:
        """Return the object id of an entry, in hex."""
        return self._oids[entry]

    def same_blob(self, entry: int) -> list[int]:
        """Return the entries with the blob of an entry, of any repository: they share its row."""
        return self._entries_of[self.places[entry].blob]

    @cached_property
    def paths(self) -> list[bytes]:
        """All paths, in the order of the entries."""
        return [self.path(entry) for entry in range(len(self))]

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        """Return the entries whose path contains a word, ascending; None if it does not occur."""
        own = self._postings[field]
        holds = np.zeros(len(self), bool)
        if term in own.terms:
            holds[own.row[own.term == own.terms.index(term)]] = True
        if field == "folder":
            # A word of the repository's name counts for each of its files, as that of a folder above them would.
            matches = [term.decode("utf-8", "replace") in words for words in self._name_words]
            holds |= np.array([matches[head] for head in self._head_of], bool)
        return np.flatnonzero(holds).astype(np.uint32) if holds.any() else None

    @cached_property
    def _entries_of(self) -> dict[int, list[int]]:
        entries: dict[int, list[int]] = {}
        for entry, place in enumerate(self.places):
            entries.setdefault(place.blob, []).append(entry)
        return entries

    @cached_property
    def _postings(self) -> dict[str, Postings]:
        return path_postings([place.path for place in self.places], np.ones(len(self), bool))


class CandidateIndex(NamedTuple):
    """Open index of candidates, and the scope over all of them."""

    snapshot: OpenSegments
    view: CandidateView
    scope: Scope


def open_candidates(
    heads: Sequence[VisibleHead],
    blobs: Sequence[StoredBlob],
    places: Sequence[CandidatePath],
    counts: dict[str, TermCounts],
    filters: Filters,
) -> CandidateIndex:
    """Open the rows of candidates for a search. `counts` has every term of the query. Raises DatabaseFailed."""
    wanted = {term.encode("utf-8", "replace") for term in counts}
    snapshot = OpenSegments([load_rows(join_blobs(blobs, heads[0].dimensions, wanted))])
    numbers = {blob.number: at for at, blob in enumerate(blobs)}
    view = CandidateView(heads, places, [blobs[numbers[place.blob]].oid.hex() for place in places])
    blob_of = np.array([numbers[place.blob] for place in view.places], np.int64)
    scope = Scope(snapshot, view, Filters(), blob_of)
    scope.corpus = corpus_of(heads)
    scope.term_counts.update(counts)
    return CandidateIndex(snapshot, view, _restrict(scope, view, filters))


def _restrict(whole: Scope, view: CandidateView, filters: Filters) -> Scope:
    """Return the rows that pass filters. Paths are matched as in their repository."""
    if not filters.any:
        return whole
    matches = path_matcher(filters)
    passes = np.array([matches(place.path) for place in view.places], bool)
    others = Filters(languages=filters.languages, chunk_types=filters.chunk_types)
    scope = Scope(whole.snapshot, view, others, np.where(passes, whole.blob_of, -2), whole)
    scope.corpus = whole.corpus
    return scope
