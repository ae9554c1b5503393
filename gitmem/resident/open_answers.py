"""Answers from an open repository that are equal to those of a new process, or none at all."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from gitmem.answering.answer import Answer, ViewState
from gitmem.answering.impact_answer import (
    ImpactAnswer,
    ImpactQuery,
    check_impact_query,
    compare_commits,
    impact_of,
    newer_tree,
)
from gitmem.answering.map_answer import Estimate, MapAnswer, MapQuery, check_map_query, map_of
from gitmem.answering.repository_selection import choose_members
from gitmem.answering.search_query import Query, SimilarQuery, check_query
from gitmem.answering.searched_trees import OfTree
from gitmem.answering.usage_answer import UsageAnswer, UsageQuery, check_usage_query, usages_of
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.memory.kinds import FOLDERS
from gitmem.resident.call import Call, CallCancelled
from gitmem.resident.names_answer import finish_answer
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.open_tree import OpenTree
from gitmem.resident.repositories import OpenRepositories
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.answering.federated_answer import FederatedAnswer
    from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
    from gitmem.answering.searched_trees import OfRepositories

Result = TypeVar("Result")


class Refused(CallCancelled):
    """This process would not answer as a new one does, so the client must do it."""


class OpenAnswers:
    """Answers to one call from an open repository."""

    def __init__(self, repository: OpenRepository, repositories: OpenRepositories, call: Call) -> None:
        self._repository = repository
        self._repositories = repositories
        self._call = call

    def workspace(self) -> Workspace:
        """Return the repository with its present state and settings. Raises ConfigError, NotARepository."""
        return self._repository.current_workspace()

    def check(self) -> None:
        """Raise CallCancelled if the client is gone."""
        self._call.check()

    def answer_repositories(
        self, names: Sequence[str], query: Query, selection: TreeSelection, *, refresh: bool
    ) -> "FederatedAnswer":
        """Answer like `answering.federated_query.answer_repositories`. Raises: as that, and CallCancelled."""
        from gitmem.resident.open_federation import answer_open_repositories

        if not refresh or self._repository.is_building:
            raise Refused
        workspace = self.workspace()
        chosen = choose_members(self._repositories.environment, names, workspace)
        return answer_open_repositories(self._repositories, chosen, query, selection, workspace.settings, self._call)

    def answer(self, query: Query | SimilarQuery, selection: TreeSelection, *, refresh: bool) -> Answer:
        """Answer like `answering.answer.answer`. Raises: as that, and CallCancelled."""
        started = time.perf_counter()
        limit = check_query(query, selection, self.workspace().settings)

        def use(tree: OpenTree) -> Answer:
            searcher = tree.searcher
            # The records of an open working tree count as missing, although a query of code alone does not open them.
            if searcher.missing_files and not any(kind in FOLDERS for kind in query.filters.kinds or FOLDERS):
                raise Refused
            result = tree.answer(query, limit)
            if result.view.stale:
                tree.mark_stale()
            result.notes[:0] = tree.notes
            return result

        result = self._with_tree(selection, query.filters.kinds, use, refresh=refresh)
        result.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
        return result

    def usages(
        self, query: UsageQuery, selection: TreeSelection, *, refresh: bool, mask: bool
    ) -> UsageAnswer[ViewState]:
        """Answer like `answering.usage_answer.read_usages`. Raises: as that, and CallCancelled."""
        check_usage_query(query)

        def use(tree: OpenTree) -> UsageAnswer[ViewState]:
            return usages_of(tree.searcher, query, tree.reader, mask=mask, check=self._call.check)

        return self._names_answer(selection, use, refresh=refresh)

    def map(
        self, query: MapQuery, estimate: Estimate, selection: TreeSelection, *, refresh: bool, mask: bool
    ) -> MapAnswer[ViewState]:
        """Answer like `answering.map_answer.read_map`. Raises: as that, and CallCancelled."""
        check_map_query(query)

        def use(tree: OpenTree) -> MapAnswer[ViewState]:
            return map_of(tree.searcher, query, estimate, tree.reader, mask=mask, check=self._call.check)

        return self._names_answer(selection, use, refresh=refresh)

    def impact(self, query: ImpactQuery, *, refresh: bool, mask: bool) -> ImpactAnswer[ViewState]:
        """Answer like `answering.impact_answer.read_impact`. Raises: as that, and CallCancelled."""
        check_impact_query(query)
        comparison = compare_commits(self.workspace(), query, self._call.check)

        def use(tree: OpenTree) -> ImpactAnswer[ViewState]:
            return impact_of(tree.searcher, comparison, query, tree.reader, mask=mask, check=self._call.check)

        return self._names_answer(newer_tree(query, comparison), use, refresh=refresh)

    def answer_joined(
        self, query: "TreesQuery", use: "Callable[[JoinedTrees, Callable[[], None]], OfRepositories]", *, refresh: bool
    ) -> "OfRepositories":
        """Answer like `answering.joined_trees.read_joined`. Raises: as that, and CallCancelled."""
        from gitmem.resident.open_federation import answer_joined

        if not refresh or self._repository.is_building:
            raise Refused
        chosen = query.choose(self._repositories.environment, self.workspace())
        answer = answer_joined(
            self._repositories, chosen, query, self._call, lambda trees: use(trees, self._call.check)
        )
        if any(one.missing for one in answer.trees.searched):  # perhaps records, which do not matter here
            raise Refused
        return answer

    def _names_answer(self, selection: TreeSelection, find: Callable[[OpenTree], OfTree], *, refresh: bool) -> OfTree:
        """Return an answer about the names in an open tree. Raises: Refused if files are not indexed."""
        started = time.perf_counter()

        def use(tree: OpenTree) -> OfTree:
            if tree.searcher.missing_files:  # perhaps records, which do not matter here
                raise Refused
            return finish_answer(tree, find(tree))

        # Without kinds, this is the tree that searches have opened.
        result = self._with_tree(selection, (), use, refresh=refresh)
        result.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
        return result

    def _with_tree(
        self, selection: TreeSelection, kinds: tuple[str, ...], use: Callable[[OpenTree], Result], *, refresh: bool
    ) -> Result:
        """Return the result of a use of an open tree. Raises: Refused if a new process would use another one."""
        # A new process would meanwhile answer from the finished part of the index.
        if self._repository.is_building:
            raise Refused

        def checked(tree: OpenTree) -> Result:
            self._call.check()
            return use(tree)

        if refresh:
            return self._repository.with_tree(selection, kinds, self._call, checked)
        # An open tree may be used as it is, but not be brought up to date.
        current = self._repository.with_current_tree(selection, self._call, checked)
        if current is None:
            raise Refused
        return current
