"""Merging the answers of two searches: the order, the scores, the copies, and the sums."""

from gitmem.answering.answer import Answer, ViewState
from gitmem.answering.federated_answer import (
    FederatedAnswer,
    HitPosition,
    SearchedRepository,
    answer_of_none,
)
from gitmem.answering.federated_merge import merge_answers
from gitmem.answering.repository_selection import SkippedRepository
from gitmem.answering.search_query import Query
from gitmem.search.engine import Rejected
from gitmem.search.hits import Hit

QUERY = Query("sign the cookie")
VIEW = ViewState("HEAD", None, "", None, dirty=False, stale=False, missing=0, files=1, source="commit", uncommitted=0)


def part(name: str, model: str, *found: tuple[str, float]) -> FederatedAnswer:
    """Return the answer of one repository with hits of some blobs and scores."""
    hits = [(Hit(f"{blob}.py", 0, 9, 1, 2, "function", "", "python", blob, 0, score, {}), ["text"])
            for blob, score in found]  # fmt: skip
    answer = Answer(
        QUERY, VIEW, (), hits, {}, [], {}, {}, {}, [(None, None)] * len(hits), [[]] * len(hits)
    )  # fmt: skip
    return FederatedAnswer(
        query=QUERY,
        order=[HitPosition(0, index) for index in range(len(hits))],
        answers={0: answer},
        searched=[SearchedRepository(name, None, None, "", stale=False, missing=0)],
        skipped=[],
        stats={"chunks": 10, "results": len(hits), "below_min_score": 1},
        notes=["a note"],
        rejected=Rejected(1, 0.1, 0.2),
        models=frozenset([model]),
    )


def shown(answer: FederatedAnswer) -> list[tuple[str, str, float]]:
    hits = [(answer.searched[number].name, answer.answers[number].hits[at][0]) for number, at in answer.order]
    return [(name, hit.blob, hit.score) for name, hit in hits]


def test_scores_of_one_model_decide_and_of_equal_ones_the_first_part_comes_first() -> None:
    merged = merge_answers([part("web", "m", ("a", 0.9), ("b", 0.4)), part("org:shop", "m", ("c", 0.9), ("d", 0.6))], 3)
    assert shown(merged) == [("web", "a", 0.9), ("org:shop", "c", 0.9), ("org:shop", "d", 0.6)]
    assert merged.stats == {"chunks": 20, "results": 3, "below_min_score": 2}
    assert merged.rejected == Rejected(2, 0.1, 0.2)
    assert merged.notes == ["a note"]


def test_lists_of_different_models_are_merged_by_rank_and_scores_never_rise() -> None:
    merged = merge_answers([part("web", "m", ("a", 0.3), ("b", 0.2)), part("org:shop", "n", ("c", 0.9), ("d", 0.1))], 9)
    assert shown(merged) == [("web", "a", 0.3), ("org:shop", "c", 0.3), ("web", "b", 0.2), ("org:shop", "d", 0.1)]


def test_the_same_lines_are_shown_once_with_their_other_place() -> None:
    merged = merge_answers([part("web", "m", ("a", 0.3)), part("org:web", "m", ("a", 0.8), ("b", 0.1))], 9)
    assert shown(merged) == [("web", "a", 0.3), ("org:web", "b", 0.1)]
    assert [copy.path for copy in merged.answers[0].hits[0][0].copies] == ["org:web:a.py"]


def test_a_part_that_searched_nothing_leaves_the_others_as_they_are() -> None:
    alone = part("web", "m", ("a", 0.3))
    skipped = [SkippedRepository("org:shop", "gone")]
    merged = merge_answers([alone, answer_of_none(QUERY, skipped)], 9)
    assert shown(merged) == shown(alone)
    assert merged.skipped == skipped
    assert shown(merge_answers([answer_of_none(QUERY, skipped), alone], 9)) == shown(alone)
