"""Filters of a query as the search applies them: to paths, kinds and the fields of records."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from gitmem.arrays import NDArray
from gitmem.indexing.joined_view import JoinedView
from gitmem.memory.kinds import CODE, FOLDERS
from gitmem.records.filters import NO_FILTERS, RecordFilters, matching_records
from gitmem.search.scope import Filters
from gitmem.store.view_file import View

if TYPE_CHECKING:
    from gitmem.answering.search_query import SearchFilters


def row_filters(filters: "SearchFilters") -> Filters:
    """Return the filters on paths, languages and chunk types."""
    return Filters(
        filters.include,
        filters.exclude,
        filters.languages,
        filters.chunk_types,
        filters.pathspecs,
        filters.files,
        filters.folders,
    )


def passing_entries(
    view: View, kinds: Collection[str], record_filters: RecordFilters = NO_FILTERS
) -> NDArray[np.bool_]:
    """Return the mask of the paths of some kinds, [entries]. Record filters exclude code, which has no such fields."""
    # A filter such as `--since` asks for a property that code does not have, so code cannot pass it.
    code = CODE in kinds and not record_filters.any
    if not isinstance(view, JoinedView):
        return np.full(len(view), code)
    mask = view.below([folder for name, folder in FOLDERS.items() if name in kinds])
    if record_filters.any:
        mask[view.first_count :] &= matching_records(view.records, record_filters)
    mask[: view.first_count] = code
    return mask
