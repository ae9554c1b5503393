"""State of one searched tree, or of several, as JSON and in words: the same for the command line, MCP and HTTP."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gitmem.answering.answer import ViewState
from gitmem.answering.answer_json import describe_view, view_json
from gitmem.answering.federated_json import repositories_json
from gitmem.answering.repository_selection import describe_skipped
from gitmem.display import count

if TYPE_CHECKING:
    from gitmem.answering.searched_trees import SearchedRepositories, TreesAnswer

    State = ViewState | SearchedRepositories


def trees_json(trees: "State") -> dict[str, Any]:
    """Return the state as fields of an answer: `view`, or the searched and skipped repositories."""
    return {"view": view_json(trees)} if isinstance(trees, ViewState) else repositories_json(*trees)


def stats_json(answer: "TreesAnswer[State]") -> dict[str, Any]:
    """Return sizes, times and notes of an answer. Each of several repositories has its own number of missing files."""
    missing = {"files_missing": answer.trees.missing} if isinstance(answer.trees, ViewState) else {}
    return {**answer.stats, **missing, "notes": answer.notes}


def trees_words(trees: "State") -> str:
    """Return the words for a tree without results: `83 files`, `2 repositories`."""
    if isinstance(trees, ViewState):
        return count(trees.files, "file")
    return count(len(trees.searched), "repository", "repositories")


def describe_trees(trees: "State") -> str:
    """Return which tree was searched, or how many repositories."""
    if isinstance(trees, ViewState):
        return describe_view(trees)
    left_out = f", {len(trees.skipped)} skipped" if trees.skipped else ""
    stale = sum(one.stale for one in trees.searched)
    return f"{trees_words(trees)}{left_out}{f', {stale} stale' if stale else ''}"


def tree_notes(trees: "State", notes: Sequence[str]) -> list[str]:
    """Return the notes of an answer, behind those about repositories that were skipped or are incomplete."""
    if isinstance(trees, ViewState):
        return list(notes)
    reasons = [f"skipped {line}" for line in describe_skipped(trees.skipped)]
    missing = [
        f"{one.name}: {count(one.missing, 'file')} not indexed yet (gitmem -C {one.folder} index{one.index_options})"
        for one in trees.searched
        if one.missing
    ]
    return [*reasons, *missing, *notes]
