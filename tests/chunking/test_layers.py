"""Layers of a file: chunks are cut at the borders of a layer, at a cost that does not grow with the number of spans."""

from gitmem.chunking.layers import Layer, clip, gaps, make_layer
from gitmem.chunking.lines import Lines
from gitmem.types import Chunk


class CountedSpans(list[tuple[int, int]]):
    """Spans that count how many of them are read."""

    reads = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        self.reads += 1
        return super().__getitem__(place)


def chunk_of(start: int, end: int, *parts: tuple[int, int]) -> Chunk:
    return Chunk(start, end, 1, 1, "class", "A", parts or ((start, end),))


def test_a_chunk_is_cut_into_one_for_each_span() -> None:
    data = b"aaaa\n....\nbbbb\n....\ncccc\n"
    layer = make_layer("x", data, gaps([(5, 10), (15, 20)], len(data)))
    chunks = list(clip(chunk_of(2, 24), layer, Lines(data)))
    assert [(chunk.start, chunk.end, chunk.start_line, chunk.parts) for chunk in chunks] == [
        (2, 4, 1, ((2, 4),)), (10, 14, 3, ((10, 14),)), (20, 24, 5, ((20, 24),)),
    ]  # fmt: skip


def test_a_chunk_of_an_interrupted_layer_stays_one() -> None:
    data = b"aaaa\n....\nbbbb\n"
    layer = make_layer("x", data, gaps([(5, 10)], len(data)))._replace(interrupted=True)
    (chunk,) = clip(chunk_of(0, 14), layer, Lines(data))
    assert (chunk.start, chunk.end, chunk.parts) == (0, 14, ((0, 4), (10, 14)))


def test_only_the_spans_around_a_chunk_are_read() -> None:
    # A file of 1 MB may have 60,000 pieces of documentation, and as many chunks.
    data = b"a\n.\n" * 20_000
    spans = CountedSpans((at, at + 2) for at in range(0, len(data), 4))
    for interrupted in (True, False):
        spans.reads = 0
        assert list(clip(chunk_of(40_000, 40_001), Layer("x", data, spans, interrupted), Lines(data)))
        assert spans.reads < 40
