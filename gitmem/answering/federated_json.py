"""Answers from several repositories as JSON values: the same for the command line, MCP and HTTP."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gitmem.answering.answer_json import best_rejected, hit_json, json_path

if TYPE_CHECKING:
    from gitmem.answering.federated_answer import FederatedAnswer, SearchedRepository
    from gitmem.answering.repository_selection import SkippedRepository
    from gitmem.search.explain import Explanation


def federated_json(answer: "FederatedAnswer", explanations: "Sequence[Explanation | None]") -> dict[str, Any]:
    """Return an answer as JSON values; `explanations` has one item for each hit."""
    return {
        "query": answer.query.text,
        "results": [federated_hit_json(answer, rank, explanation) for rank, explanation in enumerate(explanations)],
        **repositories_json(answer.searched, answer.skipped),
        "stats": {
            **answer.stats,
            "best_below_min_score": best_rejected(answer.rejected),
            "notes": list(answer.notes),
        },
    }


def repositories_json(
    searched: "Sequence[SearchedRepository]", skipped: "Sequence[SkippedRepository]"
) -> dict[str, Any]:
    """Return the repositories of an answer as JSON values."""
    return {
        "repositories_searched": [
            {
                "name": one.name,
                "path": json_path(str(one.folder)) if one.folder else None,
                "commit": one.commit,
                "tree": one.tree,
                "stale": one.stale,
                "files_missing": one.missing,
            }
            for one in searched
        ],
        "repositories_skipped": [{"name": one.name, "reason": one.reason} for one in skipped],
    }


def federated_hit_json(
    answer: "FederatedAnswer", rank: int, explanation: "Explanation | None" = None
) -> dict[str, Any]:
    """Return one hit as JSON values; `id` names its repository, so that `get` accepts it anywhere."""
    position = answer.order[rank]
    searched = answer.searched[position.member]
    return {
        "repository": searched.name,
        **hit_json(answer.answers[position.member], position.hit, explanation, searched.name),
    }
