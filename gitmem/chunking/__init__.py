"""Split blobs into chunks: bytes in, spans out, without git or file access.

The only package that imports tree-sitter, and late: `languages` and `chunk_size` load nothing heavy, and `chunk` loads
the parser library with the first blob that has a grammar. For each blob, `chunk` chooses how to split it. For code,
`parse` builds the syntax tree, `outline` finds the units in it, and `assembly` turns them into chunks. `budget` merges
small ones. Sizes are in `chunk_size`.
"""

from typing import Final

CHUNKER_VERSION: Final = 39
"""Raise this if the same bytes would give different chunks, or different names."""
