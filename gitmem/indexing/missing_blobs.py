"""Find the blobs of a view that the index lacks: the work of an index run."""

from dataclasses import dataclass

import numpy as np

from gitmem.store.columns import RETRIED
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View


@dataclass(frozen=True, slots=True)
class MissingBlob:
    """Blob to index: object id in hexadecimal, and the language requested for it (empty: the content decides)."""

    oid: str
    language: str


def find_missing_blobs(view: View, snapshot: Snapshot, *, retry: bool = False) -> list[MissingBlob]:
    """Return the blobs of a view that the snapshot lacks, each once, in path order.

    With `retry` also return those that an earlier run could not read or chunk.
    """
    positions = snapshot.match(view)
    missing = positions == -1
    if retry:
        known = np.flatnonzero(positions >= 0)
        missing[known] = np.isin(snapshot.blob_outcomes[positions[known]], RETRIED)
    places = np.flatnonzero(missing)
    # Several paths often share a blob. np.unique sorts by key; sorting the first positions restores path order.
    _, first = np.unique(view.keys[places], return_index=True)
    return [MissingBlob(view.oid(entry), view.language(entry)) for entry in places[np.sort(first)].tolist()]
