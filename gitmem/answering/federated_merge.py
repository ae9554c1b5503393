"""Merge the answers of several searches, for example of this machine and of a server, into one list.

A score is the likelihood that a hit is relevant, fitted on labelled queries (`search.calibration`), and the evidence of
the query in its own repositories is part of it. So scores of one model compare, although each search has its own
statistics of words. The lists of different models are merged by rank.
"""

from collections.abc import Sequence

from gitmem.answering.answer import Answer
from gitmem.answering.federated_answer import FederatedAnswer, HitPosition
from gitmem.answering.federated_search import MemberHit, add_rejected, merge_by_rank
from gitmem.locations import Location
from gitmem.named_tuple import NamedTuple
from gitmem.search.hits import Hit


class _Numbering(NamedTuple):
    """Hits of all parts in one numbering, and the numbers in the list of each part, best first."""

    positions: list[HitPosition]
    hits: list[Hit]
    lists: list[list[int]]


def merge_answers(parts: Sequence[FederatedAnswer], limit: int) -> FederatedAnswer:
    """Return the answers as one with at most `limit` hits. Of equal scores that of an earlier part comes first.

    The same lines of one blob are shown once, in the first part that has them; their other places become copies.
    """
    answers: dict[int, Answer] = {}
    base = 0
    for part in parts:
        answers |= {base + number: of_member for number, of_member in part.answers.items()}
        base += len(part.searched)
    numbering = _join_copies(parts, _number(parts))
    models = frozenset[str]().union(*(part.models for part in parts))
    ranking = _merge(numbering, is_one_model=len(models) == 1)[:limit]
    order = [numbering.positions[one.member] for one in ranking]
    new_hits = {numbering.positions[one.member]: one.hit for one in ranking}
    return FederatedAnswer(
        query=parts[0].query,
        order=order,
        answers={number: _with_hits(answers[number], number, new_hits) for number in answers},
        searched=[one for part in parts for one in part.searched],
        skipped=[one for part in parts for one in part.skipped],
        stats={
            "chunks": sum(part.stats["chunks"] for part in parts),
            "results": len(order),
            "below_min_score": sum(part.stats["below_min_score"] for part in parts),
        },
        notes=list(dict.fromkeys(note for part in parts for note in part.notes)),
        rejected=add_rejected([part.rejected for part in parts if part.rejected is not None]),
        models=models,
    )


def _number(parts: Sequence[FederatedAnswer]) -> _Numbering:
    """Number the hits of all parts, and their repositories over all parts."""
    numbering = _Numbering([], [], [])
    base = 0
    for part in parts:
        first = len(numbering.hits)
        for member, index in part.order:
            numbering.positions.append(HitPosition(base + member, index))
            numbering.hits.append(part.answers[member].hits[index][0])
        numbering.lists.append(list(range(first, len(numbering.hits))))
        base += len(part.searched)
    return numbering


def _join_copies(parts: Sequence[FederatedAnswer], numbering: _Numbering) -> _Numbering:
    """Drop each hit whose lines an earlier part shows, and name its place there."""
    names = [one.name for part in parts for one in part.searched]
    hits, lists = list(numbering.hits), []
    leader_of: dict[tuple[str, int, int], int] = {}
    for own in numbering.lists:
        leaders = []
        for number in own:
            hit = hits[number]
            leader = leader_of.get((hit.blob, hit.start, hit.end))
            if leader is None:
                leaders.append(number)
                continue
            place = Location(f"{names[numbering.positions[number].member]}:{hit.path}")
            hits[leader] = hits[leader]._replace(copies=(*hits[leader].copies, place, *hit.copies))
        # Two repositories of one part may share a blob: a search decides itself which of its own hits are copies.
        leader_of = {
            (hits[number].blob, hits[number].start, hits[number].end): number for number in leaders
        } | leader_of
        lists.append(leaders)
    return _Numbering(numbering.positions, hits, lists)


def _merge(numbering: _Numbering, *, is_one_model: bool) -> list[MemberHit]:
    """Return the hits in one order; `member` is the number of a hit."""
    lists = [[MemberHit(number, numbering.hits[number]) for number in own] for own in numbering.lists]
    if not is_one_model:
        return merge_by_rank([own for own in lists if own] or [[]])
    # Sorting is stable, and a list may have equal scores in an order of its own.
    return sorted((found for own in lists for found in own), key=lambda found: -found.hit.score)


def _with_hits(answer: Answer, number: int, new_hits: dict[HitPosition, Hit]) -> Answer:
    """Return an answer with the hits as they are in the merged list."""
    hits = [(new_hits.get(HitPosition(number, index), hit), lines) for index, (hit, lines) in enumerate(answer.hits)]
    return answer._replace(hits=hits)
