"""Convert the answer of a worker to rows in memory."""

import numpy as np

from gitmem.indexing.worker_protocol import PackedPostings, PackedRows
from gitmem.store.columns import COLUMNS, CONTENT_BYTES, FIELDS, OUTCOMES
from gitmem.store.postings import Postings
from gitmem.store.rows import Blobs, Rows


def load_rows(packed: PackedRows, keys: list[tuple[bytes, str]]) -> Rows:
    """Convert a worker's answer to rows; `keys` are the object ids and requested languages of its blobs."""
    blobs = Blobs(
        keys,
        [blob.language for blob in packed.blobs],
        np.array([OUTCOMES.index(blob.outcome) for blob in packed.blobs], np.uint8),
        np.cumsum([0, *(blob.rows for blob in packed.blobs)]).astype(np.int64),
        [blob.names for blob in packed.blobs],
    )
    # Workers send the columns in wide types, and only here are they narrowed to those of the file.
    columns = {
        name: np.frombuffer(packed.columns[name], "<f2" if name in ("scale", "norm") else "<u4").astype(dtype)
        for name, dtype in COLUMNS.items()
    }
    vectors = np.frombuffer(packed.vectors, np.int8).reshape(len(packed.labels), packed.dimensions)
    postings = {field: _load_postings(packed.postings[field]) for field in FIELDS}
    contents = np.frombuffer(packed.contents, np.uint8).reshape(-1, CONTENT_BYTES)
    return Rows(blobs, columns, packed.labels, vectors, contents, postings)


def _load_postings(packed: PackedPostings) -> Postings:
    return Postings(
        packed.terms,
        np.frombuffer(packed.term_ids, "<i4"),
        np.frombuffer(packed.rows, "<i4"),
        np.frombuffer(packed.counts, "<u1"),
    )
