"""Answers from an open repository that are equal to those of a new process, or none at all."""

import time

from gitmem.answering.answer import Answer, answer_open
from gitmem.answering.search_query import Query, SimilarQuery, check_query
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.memory.kinds import FOLDERS
from gitmem.resident.call import Call, CallCancelled
from gitmem.resident.open_repository import OpenRepository, OpenTree
from gitmem.workspace import Workspace


class Refused(CallCancelled):
    """This process would not answer as a new one does, so the client must do it."""


class OpenAnswers:
    """Answers to one call from an open repository."""

    def __init__(self, repository: OpenRepository, call: Call) -> None:
        self._repository = repository
        self._call = call

    def workspace(self) -> Workspace:
        """Return the repository with its present state and settings. Raises ConfigError, NotARepository."""
        return self._repository.current_workspace()

    def check(self) -> None:
        """Raise CallCancelled if the client is gone."""
        self._call.check()

    def answer(self, query: Query | SimilarQuery, selection: TreeSelection, *, refresh: bool) -> Answer:
        """Answer like `answering.answer.answer`. Raises: as that, and CallCancelled."""
        started = time.perf_counter()
        limit = check_query(query, selection, self.workspace().settings)
        # A new process would meanwhile answer from the finished part of the index.
        if self._repository.is_building:
            raise Refused

        def use(tree: OpenTree) -> Answer:
            searcher = tree.searcher
            self._call.check()
            # The records of an open working tree count as missing, although a query of code alone does not open them.
            if searcher.missing_files and not any(kind in FOLDERS for kind in query.filters.kinds or FOLDERS):
                raise Refused
            result = answer_open(searcher, query, limit, tree.reader)
            if result.view.stale:
                tree.mark_stale()
            result.notes[:0] = tree.notes
            return result

        if refresh:
            result = self._repository.with_tree(selection, query.filters.kinds, self._call, use)
        else:
            # An open tree may be used as it is, but not be brought up to date.
            current = self._repository.with_current_tree(selection, self._call, use)
            if current is None:
                raise Refused
            result = current
        result.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
        return result
