"""Search several repositories as if their trees were one: one ranking, with statistics over all of them.

Scores of separate searches cannot be compared. Each depends on the term frequencies of its own tree and on its own best
candidates, so an irrelevant repository always has some high score. Distributed search engines therefore exchange the
statistics first. Here the indexes are local files, so their segments and views are simply read as one index.

Lists of different models are merged by rank, because cosines of different models mean different things.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

import numpy as np

from gitmem.answering.answer import find_hits
from gitmem.answering.federated_commits import FederatedCommits
from gitmem.answering.filter_rows import row_filters
from gitmem.answering.query_encoder import search_or_words
from gitmem.answering.search_query import ALL_CONTENT, Query, SearchFilters, kinds_of
from gitmem.answering.searcher import Searcher
from gitmem.arrays import NDArray
from gitmem.indexing.fingerprint import vectors_of
from gitmem.indexing.record_views import Records
from gitmem.memory.kinds import CODE, COMMITS, FOLDERS
from gitmem.named_tuple import NamedTuple
from gitmem.records.note_links import find_outdated
from gitmem.records.record_times import RecordTimes
from gitmem.search.engine import Rejected, SearchOptions, SearchResult, search
from gitmem.search.fuse import RRF_K
from gitmem.search.hits import Hit
from gitmem.search.outdated import Outdated
from gitmem.search.parsed_query import NO_LITERAL, Literal
from gitmem.search.query_parser import parse_query
from gitmem.search.scope import Filters, Scope, passing_paths
from gitmem.search.unit_meaning import QueryMeaning
from gitmem.store.combined_segments import CombinedSegments
from gitmem.store.combined_view import CombinedView, RepositoryView
from gitmem.types import REPOSITORY_END

_MARK: Final = REPOSITORY_END.decode() + "/"


class Member(NamedTuple):
    """Open repository of a search under its name. The user's own one has precedence in the ranking."""

    name: str
    searcher: Searcher
    is_own: bool = False


NO_MEANINGS: Final[Mapping[int, QueryMeaning]] = {}


class MemberHit(NamedTuple):
    """Hit, with the number of the member that it comes from. The path is that in its repository."""

    member: int
    hit: Hit


class FederatedResult(NamedTuple):
    """Terms, rejected results, notes and `literal` as in SearchResult, and the hits of all members.

    The scores of the hits never rise.

    `meanings` are those of SearchResult by the number of the member, which differ between models.
    """

    terms: tuple[str, ...]
    hits: list[MemberHit]
    rejected: Rejected | None = None
    notes: tuple[str, ...] = ()
    meanings: Mapping[int, QueryMeaning] = NO_MEANINGS
    literal: Literal = NO_LITERAL


