"""Schema of a segment: fields, columns and outcomes, and their types on disk. Constants only."""

from typing import Final

SCHEMA_VERSION: Final = 5
"""Version of the content of segments, part of the fingerprint of an index: increase it when they must be rebuilt."""

FIELDS: Final = ("text", "symbol")
"""Fields of the lexical index: the chunk's own text, and its qualified name."""

COLUMNS: Final = {
    "start": "<u4", "length": "<u4", "line": "<u4", "lines": "<u4",
    "kind": "<u1", "kinds": "<u4", "words": "<u2", "scale": "<f2", "norm": "<f2",
}  # fmt: skip
"""Columns with one value per row, and their numpy types.

`start` is the first byte, `length` the number of bytes, `line` the first line, `lines` their number. `kind` is the
chunk type, as an index into CHUNK_TYPES, and `kinds` the set of the types of the row's results, one bit for each index,
with `GENERATED_BIT` if a program wrote the blob, and `TESTS_BIT` if it may contain tests.
`words` is the number of words of the text (capped). `scale` is the scale of
the quantised vector, and `norm` its length before normalisation.
"""

GENERATED_BIT: Final = 1 << 30
TESTS_BIT: Final = 1 << 29
"""Bits of `kinds` that no chunk type has; PostgreSQL has no unsigned numbers of 32 bits."""

SCANNED: Final = ("words", "kind")
"""Columns that a search reads over all rows, and not only of the rows that it finds."""

CONTENT_BYTES: Final = 16
"""Length of the hash of a chunk's content, see `indexing.content_hash`."""

OUTCOMES: Final = ("parsed", "text", "empty", "binary", "large", "lfs", "minified", "missing", "failed", "drawing",
    "generated")  # fmt: skip
"""Outcomes of chunking a blob. Their indices are stored on disk: append only."""

RETRIED: Final = tuple(map(OUTCOMES.index, ("missing", "failed")))
"""Outcomes, as stored, of blobs that the next run tries again."""
