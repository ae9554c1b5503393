"""The pieces of a tokenizer in a form that a few of them are found in without reading the rest.

Layout, integers little-endian: `n` uint32; `n + 1` uint32 ends, the place in the text behind the line feed of each
piece, the first of them 0; the text, a piece a line, UTF-8. The place of a piece is its id. From `FIRST_SORTED` on,
behind the two special pieces, pieces are in the order of their bytes.
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
    """The file of a vocabulary, in the order of ids; ValueError if it is not in the order that `Vocabulary` expects."""
    lines = [piece.encode("utf-8") + b"\n" for piece in pieces]
    if any(line.count(b"\n") > 1 for line in lines) or lines[FIRST_SORTED:] != sorted(set(lines[FIRST_SORTED:])):
        raise ValueError("pieces are not sorted, or not distinct, or hold a line feed")
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    return _COUNT.pack(len(lines)) + struct.pack(f"<{len(ends)}I", *ends) + b"".join(lines)


class Vocabulary(Sequence[bytes]):
    """Finds the ids of pieces in a buffer that `pack_pieces` made; nothing is read ahead of a question."""

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
        """The longest piece that a word begins with: its id and its length; None where no piece is so. ASCII only.

        What sorts last among the pieces up to the word is the longest if the word begins with it. Else none is longer
        than what the two share, so that is looked for next.
        """
        start, end = word.encode("ascii"), self._count
        while start:
            end = bisect_right(self, start, FIRST_SORTED, end)
            if end == FIRST_SORTED:
                return None
            before = self[end - 1]
            if start.startswith(before):
                return end - 1, len(before)
            start = start[: _shared(start, before)]
        return None

    def load(self) -> dict[str, int]:
        """All pieces and their ids, for one who will ask very often."""
        pieces = self._data[self._text :].decode("utf-8").split("\n")[: self._count]
        return dict(zip(pieces, range(self._count), strict=True))


def _shared(first: bytes, second: bytes) -> int:
    """How many bytes two words begin with alike."""
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))
