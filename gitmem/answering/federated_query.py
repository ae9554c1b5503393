"""Answer one query from several repositories: open them, search them together, name those that cannot be searched."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

from gitmem.answering.repository_ids import is_published
from gitmem.answering.repository_selection import (
    ChosenRepository,
    check_federated,
    describe_skipped,
    start_repositories,
)
from gitmem.answering.search_query import Query, check_query
from gitmem.errors import NoIndex, UnknownRevision
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.workspace import Workspace, read_user_settings

if TYPE_CHECKING:
    from gitmem.answering.federated_answer import FederatedAnswer
    from gitmem.answering.repository_selection import SkippedRepository
    from gitmem.git.object_reader import ObjectReader


def answer_repositories(
    own: Workspace | None,
    chosen: Sequence[ChosenRepository],
    query: Query,
    selection: TreeSelection,
    environment: Mapping[str, str],
    *,
    refresh: bool = True,
) -> "FederatedAnswer":
    """Answer a query from some repositories; with `refresh` the user's own one is indexed first.

    The answer may be that none could be searched. Raises: UsageError.
    """
    started = time.perf_counter()
    check_federated(query, selection)
    limit = check_query(query, selection, own.settings if own else read_user_settings(environment))
    with ExitStack() as stack:
        pending = start_repositories(chosen, own, lambda _: selection, environment, stack)
        # numpy and the search are imported while git runs.
        from gitmem.answering.federated_answer import answer_members, answer_of_none
        from gitmem.answering.federated_members import open_members
        from gitmem.answering.federated_search import FederatedSearcher
        from gitmem.git.objects import open_reader

        members, skipped = open_members(pending, query.filters.kinds, lambda _: selection, refresh=refresh)
        if not members:
            return answer_of_none(query, skipped)

        def open_blobs(number: int) -> AbstractContextManager["ObjectReader"]:
            searcher = members[number].searcher
            return open_reader(searcher.tree.location, bulk=False, files=searcher.files)

        answer = answer_members(FederatedSearcher(members), query, limit, open_blobs, skipped)
    elapsed = round((time.perf_counter() - started) * 1000, 1)
    return answer._replace(stats={**answer.stats, "query_time_ms": elapsed})


def require_searched(answer: "FederatedAnswer") -> "FederatedAnswer":
    """Return an answer. Raises: as `require_members`."""
    require_members(answer.searched, answer.skipped)
    return answer


def require_members(members: Sequence[object], skipped: "Sequence[SkippedRepository]") -> None:
    """Raise NoIndex if no repository can be searched, UnknownRevision if each one lacks the revision."""
    if members:
        return
    if not skipped:
        raise NoIndex("no repository is known", hint="gitmem repos add PATH")
    unknown = [one.unknown_revision for one in skipped if one.unknown_revision]
    if len(unknown) == len(skipped) and len({message for message, _ in unknown}) == 1:
        hint = unknown[0][1] if len(set(unknown)) == 1 else "name a revision that one of these repositories has"
        raise UnknownRevision(unknown[0][0], hint=hint)
    reasons = "; ".join(describe_skipped(skipped))
    hint = "gitmem org repos" if all(is_published(one.name) for one in skipped) else "gitmem repos list"
    raise NoIndex(f"none of these repositories can be searched: {reasons}", hint=hint)
