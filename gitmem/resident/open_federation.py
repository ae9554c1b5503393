"""Answer one query from several repositories that a process holds open."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext

from gitmem.answering.federated_answer import (
    FederatedAnswer,
    answer_members,
    answer_of_none,
    skip_repository,
)
from gitmem.answering.federated_query import require_members
from gitmem.answering.federated_search import Member
from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
from gitmem.answering.repository_selection import (
    MISSING,
    ChosenMembers,
    ChosenRepository,
    SelectTree,
    SkippedRepository,
    check_federated,
    describe_problem,
)
from gitmem.answering.search_query import Query, check_query
from gitmem.answering.searched_trees import OfRepositories
from gitmem.errors import GitmemError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.named_tuple import NamedTuple
from gitmem.resident.call import Call
from gitmem.resident.federated_call import answer_chosen
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.open_tree import OpenTree
from gitmem.resident.repositories import OpenRepositories
from gitmem.settings import Settings


def answer_open_repositories(
    repositories: OpenRepositories,
    chosen: ChosenMembers,
    query: Query,
    selection: TreeSelection,
    settings: Settings,
    call: Call,
) -> FederatedAnswer:
    """Answer from repositories, those of this machine from trees that stay open.

    Raises: UsageError, NoIndex if none can be searched, CallCancelled.
    """

    def answer_local() -> FederatedAnswer:
        return _answer_local(repositories, chosen.local, query, selection, settings, call)

    return answer_chosen(chosen, query, selection, settings, answer_local)


def _answer_local(
    repositories: OpenRepositories,
    chosen: Sequence[ChosenRepository],
    query: Query,
    selection: TreeSelection,
    settings: Settings,
    call: Call,
) -> FederatedAnswer:
    """Answer like `federated_query.answer_repositories`. Raises: as that, CallCancelled."""
    started = time.perf_counter()
    check_federated(query, selection)
    limit = check_query(query, selection, settings)
    with ExitStack() as stack:
        lent = _lend(repositories, chosen, query.filters.kinds, lambda _: selection, call, stack)
        trees, members = lent.trees, lent.members
        if not members:
            return answer_of_none(query, lent.skipped)
        combination = repositories.combine(members, settings.search_cache_seconds)
        answer = answer_members(combination.searcher, query, limit, lent.open_blobs, lent.skipped, combination.find)
        for number, of_member in answer.answers.items():
            # The file that was read differs from the one that was searched: the next call looks again.
            if of_member.view.stale:
                trees[number].mark_stale()
        opening = lent.notes
    elapsed = round((time.perf_counter() - started) * 1000, 1)
    return answer._replace(
        stats={**answer.stats, "query_time_ms": elapsed}, notes=[*opening, *answer.notes, *call.notes]
    )


def answer_joined(
    repositories: OpenRepositories,
    chosen: Sequence[ChosenRepository],
    query: TreesQuery,
    call: Call,
    use: Callable[[JoinedTrees], OfRepositories],
) -> OfRepositories:
    """Answer like `joined_trees.read_joined`, from trees that stay open. Raises: as that, and CallCancelled."""
    started = time.perf_counter()
    with ExitStack() as stack:
        # Without kinds, these are the trees that searches have opened.
        lent = _lend(repositories, chosen, (), query.selection_of, call, stack)
        require_members(lent.members, lent.skipped)
        answer = use(JoinedTrees(lent.members, lent.open_blobs, lent.skipped))
        for tree, one in zip(lent.trees, answer.trees.searched, strict=True):
            if one.stale:
                tree.mark_stale()
        answer.notes[:0] = lent.notes
    answer.notes.extend(call.notes)
    answer.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
    return answer


class _Lent(NamedTuple):
    """Trees of some repositories that a call may use, and the repositories that have none."""

    trees: list[OpenTree]
    members: list[Member]
    skipped: list[SkippedRepository]

    def open_blobs(self, number: int) -> AbstractContextManager[ObjectReader]:
        """Return the blob reader of a member, which stays open for the next call."""
        return nullcontext(self.trees[number].reader)

    @property
    def notes(self) -> list[str]:
        """Notes about the opening of each tree, with the name of its repository."""
        return [
            f"{one.name}: {note}" for one, tree in zip(self.members, self.trees, strict=True) for note in tree.notes
        ]


def _lend(
    repositories: OpenRepositories,
    chosen: Sequence[ChosenRepository],
    kinds: tuple[str, ...],
    selection_of: SelectTree,
    call: Call,
    stack: ExitStack,
) -> _Lent:
    """Return the trees of some repositories, for as long as the stack is open. Raises: CallCancelled."""
    lent = _Lent([], [], [])
    # Only the user's own repository gets a first index: a search must not start to index everything on the machine.
    of_others = Call(builds_index=False)
    for one in chosen:
        call.check()
        try:
            tree = stack.enter_context(
                _open(repositories, one).lend_tree(selection_of(one), kinds, call if one.is_own else of_others)
            )
        except GitmemError as problem:
            lent.skipped.append(skip_repository(one, _describe(repositories, one, problem), problem))
            continue
        lent.trees.append(tree)
        lent.members.append(Member(one.name, tree.searcher, one.is_own))
    return lent


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
