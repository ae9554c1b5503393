"""Filter the paths of a view by kind and by the fields of records."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from gitmem.indexing.joined_view import JoinedView
from gitmem.memory.kinds import CODE, FOLDERS
from gitmem.records.filters import NO_FILTERS, RecordFilters, matching_records
from gitmem.store.view_file import View


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
