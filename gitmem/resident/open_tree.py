"""One open tree of a repository, shared by any number of calls at the same time."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from gitmem.answering.answer import Answer, answer_open, find_hits
from gitmem.answering.search_query import Query, SimilarQuery
from gitmem.answering.searcher import Searcher
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.named_tuple import NamedTuple
from gitmem.resident.search_cache import SearchCache
from gitmem.search.engine import SearchResult
from gitmem.workspace import Workspace

IDLE_READERS: Final = 2
"""Readers kept open for each tree, each with a process. More simultaneous calls open more, and close them again."""


class OpenTree(NamedTuple):
    """Open tree as one call uses it. The reader belongs to the call alone; `notes` are for the user.

    A call that reads a file with unexpected content calls `mark_stale`, and the next call checks all files.
    """

    searcher: Searcher
    workspace: Workspace
    reader: ObjectReader
    notes: list[str]
    mark_stale: Callable[[], None]
    searches: SearchCache[SearchResult]

    def answer(self, query: Query | SimilarQuery, limit: int) -> Answer:
        """Answer a query; an identical one of a moment ago is not searched again. `limit` is that of `check_query`.

        Raises: UsageError, DamagedFile.
        """
        return answer_open(self.searcher, query, limit, self.reader, self._find)

    def _find(self, query: Query | SimilarQuery, limit: int) -> SearchResult:
        return self.searches.get(query, limit, lambda: find_hits(self.searcher, query, limit))


class SharedTree:
    """Open tree for any number of simultaneous calls.

    They share the searcher without a lock. Its caches are only filled, with values that every thread would compute.
    """

    def __init__(self, searcher: Searcher, workspace: Workspace, notes: list[str]) -> None:
        self.searcher = searcher
        self.is_stale = False
        self._workspace = workspace
        self._notes = notes
        self._searches: SearchCache[SearchResult] = SearchCache(workspace.settings.search_cache_seconds)
        self._lock = threading.Lock()
        """Guards the two attributes below."""
        self._idle_readers: list[ObjectReader] = []
        self._closed = False

    @contextmanager
    def use(self) -> Iterator[OpenTree]:
        """Yield the tree with a reader that no other call uses meanwhile. Raises: DamagedFile.

        A search is not the only call that reads the open files, so they are checked here.
        """
        self.searcher.require_intact()
        with self._lock:
            reader = self._idle_readers.pop() if self._idle_readers else None
        if reader is None:
            reader = open_reader(self.searcher.tree.location, bulk=False, files=self.searcher.files)
        try:
            yield OpenTree(self.searcher, self._workspace, reader, self._notes, self._mark_stale, self._searches)
        finally:
            with self._lock:
                reusable = not self._closed and len(self._idle_readers) < IDLE_READERS
                if reusable:
                    self._idle_readers.append(reader)
            if not reusable:
                reader.close()

    def _mark_stale(self) -> None:
        self.is_stale = True

    def close(self) -> None:
        """Close the idle readers. Readers in use are closed at the end of their calls."""
        with self._lock:
            self._closed = True
            readers, self._idle_readers = self._idle_readers, []
        for reader in readers:
            reader.close()
