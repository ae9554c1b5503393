"""Invariants of the chunks of any blob."""

from gitmem.types import ChunkedBlob


def assert_sound(data: bytes, blob: ChunkedBlob) -> None:
    """Check that spans are in bounds and in order, parts inside, lines right, and all text but blanks in some part."""
    covered = bytearray(len(data))
    previous = (0, -len(data))
    for chunk in blob.chunks:
        assert 0 <= chunk.start < chunk.end <= len(data)
        assert (chunk.start, -chunk.end) >= previous
        previous = (chunk.start, -chunk.end)
        assert chunk.start_line == data.count(b"\n", 0, chunk.start) + 1
        assert chunk.end_line == data.count(b"\n", 0, chunk.end - 1) + 1
        at = chunk.start
        assert chunk.parts
        for start, end in chunk.parts:
            assert at <= start < end <= chunk.end
            covered[start:end] = b"x" * (end - start)
            at = end
    lost = [at for at, byte in enumerate(data) if not covered[at] and not bytes((byte,)).isspace()]
    assert not lost, data[max(0, lost[0] - 20) : lost[0] + 40]


def text_bytes(blob: ChunkedBlob) -> int:
    """Return the size of the largest chunk's own text."""
    return max(sum(end - start for start, end in chunk.parts) for chunk in blob.chunks)
