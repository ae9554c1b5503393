"""File format of a tokenizer's pieces. Some of them can be looked up without reading the others.

Layout, with little-endian integers:

- `n`, uint32;
- `n + 1` ends, uint32: 0, then the offset in the text after the line feed of each piece;
- the text, UTF-8, one piece a line.

The position of a piece is its id. From `FIRST_SORTED` on, after the two special pieces, the pieces are sorted by their
bytes.
"""

import struct
from bisect import bisect_right
from collections.abc import Sequence
from mmap import mmap
from typing import Final

FIRST_SORTED: Final = 2
_COUNT: Final = struct.Struct("<I")
_ENDS: Final = struct.Struct("<II")


def pack_pieces(pieces: Sequence[str]) -> bytes:
    """Return the file of a vocabulary given in the order of ids.

    Raises ValueError if the pieces are not sorted or distinct, or contain a line feed.
    """
    lines = [piece.encode("utf-8") + b"\n" for piece in pieces]
    if any(line.count(b"\n") > 1 for line in lines) or lines[FIRST_SORTED:] != sorted(set(lines[FIRST_SORTED:])):
        raise ValueError("pieces are not sorted, or not distinct, or contain a line feed")
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    return _COUNT.pack(len(lines)) + struct.pack(f"<{len(ends)}I", *ends) + b"".join(lines)


class Vocabulary(Sequence[bytes]):
    """Looks up pieces in a buffer written by `pack_pieces`. Reads nothing ahead of a lookup."""

    def __init__(self, data: mmap | bytes) -> None:
        self._data = data
        self._count: int = _COUNT.unpack_from(data)[0]
        self._text = _COUNT.size * (self._count + 2)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> bytes:  # type: ignore[override]  # no slices
        start, end = _ENDS.unpack_from(self._data, _COUNT.size * (place + 1))
        return self._data[self._text + start : self._text + end - 1]

    def find_longest(self, word: str) -> tuple[int, int] | None:
        """Return id and length of the longest piece that is a prefix of a word, None if there is none.

        Binary search, repeated with shorter words. Among the pieces up to the word, take the last. If it is a prefix of
        the word, it is the longest one. Otherwise only their common prefix can begin with a piece, so search for that.
        """
        # Prefixes in bytes are prefixes in characters: no character of UTF-8 begins with the bytes of another one.
        start, end = word.encode("utf-8"), self._count
        while start:
            # A shorter word sorts before a longer one with the same beginning, so the range only shrinks.
            end = bisect_right(self, start, FIRST_SORTED, end)
            if end == FIRST_SORTED:
                return None
            last = self[end - 1]
            if start.startswith(last):
                return end - 1, len(last.decode("utf-8"))
            start = start[: _common_prefix(start, last)]
        return None

    def load(self) -> dict[str, int]:
        """Return all pieces with their ids, for callers with very many lookups."""
        pieces = self._data[self._text :].decode("utf-8").split("\n")[: self._count]
        return dict(zip(pieces, range(self._count), strict=True))


def _common_prefix(first: bytes, second: bytes) -> int:
    """Return the length of the common prefix of two words."""
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))
