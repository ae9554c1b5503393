"""A blob to its chunks: by headings, by syntax, or by windows where there is no grammar or no tree."""

import re
from typing import Final

from gitmem.chunking.budget import join_small
from gitmem.chunking.chunk_size import DEFAULT_LIMITS, ChunkLimits
from gitmem.chunking.languages import TEXT, language_from_head
from gitmem.chunking.line_windows import window_chunks
from gitmem.chunking.lines import Lines
from gitmem.types import RECORD_LANGUAGE, Chunk, ChunkedBlob

_CPP: Final = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w|namespace\b|template[ \t]*<|using[ \t]+\w|(?:public|private|protected):)"
    rb"|\bstd::|#include <(?:string|vector|memory|map|iostream|cstdint|cstddef|utility|type_traits)>",
    re.MULTILINE,
)
_OBJC: Final = re.compile(rb"^[ \t]*(?:@interface|@protocol|@implementation|#import)\b", re.MULTILINE)


def chunk_blob(data: bytes, language: str, limits: ChunkLimits = DEFAULT_LIMITS) -> ChunkedBlob:
    """Cut a blob into chunks that together hold every line with ink. An empty language is taken from the content."""
    if language == RECORD_LANGUAGE:
        from gitmem.chunking.record_passages import record_chunks

        return ChunkedBlob(language, record_chunks(data), parsed=True, note="")
    language = settled_language(data, language)
    if not data.strip():
        return ChunkedBlob(language, [], parsed=False, note="empty")
    lines = Lines(data)
    chunks, note = _syntax_chunks(data, language, limits, lines)
    parsed = chunks is not None
    if chunks is None:
        chunks = window_chunks(data, lines, limits)
    chunks = join_small(chunks, len(data))
    return ChunkedBlob(language, _capped(data, chunks, lines, limits), parsed, note)


def settled_language(data: bytes, language: str) -> str:
    """The language that a file name told, made exact by the content: C, C++ and Objective-C share endings."""
    if not language:
        return language_from_head(data[:2048])
    if language != "c":
        return language
    code = data[: 1 << 16]
    if _OBJC.search(code):
        return "objc"
    return "cpp" if _CPP.search(code) else "c"


def _syntax_chunks(data: bytes, language: str, limits: ChunkLimits, lines: Lines) -> tuple[list[Chunk] | None, str]:
    """Chunks by syntax, or None and why there are none."""
    if language == TEXT:
        return None, "plain text"
    if language == "markdown":
        from gitmem.chunking.markdown import section_chunks

        return section_chunks(data, lines, limits), ""
    from gitmem.chunking.grammars import find_grammar
    from gitmem.chunking.parse import UnparsedError, parse_tree

    grammar = find_grammar(language)
    if grammar is None:
        return None, "no grammar"
    try:
        tree = parse_tree(data, grammar.parser, limits.parse_seconds)
    except UnparsedError as why:
        return None, str(why)
    from gitmem.chunking.assembly import Layout
    from gitmem.chunking.outline import outline_tree

    file = outline_tree(data, tree.root_node, grammar, limits)
    return Layout(data, grammar, limits, lines).chunks_of(file), ""


def _capped(data: bytes, chunks: list[Chunk], lines: Lines, limits: ChunkLimits) -> list[Chunk]:
    """Keep the first half of too many chunks and cover the rest by bigger windows."""
    if len(chunks) <= limits.max_chunks:
        return chunks
    half = limits.max_chunks // 2
    rest = chunks[half].start
    size = max(limits.max_bytes, 2 * (len(data) - rest) // (limits.max_chunks - half) + limits.overlap + 1)
    kept = [chunk for chunk in chunks[:half] if chunk.start < rest or chunk.end <= rest]
    return sorted(kept + window_chunks(data, lines, limits, rest, size), key=lambda chunk: (chunk.start, -chunk.end))
