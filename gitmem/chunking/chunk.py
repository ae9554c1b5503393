"""Split a blob into chunks: by headings, by syntax, or into windows if there is no grammar or no syntax tree."""

from collections.abc import Sequence
from typing import Final

from gitmem.chunking.budget import merge_small
from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds, assembly_bounds
from gitmem.chunking.commit_passages import commit_chunks
from gitmem.chunking.content_language import refine_language
from gitmem.chunking.grammar import UnparsedError
from gitmem.chunking.languages import TEXT
from gitmem.chunking.layered_files import LAYERED, divide_file
from gitmem.chunking.layers import clip, join_names, without_name
from gitmem.chunking.line_windows import window_chunks
from gitmem.chunking.lines import Lines
from gitmem.chunking.notebook import Cell
from gitmem.chunking.notebook_chunks import notebook_chunks
from gitmem.chunking.notebook_names import notebook_names
from gitmem.chunking.record_passages import record_chunks
from gitmem.chunking.sections import SECTIONED, section_chunks
from gitmem.types import COMMIT, NOTEBOOK_LANGUAGE, RECORD_LANGUAGE, Chunk, ChunkedBlob, NameColumns

_WITHOUT_GRAMMAR: Final = SECTIONED | {TEXT, RECORD_LANGUAGE, COMMIT}
"""Languages whose chunks need no syntax tree, so not the parser library either."""


def chunk_blob(
    data: bytes, language: str, bounds: ChunkBounds = DEFAULT_BOUNDS, cells: Sequence[Cell] = ()
) -> ChunkedBlob:
    """Split a blob into chunks that together contain every line that is not blank.

    With an empty language, the content determines it. `data` is the text of a notebook if it has `cells`.
    """
    if cells:
        of_cells = notebook_chunks(data, cells, bounds, _text_chunks)
        capped, names = _capped(data, of_cells, Lines(data), bounds), notebook_names(data, cells, bounds)
        return ChunkedBlob(NOTEBOOK_LANGUAGE, capped, parsed=True, unparsed_reason="", names=names)
    if language == RECORD_LANGUAGE:
        return ChunkedBlob(language, record_chunks(data), parsed=True, unparsed_reason="")
    if language == COMMIT:
        return ChunkedBlob(language, commit_chunks(data), parsed=True, unparsed_reason="")
    language = refine_language(data, language)
    if not data.strip():
        return ChunkedBlob(language, [], parsed=False, unparsed_reason="empty")
    lines = Lines(data)
    found: list[NameColumns] = []
    split = _layered_chunks if language in LAYERED else _syntax_chunks
    chunks, reason = split(data, language, bounds, lines, found)
    parsed = chunks is not None
    if chunks is None:
        chunks = window_chunks(data, lines, bounds)
    if not bounds.past_run:
        chunks = merge_small(chunks, len(data), bounds.max_bytes)
    names = found[0] if len(found) == 1 else join_names(found)
    return ChunkedBlob(language, _capped(data, chunks, lines, bounds), parsed, reason, names)


def load_syntax(language: str) -> None:
    """Load what the blobs of a language are parsed with, and compile the patterns of its names; nothing for prose."""
    if language in _WITHOUT_GRAMMAR:
        return
    from gitmem.chunking import assembly, occurrences, outline  # noqa: F401 (imported when a blob is parsed)
    from gitmem.chunking.occurrence_query import load_patterns

    load_patterns(language)


def _text_chunks(data: bytes, language: str, bounds: ChunkBounds, lines: Lines) -> list[Chunk]:
    """Return the chunks of a cell of a notebook by syntax, or else windows."""
    chunks, _ = _syntax_chunks(data, language, bounds, lines)
    return window_chunks(data, lines, bounds) if chunks is None else chunks


def _syntax_chunks(
    data: bytes, language: str, bounds: ChunkBounds, lines: Lines, names: list[NameColumns] | None = None
) -> tuple[list[Chunk] | None, str]:
    """Return the chunks by syntax, or None and the reason why there are none. Adds the names in them to `names`."""
    if language == TEXT:
        return None, "plain text"
    if language in SECTIONED:
        return section_chunks(data, language, lines, bounds), ""
    # Lazily, here and below: the parser library takes 40 ms to load, and records and plain text do not need it.
    from gitmem.chunking.grammars import find_grammar_of
    from gitmem.chunking.syntax import read_syntax

    grammar = find_grammar_of(data, language)
    if grammar is None:
        return None, "no grammar"
    try:
        root, grammar = read_syntax(data, grammar, bounds.parse_seconds, bounds.parse_memory)
    except UnparsedError as error:
        return None, str(error)
    from gitmem.chunking.assembly import Assembler
    from gitmem.chunking.outline import outline_tree

    file = outline_tree(data, root, grammar, bounds)
    if names is not None:
        from gitmem.chunking.occurrences import find_occurrences

        names.append(find_occurrences(data, root, language, file))
    return Assembler(data, grammar, assembly_bounds(bounds), lines).assemble(file), ""


def _layered_chunks(
    data: bytes, language: str, bounds: ChunkBounds, lines: Lines, names: list[NameColumns]
) -> tuple[list[Chunk] | None, str]:
    """Return the chunks of all layers. A further layer that cannot be parsed is split into windows."""
    first, *others = divide_file(data, language)
    chunks, reason = _syntax_chunks(first.data, language, bounds, lines, names)
    if chunks is None or not others:
        return chunks, reason
    layers = [(first, chunks)]
    for layer in others:
        found: list[NameColumns] = []
        own, _ = _syntax_chunks(layer.data, layer.language, bounds, lines, found)
        names += [without_name(each, layer.wrapper) if layer.wrapper else each for each in found]
        if layer.names_only:
            continue
        layers.append((layer, window_chunks(layer.data, lines, bounds) if own is None else own))
    all_chunks = [part for layer, own in layers for chunk in own for part in clip(chunk, layer, lines)]
    return sorted(all_chunks, key=lambda chunk: (chunk.start, -chunk.end)), ""


def _capped(data: bytes, chunks: list[Chunk], lines: Lines, bounds: ChunkBounds) -> list[Chunk]:
    """If there are too many chunks, keep the first half and cover the rest with larger windows."""
    if len(chunks) <= bounds.max_chunks:
        return chunks
    half = bounds.max_chunks // 2
    rest = chunks[half].start
    # Twice the size that would just suffice: windows end at lines, so many of them stay well below their maximum.
    size = max(bounds.max_bytes, 2 * (len(data) - rest) // (bounds.max_chunks - half) + bounds.overlap + 1)
    first = [chunk for chunk in chunks[:half] if chunk.start < rest or chunk.end <= rest]
    return sorted(first + window_chunks(data, lines, bounds, rest, size), key=lambda chunk: (chunk.start, -chunk.end))
