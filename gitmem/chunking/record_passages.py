"""Chunks of records: the passages that are searched, and the windows that are shown.

A note is one passage. The text of a document or a turn is split like a Markdown file, but into smaller passages. One
vector of a long text would say little about any part of it. The result shows the *window* around the passage: a chunk
into which the document was split when it was added, or the whole turn.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from gitmem.chunking.budget import merge_small
from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, MAX_PASSAGES, PASSAGE_BYTES
from gitmem.chunking.lines import Lines, has_text
from gitmem.chunking.sections import section_chunks
from gitmem.chunking.symbols import MAX_SYMBOL
from gitmem.errors import DamagedFile, NewerFormat
from gitmem.record import Record, parse_record
from gitmem.types import DOCUMENT, NOTE, TURN, Chunk


def record_chunks(data: bytes) -> list[Chunk]:
    """Return the passages of a record's content, none if the blob is not a record of a known version.

    The symbol is the conversation of a turn, or the title of a document followed by the headings above the passage. The
    passage is found by these words too.
    """
    try:
        record = parse_record(data, "")
    except (DamagedFile, NewerFormat):
        return []
    content = record.content
    if not has_text(content, 0, len(content)):
        return []
    base = len(data) - len(content)
    # Spans and line numbers refer to the whole blob, header included, like those of code.
    lines = Lines(data)
    title = " ".join((record.id if record.kind == TURN else str(record.fields.get("title", ""))).split())
    chunks = []
    for start, end, headings in passage_spans(content, whole=record.kind == NOTE):
        names = (title,) if record.kind == TURN else (title, headings)
        symbol = " > ".join(name for name in names if name)[:MAX_SYMBOL]
        start, end = base + start, base + end
        first, last = lines.number(start), lines.number(end - 1)
        chunks.append(Chunk(start, end, first, last, record.kind, symbol, ((start, end),)))
    return chunks


def passage_spans(content: bytes, *, whole: bool = False) -> list[tuple[int, int, str]]:
    """Return the spans of a content, each with the headings above it."""
    if whole or len(content) <= PASSAGE_BYTES:
        return [(0, len(content), "")]
    bounds = replace(DEFAULT_BOUNDS, max_bytes=max(PASSAGE_BYTES, len(content) // MAX_PASSAGES))
    chunks = merge_small(section_chunks(content, "markdown", Lines(content), bounds), len(content))
    return [(chunk.start, chunk.end, chunk.symbol) for chunk in chunks]


def record_windows(data: bytes, record: Record) -> list[tuple[int, int]]:
    """Return the windows of a record as bytes of its blob: the chunks of a document, else the whole content."""
    base = len(data) - len(record.content)
    return [(base + start, base + end) for start, end in _byte_spans(record)]


def _byte_spans(record: Record) -> list[tuple[int, int]]:
    """Return the chunks of a document as bytes of its content. The record stores them in characters."""
    value = record.fields.get("chunks") if record.kind == DOCUMENT else None
    spans = [(span[0], span[1]) for span in value if _is_span(span)] if isinstance(value, list) else []
    text = record.text
    # Another program may have written the record: with spans that do not fit the text, the text stays in one piece.
    if not spans or any(not 0 <= start < end <= len(text) for start, end in spans):
        return [(0, len(record.content))]
    # Encode each stretch of text once, instead of the text before each offset.
    places = sorted({place for span in spans for place in (0, *span)})
    offsets = {0: 0}
    for previous, place in pairwise(places):
        offsets[place] = offsets[previous] + len(text[previous:place].encode())
    return [(offsets[start], offsets[end]) for start, end in spans]


def _is_span(span: Any) -> bool:
    return isinstance(span, list) and len(span) == 2 and all(isinstance(place, int) for place in span)
