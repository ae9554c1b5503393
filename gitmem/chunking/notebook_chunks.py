"""Split a notebook into chunks, cell by cell: code by its syntax tree, Markdown as sections.

The text between the definitions of a code cell is found by the headings above it too: they say what the code is for.
Small cells share a row of the index like small functions, and remain results of their own.
"""

from collections.abc import Callable, Sequence

from gitmem.chunking.budget import merge_small
from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.headings import HeadingPath, enter_heading, path_symbol
from gitmem.chunking.languages import TEXT
from gitmem.chunking.lines import Lines, has_text
from gitmem.chunking.notebook import CODE, HEADING, MARKDOWN, Cell
from gitmem.chunking.notebook_code import LOOSE, language_of_cell, without_commands
from gitmem.chunking.sections import section_chunks
from gitmem.types import Chunk, DefinitionSpan, ResultUnit

SyntaxChunks = Callable[[bytes, str, ChunkBounds, Lines], list[Chunk]]
"""Splits code of a language, or text without one, into chunks."""


def notebook_chunks(data: bytes, cells: Sequence[Cell], bounds: ChunkBounds, split_code: SyntaxChunks) -> list[Chunk]:
    """Return the chunks of a notebook's text, in order of the cells."""
    lines = Lines(data)
    path: HeadingPath = []
    chunks: list[Chunk] = []
    for cell in cells:
        text = data[cell.start : cell.end]
        if not has_text(text, 0, len(text)):
            continue
        own = Lines(text)
        if cell.cell_type == HEADING:
            enter_heading(path, cell.level, " ".join(text.decode("utf-8", "replace").split()))
        if cell.cell_type == MARKDOWN:
            inner = section_chunks(text, "markdown", own, bounds, path)
        elif cell.cell_type == CODE:
            inner = _code_chunks(text, cell.language, own, bounds, path_symbol(path), split_code)
        else:
            plain = split_code(text, TEXT, bounds, own)
            inner = [chunk._replace(chunk_type="section", symbol=path_symbol(path)) for chunk in plain]
        line = lines.number(cell.start) - 1
        chunks += [_moved(chunk, cell.start, line) for chunk in inner]
    return merge_small(chunks, sum(cell.end - cell.start for cell in cells), cells=True)


def _code_chunks(
    text: bytes, language: str, lines: Lines, bounds: ChunkBounds, symbol: str, split_code: SyntaxChunks
) -> list[Chunk]:
    """Return the chunks of a code cell. Text between definitions gets the symbol of the headings above."""
    chunks = split_code(without_commands(text), language_of_cell(text, language) or TEXT, bounds, lines)
    return [_cell_chunk(chunk, symbol) for chunk in chunks]


def _cell_chunk(chunk: Chunk, symbol: str) -> Chunk:
    """Return a chunk of code under a heading. Variables define nothing in a notebook: they are part of the cell."""
    if chunk.chunk_type not in LOOSE:
        return chunk
    units = tuple(unit for unit in chunk.units if unit.chunk_type not in LOOSE)
    if units:
        units = (ResultUnit(*chunk[:4], "module", symbol), *units)
    return chunk._replace(chunk_type="module", symbol=symbol, units=units)


def _moved(chunk: Chunk, offset: int, lines: int) -> Chunk:
    """Return a chunk of a cell as one of the notebook."""
    start, end = chunk.start + offset, chunk.end + offset
    units = tuple(
        unit._replace(start=unit.start + offset, end=unit.end + offset,
                      start_line=unit.start_line + lines, end_line=unit.end_line + lines)
        for unit in chunk.units
    )  # fmt: skip
    parts = tuple((low + offset, high + offset) for low, high in chunk.parts)
    first, last = chunk.start_line + lines, chunk.end_line + lines
    own = chunk.whole
    whole = own and DefinitionSpan(own.start + offset, own.end + offset, own.start_line + lines, own.end_line + lines)
    return chunk._replace(start=start, end=end, start_line=first, end_line=last, parts=parts, units=units, whole=whole)
