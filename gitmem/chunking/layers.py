"""Layers of a file in several languages: the text of each language by itself, for its own grammar.

A layer is as long as the file and has blanks where the file is of another language. So all offsets and lines are those
of the file, and what the grammars find in the layers can simply be joined.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from gitmem.chunking.lines import Lines, trim
from gitmem.named_tuple import NamedTuple
from gitmem.types import NO_NAMES, Chunk, NameColumns

Span = tuple[int, int]

_BLANKS: Final = bytes(code if code in b"\r\n" else 32 for code in range(256))


class Layer(NamedTuple):
    """Text of one language in a file, with blanks instead of everything else. `spans` are where it is, in order.

    If it is `interrupted`, the text between the spans stands inside of its definitions. If `names_only`, the first
    layer of the file has its text, too, and makes the chunks. `wrapper` is the name of a class around the text that is
    not in the file.
    """

    language: str
    data: bytes
    spans: list[Span]
    interrupted: bool = False
    names_only: bool = False
    wrapper: str = ""

    def unwrap(self, symbol: str) -> str:
        """Return a symbol of the layer without the class that is not in the file."""
        return "" if symbol == self.wrapper else symbol.removeprefix(f"{self.wrapper}.")


def make_layer(language: str, data: bytes, spans: list[Span]) -> Layer:
    """Return the layer of some spans of a file, which are in order and do not overlap."""
    return Layer(language, only(data, spans), spans)


def gaps(spans: Sequence[Span], size: int) -> list[Span]:
    """Return the spans between others in a file of `size` bytes; some may be empty."""
    bounds = [0, *(at for span in spans for at in span), size]
    return list(zip(bounds[::2], bounds[1::2], strict=True))


def only(data: bytes, spans: Sequence[Span]) -> bytes:
    """Return a text with blanks outside of some spans."""
    parts, at = [], 0
    for start, end in spans:
        parts += [data[at:start].translate(_BLANKS), data[start:end]]
        at = end
    return b"".join([*parts, data[at:].translate(_BLANKS)])


def clip(chunk: Chunk, layer: Layer, lines: Lines) -> Iterator[Chunk]:
    """Yield a chunk of a layer without what lies between the spans of the layer: one chunk for each span.

    A chunk of an `interrupted` layer stays one, with that text left out of its parts.
    """
    if layer.wrapper:
        inner = tuple(unit._replace(symbol=layer.unwrap(unit.symbol)) for unit in chunk.units)
        chunk = chunk._replace(symbol=layer.unwrap(chunk.symbol), units=inner)
    if layer.interrupted:
        spans = (span for start, end in chunk.parts for span in _cut(layer, start, end))
        parts = tuple(each for each in (trim(layer.data, *span) for span in spans) if each[0] < each[1])
        if parts:
            yield chunk._replace(parts=parts)
        return
    whole = chunk.whole if chunk.whole and chunk.whole[:2] in _cut(layer, *chunk.whole[:2]) else None
    for low, high in _cut(layer, chunk.start, chunk.end):
        inside = ((max(start, low), min(end, high)) for start, end in chunk.parts if start < high and low < end)
        parts = tuple(each for each in (trim(layer.data, *part) for part in inside) if each[0] < each[1])
        if not parts:
            continue
        units = tuple(unit for unit in chunk.units if low <= unit.start and unit.end <= high)
        start, end = (low, high) if (low, high) == (chunk.start, chunk.end) else (parts[0][0], parts[-1][1])
        yield chunk._replace(
            start=start, end=end, start_line=lines.number(start), end_line=lines.number(end - 1), parts=parts,
            units=units if len(units) > 1 else (), whole=whole,
        )  # fmt: skip


def _cut(layer: Layer, start: int, end: int) -> Iterator[Span]:
    """Yield the parts of a span that are in the spans of a layer."""
    for place in range(bisect_right(layer.spans, start, key=itemgetter(1)), len(layer.spans)):
        low, high = layer.spans[place]
        if low >= end:
            return
        if low < high:
            yield max(low, start), min(high, end)


def without_name(columns: NameColumns, name: str) -> NameColumns:
    """Return names without one of them."""
    rows = [row for row in zip(*columns, strict=True) if row[2] != name.encode()]
    return NameColumns(*zip(*rows, strict=True)) if rows else NO_NAMES


def join_names(columns: Sequence[NameColumns]) -> NameColumns:
    """Return the names of several layers in the order of their lines."""
    rows = sorted((row for each in columns for row in zip(*each, strict=True)), key=lambda row: row[0])
    return NameColumns(*zip(*rows, strict=True)) if rows else NO_NAMES
