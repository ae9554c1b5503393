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
        for outcome in RETRIED:
            missing[known] |= snapshot.blob_outcomes[positions[known]] == outcome
    blobs = (MissingBlob(view.oid(entry), view.language(entry)) for entry in np.flatnonzero(missing).tolist())
    return list(dict.fromkeys(blobs))  # several paths often share a blob