class FederatedSearcher:
    """Open repositories, searched together any number of times."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        # Rows of one model can be compared by cosine, so they are searched as one index.
        by_model: dict[str, list[int]] = {}
        for number, member in enumerate(members):
            by_model.setdefault(vectors_of(member.searcher.snapshot.manifest.fingerprint), []).append(number)
        self._groups = [_Group(members, numbers) for numbers in by_model.values()]

    def find(self, query: Query, limit: int) -> FederatedResult:
        """Return at most `limit` hits. Raises: UsageError for a malformed filter, DamagedFile.

        Whoever keeps the repositories open checks their files before each call, as `resident.open_tree` does.
        """
        if len(self.members) == 1:
            return _of_one(find_hits(self.members[0].searcher, query, limit))
        results = [group.find(query, limit) for group in self._groups]
        if not results:
            return FederatedResult((), [])
        hits = merge_by_rank([hits for _, hits in results])[:limit]
        rejected = [result.rejected for result, _ in results if result.rejected is not None]
        notes = list(dict.fromkeys(note for result, _ in results for note in result.notes))
        if len(results) > 1:
            names = "; ".join(group.names for group in self._groups)
            notes.append(f"each model searched its own repositories, and the lists are merged by rank: {names}")
        meanings = {
            number: result.meaning
            for group, (result, _) in zip(self._groups, results, strict=True)
            if result.meaning is not None
            for number in group.numbers
        }
        literal = next((result.literal for result, _ in results if result.literal.quotation), results[0][0].literal)
        return FederatedResult(results[0][0].terms, hits, add_rejected(rejected), tuple(notes), meanings, literal)


def _of_one(result: SearchResult) -> FederatedResult:
    """Return the result of a search in the only repository: its own statistics and weights, and no name in its paths.

    So the scores are those of a query in that repository.
    """
    hits = [MemberHit(0, hit) for hit in result.hits]
    meanings = {} if result.meaning is None else {0: result.meaning}
    return FederatedResult(result.terms, hits, result.rejected, result.notes, meanings, result.literal)


def add_rejected(rejected: Sequence[Rejected]) -> Rejected | None:
    """Return the rejected results of several lists as those of one."""
    if not rejected:
        return None
    return Rejected(sum(one.number for one in rejected), max(one.best for one in rejected), rejected[0].least)


def merge_by_rank(lists: Sequence[Sequence[MemberHit]]) -> list[MemberHit]:
    """Merge lists of different hits by reciprocal rank (Cormack 2009); one list stays as it is.

    Scores of different models do not compare, so none may exceed that of the hit before it.
    """
    if len(lists) == 1:
        return list(lists[0])
    ranked = [(-1 / (RRF_K + rank), number, hit) for number, hits in enumerate(lists) for rank, hit in enumerate(hits)]
    merged: list[MemberHit] = []
    for _, _, found in sorted(ranked, key=lambda item: item[:2]):
        most = merged[-1].hit.score if merged else found.hit.score
        merged.append(found._replace(hit=found.hit._replace(score=min(most, found.hit.score))))
    return merged


class _Group:
    """Members with the same model: their segments and views as one index."""

    def __init__(self, members: Sequence[Member], numbers: Sequence[int]) -> None:
        self._members = [members[number] for number in numbers]
        self.numbers = numbers
        self._numbers = {members[number].name: number for number in numbers}
        searchers = [member.searcher for member in self._members]
        self._segments = CombinedSegments([segment for searcher in searchers for segment in searcher.snapshot.segments])
        self._view = CombinedView(
            [RepositoryView(member.name, member.searcher.view, member.searcher.files_in_tree)
             for member in self._members]
        )  # fmt: skip
        self._first_blobs: list[int] = np.cumsum(
            [0] + [len(searcher.snapshot.blob_first) - 1 for searcher in searchers]
        ).tolist()
        own = [member.is_own for member in self._members]
        self._commits = FederatedCommits(list(self._numbers), searchers, own)
        # One scope for files and one for records, as in a Searcher.
        self._whole: dict[tuple[str, ...], Scope] = {}

    def find(self, query: Query, limit: int) -> tuple[SearchResult, list[MemberHit]]:
        """Return the result of a search, and its hits by member."""
        first = self._members[0].searcher

        def run(mode: str) -> SearchResult:
            return search(
                self._scopes(query.filters),
                parse_query(query.text),
                first.encoder,
                limit=limit,
                options=SearchOptions(mode, first.workspace.settings.fusion, read_texts=self._read_texts),
                min_score=query.least_score,
            )

        result = search_or_words(query.mode, run)
        return result, [self._to_member(hit) for hit in result.hits]

    def _read_texts(self, hits: Sequence[Hit]) -> dict[tuple[str, str], bytes]:
        """Return the texts of hits in the common view by their `source`."""
        by_member: dict[int, list[Hit]] = {}
        for number, hit in map(self._to_member, hits):
            by_member.setdefault(number, []).append(hit)
        searchers = {number: member.searcher for number, member in zip(self.numbers, self._members, strict=True)}
        texts: dict[tuple[str, str], bytes] = {}
        for number, own in by_member.items():
            texts |= searchers[number].read_texts(own)
        return texts

    @property
    def names(self) -> str:
        """Names of the members."""
        return ", ".join(self._numbers)

    def _to_member(self, hit: Hit) -> MemberHit:
        return MemberHit(self._numbers[hit.path.partition(_MARK)[0]], _seen_from_its_repository(hit))

    def _scopes(self, filters: SearchFilters) -> list[Scope]:
        """Return the rows that pass filters, those of files, of records and of commits apart, as a Searcher does."""
        kinds = kinds_of(filters, self._members[0].searcher.selection)
        parts = [self._scope(filters, (CODE,), (CODE,))] if CODE in kinds and not filters.records.any else []
        records = tuple(name for name in FOLDERS if name in kinds)
        if records and any(member.searcher.records is not None for member in self._members):
            parts.append(self._scope(filters, records, tuple(FOLDERS)))
        return parts + (self._commits.scopes(filters) if COMMITS in kinds else [])

    def _scope(self, filters: SearchFilters, kinds: tuple[str, ...], whole_kinds: tuple[str, ...]) -> Scope:
        whole = self._whole_scope(whole_kinds)
        if kinds == whole_kinds and not filters.any:
            return whole
        # Paths are filtered as in their repository; only languages and chunk types are left for all together.
        own = row_filters(filters)
        others = Filters(languages=own.languages, chunk_types=own.chunk_types)
        return Scope(self._segments, self._view, others, self._passing(filters, kinds), whole)

    def _whole_scope(self, kinds: tuple[str, ...]) -> Scope:
        if kinds not in self._whole:
            passing, elsewhere = self._passing(ALL_CONTENT, kinds), self._elsewhere()
            scope = self._whole[kinds] = Scope(self._segments, self._view, Filters(), passing, elsewhere=elsewhere)
            scope.recent_terms, scope.recent_definitions = {}, {}
            if kinds == tuple(FOLDERS):
                scope.outdated, scope.read_times = self._outdated(), self._times().read
        return self._whole[kinds]

    def _passing(self, filters: SearchFilters, kinds: tuple[str, ...]) -> NDArray[np.int64]:
        """Return the blob of each entry that passes the filters on paths and records; negative for the others."""
        parts = []
        for member, base in zip(self._members, self._first_blobs, strict=False):
            # Blobs are numbered over the segments of all members, in their order.
            own = member.searcher.scopes.passing_blobs(filters, kinds)
            own = np.where(passing_paths(member.searcher.view, row_filters(filters)), own, -2)
            parts.append(np.where(own >= 0, own + base, own))
        return np.concatenate(parts)

    def _records(self) -> list[tuple[Records, int]]:
        """Return the records of each member that has some, and the entry of the common view at which they begin."""
        sizes = [len(member.searcher.view) for member in self._members]
        searchers = [member.searcher for member in self._members]
        return [
            (searcher.records, base + searcher.files_in_tree)
            for searcher, base in zip(searchers, accumulate(sizes, initial=0), strict=False)
            if searcher.records is not None
        ]

    def _times(self) -> RecordTimes:
        records = self._records()
        return RecordTimes([own for own, _ in records], [first for _, first in records])

    def _outdated(self) -> Outdated | None:
        """Return the outdated notes of all members. A note replaces others of its own repository only."""
        found = (find_outdated(records, first) for records, first in self._records())
        parts = [own for own in found if own is not None]
        if not parts:
            return None
        successors = {entry: others for part in parts for entry, others in part.successors.items()}
        return Outdated(successors, {entry: moment for part in parts for entry, moment in part.expiry.items()})

    def _elsewhere(self) -> NDArray[np.bool_] | None:
        """Return which entries are not of the user's repository; None if that is not searched."""
        if not any(member.is_own for member in self._members):
            return None
        sizes = [len(member.searcher.view) for member in self._members]
        return np.repeat([not member.is_own for member in self._members], sizes)


def _seen_from_its_repository(hit: Hit) -> Hit:
    name, _, path = hit.path.partition(_MARK)
    copies = tuple(place._replace(path=_path_seen_from(name, place.path)) for place in hit.copies)
    return hit._replace(path=path, copies=copies, others=tuple(map(_seen_from_its_repository, hit.others)))


def _path_seen_from(name: str, path: str) -> str:
    """Return a path of the common view as seen from a repository: with the name of its repository if that differs."""
    other, _, own_path = path.partition(_MARK)
    return own_path if other == name else f"{other}:{own_path}"
