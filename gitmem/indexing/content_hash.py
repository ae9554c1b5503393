"""Hash of a chunk's content: the text that is counted and embedded. Equal hashes mean equal vectors and words."""

import hashlib
from collections.abc import Sequence

from gitmem.store.columns import CONTENT_BYTES


def content_hash(symbol: bytes, content: bytes, parts: Sequence[tuple[int, int]], encoding: str) -> bytes:
    """Return the hash of a chunk by its symbol and its own text: parts of the content of a blob, and its encoding.

    128 bits: hashes will identify vectors across machines too, where a collision of 64 bits could be sought on purpose.
    """
    text = chunk_text(content, parts, encoding)
    # The zero byte separates the two parts: blobs with such bytes are binary and have no chunks.
    return hashlib.blake2b(b"%b\0%b" % (symbol, text), digest_size=CONTENT_BYTES).digest()


def chunk_text(content: bytes, parts: Sequence[tuple[int, int]], encoding: str) -> bytes:
    """Return the own text of a chunk, in UTF-8 unless the content is not valid."""
    text = b"\n".join([content[start:end] for start, end in parts])
    if encoding != "utf-8" and not text.isascii():
        text = text.decode(encoding).encode()  # the same bytes are another text in another encoding
    return text
