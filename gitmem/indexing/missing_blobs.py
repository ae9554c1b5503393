"""Find the blobs of a view that the index lacks: the work of an index run."""

from dataclasses import dataclass, field

import numpy as np

from gitmem.store.columns import RETRIED
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View


@dataclass(frozen=True, slots=True)
class MissingBlob:
    """Blob to index: object id in hexadecimal, and the language requested for it (empty: the content decides).

    `path` is one of its paths, for reports alone.
    """

    oid: str
    language: str
    path: bytes = field(default=b"", compare=False)


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
    entries = np.flatnonzero(missing).tolist()
    blobs = (MissingBlob(view.oid(entry), view.language(entry), view.path(entry)) for entry in entries)
    return list(dict.fromkeys(blobs))  # several paths often share a blob
