"""Invariants of the chunks of any blob."""

from typing import Final

import numpy as np

from gitmem.types import ChunkedBlob

_BLANKS: Final = np.frombuffer(b" \t\n\r\v\f", np.uint8)


def assert_sound(data: bytes, blob: ChunkedBlob) -> None:
    """Check that spans are in bounds and in order, parts inside, lines right, and all text but blanks in some part."""
    content = np.frombuffer(data, np.uint8)
    line_feeds = np.flatnonzero(content == ord("\n"))  # the line of a byte is one more than the line feeds before it
    starts = np.array([chunk.start for chunk in blob.chunks], np.int64)
    ends = np.array([chunk.end for chunk in blob.chunks], np.int64)
    assert [chunk.start_line for chunk in blob.chunks] == (np.searchsorted(line_feeds, starts) + 1).tolist()
    assert [chunk.end_line for chunk in blob.chunks] == (np.searchsorted(line_feeds, ends - 1) + 1).tolist()
    covered = np.zeros(len(data), bool)
    previous = (0, -len(data))
    for chunk in blob.chunks:
        assert 0 <= chunk.start < chunk.end <= len(data)
        assert (chunk.start, -chunk.end) >= previous
        previous = (chunk.start, -chunk.end)
        at = chunk.start
        assert chunk.parts
        for start, end in chunk.parts:
            assert at <= start < end <= chunk.end
            covered[start:end] = True
            at = end
        assert list(chunk.units) == sorted(chunk.units, key=lambda unit: unit.start)
        for unit in chunk.units:
            assert chunk.start <= unit.start < unit.end <= chunk.end
            assert unit.start_line == data.count(b"\n", 0, unit.start) + 1
            assert unit.end_line == data.count(b"\n", 0, unit.end - 1) + 1
    lost = np.flatnonzero(~covered & ~np.isin(content, _BLANKS))
    assert not len(lost), data[max(0, lost[0] - 20) : lost[0] + 40]


def text_bytes(blob: ChunkedBlob) -> int:
    """Return the size of the largest chunk's own text."""
    return max(sum(end - start for start, end in chunk.parts) for chunk in blob.chunks)
