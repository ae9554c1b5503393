"""Records of the memory: what of them is found, and what is then shown.

A note is found whole. The text of a document or a turn is found by its passages, cut like a Markdown file but smaller:
a vector of a long text says little of any part of it. What is shown is the *window* that holds the passage: a chunk the
document was cut into when it came in, the whole turn.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from gitmem.chunking.budget import join_small
from gitmem.chunking.chunk_size import DEFAULT_LIMITS
from gitmem.chunking.lines import Lines, has_ink
from gitmem.chunking.markdown import section_chunks
from gitmem.errors import DamagedFile, NewerFormat
from gitmem.record import Record, parse_record
from gitmem.types import DOCUMENT, NOTE, TURN, Chunk

PASSAGE_BYTES: Final = 800
"""How long a passage may be. Measured: 350 finds a little better, and costs as much index as text."""

MOST_PASSAGES: Final = 8000
"""A text that would give more is cut into longer ones, so that no record fills a segment."""

_MAX_SYMBOL: Final = 200


def record_chunks(data: bytes) -> list[Chunk]:
    """The passages of a record's content, none of what is no record of a known version.

    The symbol is a turn's conversation or a document's title with the headings above the passage: their words find it
    too.
    """
    try:
        record = parse_record(data, "")
    except (DamagedFile, NewerFormat):
        return []
    content = record.content
    if not has_ink(content, 0, len(content)):
        return []
    base = len(data) - len(content)
    lines = Lines(data)
    told = " ".join((record.id if record.kind == TURN else str(record.fields.get("title", ""))).split())
    chunks = []
    for start, end, headings in _passages(content, whole=record.kind == NOTE):
        names = (told,) if record.kind == TURN else (told, headings)
        symbol = " > ".join(name for name in names if name)[:_MAX_SYMBOL]
        start, end = base + start, base + end
        first, last = lines.number(start), lines.number(end - 1)
        chunks.append(Chunk(start, end, first, last, record.kind, symbol, ((start, end),)))
    return chunks


def _passages(content: bytes, *, whole: bool) -> list[tuple[int, int, str]]:
    """Spans of a content with the headings above each."""
    if whole or len(content) <= PASSAGE_BYTES:
        return [(0, len(content), "")]
    limits = replace(DEFAULT_LIMITS, max_bytes=max(PASSAGE_BYTES, len(content) // MOST_PASSAGES))
    found = join_small(section_chunks(content, Lines(content), limits), len(content))
    return [(chunk.start, chunk.end, chunk.symbol) for chunk in found]


def record_windows(data: bytes, record: Record) -> list[tuple[int, int]]:
    """What is shown of a record: the bytes of its blob that a document's chunks are, or all of its content."""
    base = len(data) - len(record.content)
    return [(base + start, base + end) for start, end in _byte_spans(record)]


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
