"""Answer one query from several repositories: open them, search them together, name those that cannot be searched."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

from gitmem.answering.repository_selection import check_federated, choose_repositories, start_repositories
from gitmem.answering.search_query import Query, check_query
from gitmem.errors import NoIndex
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.workspace import Workspace, read_user_settings

if TYPE_CHECKING:
    from gitmem.answering.federated_answer import FederatedAnswer, SkippedRepository
    from gitmem.answering.federated_search import Member
    from gitmem.git.object_reader import ObjectReader


def answer_repositories(
    own: Workspace | None,
    names: Sequence[str],
    query: Query,
    selection: TreeSelection,
    environment: Mapping[str, str],
    *,
    refresh: bool = True,
) -> "FederatedAnswer":
    """Answer a query from the repositories of some names; with `refresh` the user's own one is indexed first.

    Raises: UsageError, and NoIndex if no repository can be searched.
    """
    started = time.perf_counter()
    check_federated(query, selection)
    chosen = choose_repositories(environment, names, own)
    limit = check_query(query, selection, own.settings if own else read_user_settings(environment))
    with ExitStack() as stack:
        pending = start_repositories(chosen, own, selection, environment, stack)
        # numpy and the search are imported while git runs.
        from gitmem.answering.federated_answer import answer_members
        from gitmem.answering.federated_members import open_members
        from gitmem.answering.federated_search import FederatedSearcher
        from gitmem.git.objects import open_reader

        members, skipped = open_members(pending, query.filters.kinds, selection, refresh=refresh)
        require_members(members, skipped)

        def open_blobs(number: int) -> AbstractContextManager["ObjectReader"]:
            searcher = members[number].searcher
            return open_reader(searcher.tree.location, bulk=False, files=searcher.files)

        answer = answer_members(FederatedSearcher(members), query, limit, open_blobs, skipped)
    elapsed = round((time.perf_counter() - started) * 1000, 1)
    return answer._replace(stats={**answer.stats, "query_time_ms": elapsed})


def require_members(members: "Sequence[Member]", skipped: "Sequence[SkippedRepository]") -> None:
    """Raise NoIndex if no repository can be searched."""
    if members:
        return
    if not skipped:
        raise NoIndex("no repository is known", hint="gitmem repos add PATH")
    reasons = "; ".join(f"{one.name}: {one.reason}" for one in skipped)
    raise NoIndex(f"none of these repositories can be searched: {reasons}", hint="gitmem repos list")
