"""Open trees of several repositories as a call searches them together, with the searches of a moment ago."""

from collections.abc import Sequence

from gitmem.answering.federated_search import FederatedResult, FederatedSearcher, Member
from gitmem.answering.search_query import Query
from gitmem.memory.kinds import COMMITS
from gitmem.resident.search_cache import SearchCache


class Combination:
    """Search over some open trees. A tree that changed is opened anew, so it makes another combination."""

    def __init__(self, members: Sequence[Member], cache_seconds: int) -> None:
        self.searcher = FederatedSearcher(members)
        self._cache_seconds = cache_seconds
        self._searches: SearchCache[FederatedResult] = SearchCache(cache_seconds)

    def is_of(self, members: Sequence[Member], cache_seconds: int) -> bool:
        """Return whether it is a search over these trees."""
        return list(self.searcher.members) == list(members) and self._cache_seconds == cache_seconds

    def find(self, query: Query, limit: int) -> FederatedResult:
        """Return the hits; an identical query of a moment ago is not searched again. Raises: as `FederatedSearcher`."""
        # A tree does not change with the index of its commit messages, which is opened again by each search.
        if COMMITS in query.filters.kinds:
            return self.searcher.find(query, limit)
        return self._searches.get(query, limit, lambda: self.searcher.find(query, limit))
