"""Times of records as entries of a view, for queries that name a date."""

from collections.abc import Sequence

import numpy as np

from gitmem.arrays import NDArray
from gitmem.indexing.record_views import Records
from gitmem.named_tuple import NamedTuple


class RecordTimes(NamedTuple):
    """Records of one or several repositories, and the entries of a view at which those of each begin, ascending."""

    records: Sequence[Records]
    first: Sequence[int]

    def read(self, entries: NDArray[np.int64]) -> list[str]:
        """Return the time of the content of each entry, "" if it is none of a record. Raises DamagedFile."""
        times = [""] * len(entries)
        for records, first in zip(self.records, self.first, strict=True):
            own = np.flatnonzero((entries >= first) & (entries < first + len(records)))
            column = records.column("time")
            for position, code in zip(own.tolist(), column.codes[entries[own] - first].tolist(), strict=True):
                times[position] = column.values[code]
        return times
