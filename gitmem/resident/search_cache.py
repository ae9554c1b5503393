"""Results of searches in an open tree that were made a moment ago, for queries that are asked again.

The cache belongs to one open tree, or to several that are searched together. An open tree is one generation of the
index with one state of the working tree and of the memory. Any change that is noticed closes that tree and the cache
with it. Only the search is saved: the text of the results is read for each answer, which notices a file that changed
without a sign of it. So no cached answer is stale. Results end after some seconds all the same, because scores may come
from a provider whose model changes.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from gitmem.answering.search_query import Query, SimilarQuery

MAX_SEARCHES: Final = 32
"""Searches of one tree. An agent repeats its last queries; older ones would only occupy memory."""


Result = TypeVar("Result")


class SearchCache(Generic[Result]):
    """Results of the last `seconds`, by query and limit; 0 keeps none. `clock` returns seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        """Guards the results, each with the time at which it was made."""
        self._results: OrderedDict[tuple[Query | SimilarQuery, int], tuple[float, Result]] = OrderedDict()

    def get(self, query: Query | SimilarQuery, limit: int, search: Callable[[], Result]) -> Result:
        """Return the result of a query from the cache, or search. Raises: the errors of `search`."""
        key = (query, limit)
        with self._lock:
            known = self._results.get(key)
            if known is not None and self._clock() - known[0] < self._seconds:
                return known[1]
        # Two threads may search for the same: waiting for the other one would cost a lock for each query.
        result = search()
        if self._seconds:
            with self._lock:
                self._results[key] = (self._clock(), result)
                self._results.move_to_end(key)
                while len(self._results) > MAX_SEARCHES:
                    self._results.popitem(last=False)
        return result
