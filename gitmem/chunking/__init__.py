"""Blobs to chunks: bytes in, spans out. No git, no file access; tree-sitter is imported here only, and late.

`gitmem.chunking.languages` and `gitmem.chunking.chunk_size` load nothing heavy;
`gitmem.chunking.chunk` loads the parser
library when the first blob that has a grammar arrives.
"""

from typing import Final

CHUNKER_VERSION: Final = 2
"""Raise it whenever the same bytes would give other chunks."""
