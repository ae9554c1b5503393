"""Texts of blobs, compressed with the words of their records: those are most of the words of the text."""

import struct
import zlib
from typing import Final

from gitmem.errors import DatabaseFailed
from gitmem.org.blob_record import words_of_record

_LEVEL: Final = 6


def pack_text(text: bytes, words: bytes) -> bytes:
    """Return the compressed text of a blob, given the words of its record."""
    stream = zlib.compressobj(_LEVEL, zdict=words) if words else zlib.compressobj(_LEVEL)
    return stream.compress(text) + stream.flush()


def unpack_text(packed: bytes, record: bytes) -> bytes:
    """Return the bytes of a blob; its text may be without a dictionary. Raises DatabaseFailed."""
    try:
        stream = zlib.decompressobj(zdict=words_of_record(record))
        text = stream.decompress(packed) + stream.flush()
        if not stream.eof:
            raise ValueError("the stream is incomplete")
    except (struct.error, zlib.error, ValueError) as problem:
        hint = "drop the repository and publish it again"
        raise DatabaseFailed(f"damaged text of a blob: {problem}", hint=hint) from problem
    return text
