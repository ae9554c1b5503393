"""Records of the memory: a note and a turn in one piece, a document in the chunks it was cut into when it came in."""

from itertools import pairwise
from typing import Any

from gitmem.chunking.lines import Lines, has_ink
from gitmem.errors import DamagedFile, NewerFormat
from gitmem.record import Record, parse_record
from gitmem.types import DOCUMENT, TURN, Chunk

_MAX_SYMBOL = 200


def record_chunks(data: bytes) -> list[Chunk]:
    """The chunks of a record's content, none of what is no record of a known version.

    The symbol is a document's title or a turn's conversation, whose words find it too.
    """
    try:
        record = parse_record(data, "")
    except (DamagedFile, NewerFormat):
        return []
    lines = Lines(data)
    base = len(data) - len(record.content)
    symbol = _symbol(record)
    spans = [(base + start, base + end) for start, end in _byte_spans(record)]
    return [
        Chunk(start, end, lines.number(start), lines.number(end - 1), record.kind, symbol, ((start, end),))
        for start, end in spans
        if has_ink(data, start, end)
    ]


def _symbol(record: Record) -> str:
    told = record.id if record.kind == TURN else str(record.fields.get("title", ""))
    return " ".join(told.split())[:_MAX_SYMBOL]


def _byte_spans(record: Record) -> list[tuple[int, int]]:
    """Where the chunks of a document lie in its content in bytes; the record tells characters."""
    told = record.fields.get("chunks") if record.kind == DOCUMENT else None
    spans = [(span[0], span[1]) for span in told if _is_span(span)] if isinstance(told, list) else []
    text = record.text
    if not spans or any(not 0 <= start < end <= len(text) for start, end in spans):
        return [(0, len(record.content))]
    places = sorted({place for span in spans for place in (0, *span)})
    offsets = {0: 0}
    for before, place in pairwise(places):
        offsets[place] = offsets[before] + len(text[before:place].encode())
    return [(offsets[start], offsets[end]) for start, end in spans]


def _is_span(span: Any) -> bool:
    return isinstance(span, list) and len(span) == 2 and all(isinstance(place, int) for place in span)
