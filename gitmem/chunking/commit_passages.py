"""Passages of commit messages: what a search of commits finds."""

from gitmem.chunking.lines import Lines, has_text
from gitmem.chunking.record_passages import passage_spans
from gitmem.chunking.symbols import MAX_SYMBOL
from gitmem.commit import parse_commit
from gitmem.types import COMMIT, Chunk


def commit_chunks(data: bytes) -> list[Chunk]:
    """Return the passages of the message of a commit object in UTF-8, none of an empty message.

    The symbol is the subject, so that a passage of a long body is found by it as well.
    """
    commit = parse_commit(data)
    base = commit.message_start
    if not has_text(data, base, len(data)):
        return []
    # Spans and lines refer to the whole object, like those of a record to its blob.
    lines = Lines(data)
    symbol = commit.subject[:MAX_SYMBOL]
    chunks = []
    for start, end, _ in passage_spans(data[base:]):
        start, end = base + start, base + end
        chunks.append(Chunk(start, end, lines.number(start), lines.number(end - 1), COMMIT, symbol, ((start, end),)))
    return chunks
