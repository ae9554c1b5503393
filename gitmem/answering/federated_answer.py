"""Answer from several repositories: the hits in one order, and what each repository adds to them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gitmem.answering.answer import Answer, answer_found, view_state
from gitmem.answering.federated_search import FederatedResult, FederatedSearcher, Member, MemberHit
from gitmem.answering.masked_answer import mask_answer
from gitmem.answering.repository_selection import ChosenRepository, SkippedRepository
from gitmem.answering.search_query import Query, kinds_of
from gitmem.errors import GitmemError, UnknownRevision
from gitmem.events import measured
from gitmem.git.object_reader import ObjectReader
from gitmem.indexing.fingerprint import vectors_of
from gitmem.memory.kinds import CODE
from gitmem.named_tuple import NamedTuple
from gitmem.search.engine import Rejected, SearchResult


class SearchedRepository(NamedTuple):
    """Repository of an answer: its folder, the searched commit or tree, and how many files are not indexed yet.

    One on the server of an organisation has no folder here.
    """

    name: str
    folder: Path | None
    commit: str | None
    tree: str
    stale: bool
    missing: int
    index_options: str = ""
    """Options of `gitmem index` that index the missing files."""


def skip_repository(chosen: ChosenRepository, reason: str, problem: GitmemError) -> SkippedRepository:
    """Return a repository of this machine as one that cannot be searched."""
    unknown = (problem.message, problem.hint) if isinstance(problem, UnknownRevision) else None
    return SkippedRepository(chosen.name, reason, chosen.is_own, unknown)


class HitPosition(NamedTuple):
    """Position of a hit: the number of its repository, and that of the hit in the repository's answer."""

    member: int
    hit: int


class FederatedAnswer(NamedTuple):
    """Answer of several repositories. `order` has the hits, best first; `answers` those of each repository with hits.

    `notes` about single repositories begin with their names. `rejected` counts results below the least score.
    `models` are those of the searched indexes: scores of one model compare.
    """

    query: Query
    order: Sequence[HitPosition]
    answers: Mapping[int, Answer]
    searched: Sequence[SearchedRepository]
    skipped: Sequence[SkippedRepository]
    stats: Mapping[str, Any]
    notes: Sequence[str]
    rejected: Rejected | None = None
    models: frozenset[str] = frozenset()


OpenBlobs = Callable[[int], AbstractContextManager[ObjectReader]]
"""Returns the blob reader of a member by its number."""


def answer_members(
    searcher: FederatedSearcher,
    query: Query,
    limit: int,
    open_blobs: OpenBlobs,
    skipped: Sequence[SkippedRepository],
    find: Callable[[Query, int], FederatedResult] | None = None,
) -> FederatedAnswer:
    """Search and read the text of the hits. `limit` is the result of `check_query`. `find` searches instead.

    Raises: UsageError, DamagedFile.
    """
    notes = []
    searches_code = CODE in kinds_of(query.filters, searcher.members[0].searcher.selection)
    if searches_code and query.filters.records.only_changes.any and len(searcher.members) > 1:
        notes.append("code is filtered by its last change in one repository at a time, and left out here")
    with measured("search.repositories", searcher.members[0].searcher.workspace.paths) as operation:
        operation.texts["query"] = query.text
        found = (find or searcher.find)(query, limit)
        answers, order = _read_answers(searcher.members, query, found, limit, open_blobs)
        operation.amounts |= {"results": len(order), "repositories": len(searcher.members)}
    members = [member.searcher for member in searcher.members]
    return FederatedAnswer(
        query=query,
        order=order,
        answers=answers,
        searched=[describe_member(member) for member in searcher.members],
        skipped=skipped,
        stats={
            "chunks": sum(member.snapshot.rows for member in members),
            "results": len(order),
            "below_min_score": found.rejected.number if found.rejected else 0,
        },
        notes=[*notes, *found.notes, *_member_notes(searcher, answers, query)],
        rejected=found.rejected,
        models=frozenset(vectors_of(member.snapshot.manifest.fingerprint) for member in members),
    )


def answer_of_none(query: Query, skipped: Sequence[SkippedRepository]) -> FederatedAnswer:
    """Return the answer if none of the repositories can be searched."""
    stats = {"chunks": 0, "results": 0, "below_min_score": 0, "query_time_ms": 0.0}
    return FederatedAnswer(query, [], {}, [], skipped, stats, [])


def _member_notes(searcher: FederatedSearcher, answers: Mapping[int, Answer], query: Query) -> list[str]:
    """Return the notes about single repositories, which begin with their names.

    One without hits has notes too: they may be the reason, for example that git could not list its changes.
    """
    return [
        f"{member.name}: {note}"
        for number, member in enumerate(searcher.members)
        for note in (answers[number].notes if number in answers else member.searcher.take_notes(query.filters))
    ]


def describe_member(member: Member) -> SearchedRepository:
    """Return which tree of a repository is searched, and how completely it is indexed."""
    searcher = member.searcher
    location, revision = searcher.tree.location, searcher.tree.revision
    folder = location.worktree or location.git_dir
    missing = searcher.missing_files
    options = view_state(searcher).index_options if missing else ""
    return SearchedRepository(member.name, folder, revision.commit, revision.tree, searcher.stale, missing, options)


def mask_federated(answer: FederatedAnswer) -> FederatedAnswer:
    """Return an answer in which the characters of secrets are dots."""
    masked = {number: mask_answer(of_member) for number, of_member in answer.answers.items()}
    added = dict.fromkeys(note for number, of_member in masked.items() for note in of_member.notes
                          if note not in answer.answers[number].notes)  # fmt: skip
    return answer._replace(answers=masked, notes=[*answer.notes, *added])


def _read_answers(
    members: Sequence[Member], query: Query, found: FederatedResult, limit: int, open_blobs: OpenBlobs
) -> tuple[dict[int, Answer], list[HitPosition]]:
    """Return the answers of the repositories with hits, and the order of all hits."""
    ranks: dict[int, list[int]] = {}
    for rank, one in enumerate(found.hits):
        ranks.setdefault(one.member, []).append(rank)
    answers: dict[int, Answer] = {}
    order: list[tuple[int, float, HitPosition]] = []
    for number, own in ranks.items():
        hits = [found.hits[rank].hit for rank in own]
        result = SearchResult(found.terms, hits, meaning=found.meanings.get(number), literal=found.literal)
        # Units that share a row with a hit fill the list only if all repositories together leave room.
        most = len(own) + limit - len(found.hits)
        with open_blobs(number) as blobs:
            answers[number] = answer_found(members[number].searcher, query, result, most, blobs)
        for index, (hit, _) in enumerate(answers[number].hits):
            rank = own[index] if index < len(own) else len(found.hits)
            order.append((rank, -hit.score, HitPosition(number, index)))
    # Further units of a row have no rank of their own, so they come behind the hits of the search.
    ordered = [position for *_, position in sorted(order)][:limit]
    return {number: _lower(answers[number], number, ordered, found.hits) for number in answers}, ordered


def _lower(answer: Answer, number: int, order: Sequence[HitPosition], found: Sequence[MemberHit]) -> Answer:
    """Return an answer in which no further unit of a row has a higher score than the last hit of the search."""
    lowest = found[-1].hit.score
    added = {one.hit for one in order[len(found) :] if one.member == number}
    hits = [(hit._replace(score=min(hit.score, lowest)) if index in added else hit, lines)
            for index, (hit, lines) in enumerate(answer.hits)]  # fmt: skip
    return answer._replace(hits=hits)
