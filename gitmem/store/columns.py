"""What a segment holds for each row and blob, and how it is stored. Constants only."""

from typing import Final

FIELDS: Final = ("text", "symbol")
"""What is searched by words: the chunk's own text, and its qualified name."""

COLUMNS: Final = {
    "start": "<u4", "length": "<u4", "line": "<u4", "lines": "<u4",
    "kind": "<u1", "words": "<u2", "scale": "<f2", "norm": "<f2",
}  # fmt: skip
"""Columns with one value a row: first byte, bytes, first line, lines, chunk kind, words of its text (capped), and the
vector's scale and its length before normalisation."""

OUTCOMES: Final = ("parsed", "text", "empty", "binary", "large", "lfs", "minified", "missing", "failed")
"""What became of a blob. The order is the one stored on disk: append only."""

RETRIED: Final = tuple(map(OUTCOMES.index, ("missing", "failed")))
"""Outcomes that another run tries again, as they are stored."""
