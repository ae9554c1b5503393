"""Answer which callers changes touch, in the repository that they are in and in others that import its packages."""

from collections.abc import Callable, Sequence

from gitmem.answering.impact_answer import (
    ImpactAnswer,
    ImpactQuery,
    changes_of,
    check_impact_query,
    compare_commits,
    impact_in,
    newer_tree,
)
from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
from gitmem.answering.range_changes import Comparison
from gitmem.answering.searched_trees import SearchedRepositories
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace


class ImpactStart(NamedTuple):
    """Compared range, and the trees to look in: of the user's own repository its newer end."""

    comparison: Comparison | None
    trees: TreesQuery


def start_impact(
    own: Workspace, query: ImpactQuery, names: Sequence[str], check: Callable[[], None] | None = None
) -> ImpactStart:
    """Compare a range of a repository, to look for callers in others too.

    Raises: UsageError, UnknownRevision, GitFailed, WorkersFailed.
    """
    check_impact_query(query)
    comparison = compare_commits(own, query, check)
    return ImpactStart(comparison, TreesQuery(names, WORKING_TREE, newer_tree(query, comparison)))


def impact_joined(
    trees: JoinedTrees,
    comparison: Comparison | None,
    query: ImpactQuery,
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
) -> ImpactAnswer[SearchedRepositories]:
    """Return the callers in several repositories; without a comparison, of the uncommitted files of the user's own.

    Raises: DamagedFile, UsageError, and NoIndex if the own one cannot be searched.
    """
    changes = changes_of(trees.require_own().searcher, comparison, check)
    return impact_in(trees, changes, query, mask=mask, check=check)
