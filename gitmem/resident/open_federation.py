"""Answer one query from several repositories that a process holds open."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext

from gitmem.answering.federated_answer import FederatedAnswer, SkippedRepository, answer_members
from gitmem.answering.federated_query import require_members
from gitmem.answering.federated_search import Member
from gitmem.answering.repository_selection import MISSING, ChosenRepository, check_federated, describe_problem
from gitmem.answering.search_query import Query, check_query
from gitmem.errors import GitmemError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.resident.call import Call
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.open_tree import OpenTree
from gitmem.resident.repositories import OpenRepositories
from gitmem.settings import Settings


def answer_open_repositories(
    repositories: OpenRepositories,
    chosen: Sequence[ChosenRepository],
    query: Query,
    selection: TreeSelection,
    settings: Settings,
    call: Call,
) -> FederatedAnswer:
    """Answer like `federated_query.answer_repositories`, from trees that stay open. Raises: as that, CallCancelled."""
    started = time.perf_counter()
    check_federated(query, selection)
    limit = check_query(query, selection, settings)
    with ExitStack() as stack:
        trees: list[OpenTree] = []
        members: list[Member] = []
        skipped: list[SkippedRepository] = []
        # Only the user's own repository gets a first index: a search must not start to index everything on the machine.
        of_others = Call(builds_index=False)
        for one in chosen:
            call.check()
            try:
                tree = stack.enter_context(
                    _lend(repositories, one, query, selection, call if one.is_own else of_others)
                )
            except GitmemError as problem:
                skipped.append(SkippedRepository(one.name, _describe(repositories, one, problem)))
                continue
            trees.append(tree)
            members.append(Member(one.name, tree.searcher, one.is_own))
        require_members(members, skipped)

        def open_blobs(number: int) -> AbstractContextManager[ObjectReader]:
            return nullcontext(trees[number].reader)  # it stays open for the next call

        combination = repositories.combine(members, settings.search_cache_seconds)
        answer = answer_members(combination.searcher, query, limit, open_blobs, skipped, combination.find)
        for number, of_member in answer.answers.items():
            # The file that was read differs from the one that was searched: the next call looks again.
            if of_member.view.stale:
                trees[number].mark_stale()
        opening = [f"{one.name}: {note}" for one, tree in zip(members, trees, strict=True) for note in tree.notes]
    elapsed = round((time.perf_counter() - started) * 1000, 1)
    return answer._replace(
        stats={**answer.stats, "query_time_ms": elapsed}, notes=[*opening, *answer.notes, *call.notes]
    )


def _lend(
    repositories: OpenRepositories, chosen: ChosenRepository, query: Query, selection: TreeSelection, call: Call
) -> AbstractContextManager[OpenTree]:
    return _open(repositories, chosen).lend_tree(selection, query.filters.kinds, call)


def _open(repositories: OpenRepositories, chosen: ChosenRepository) -> OpenRepository:
    # No socket for each: clients find the server by the repository that they work in.
    return repositories.get(chosen.folder, announce=chosen.is_own)


def _describe(repositories: OpenRepositories, chosen: ChosenRepository, problem: GitmemError) -> str:
    if not chosen.folder.is_dir():
        return MISSING
    try:
        workspace = _open(repositories, chosen).workspace
    except GitmemError:
        workspace = None
    return describe_problem(problem, chosen, workspace)
