"""What an index run has to do: which blobs of a view are missing, and whether there is anything to do at all."""

from dataclasses import dataclass

import numpy as np

from gitmem.store.columns import RETRIED
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View


@dataclass(frozen=True, slots=True)
class MissingBlob:
    """A blob to index: hex id and the language asked for (empty: content decides)."""

    oid: str
    language: str


def find_missing_blobs(view: View, snapshot: Snapshot, *, retry: bool = False) -> list[MissingBlob]:
    """Blobs of a view that the snapshot lacks, once each, in path order.

    With `retry` also those that an earlier run could not read or digest.
    """
    found = snapshot.match(view)
    wanted = found == -1
    if retry:
        known = np.flatnonzero(found >= 0)
        wanted[known] = np.isin(snapshot.blob_outcomes[found[known]], RETRIED)
    places = np.flatnonzero(wanted)
    _, first = np.unique(view.keys[places], return_index=True)
    return [MissingBlob(view.oid(entry), view.language(entry)) for entry in places[np.sort(first)].tolist()]
