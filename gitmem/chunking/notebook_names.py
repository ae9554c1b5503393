"""Find the names in the code of a notebook. Its cells are one program: a name of one cell is used in another."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.grammar import UnparsedError
from gitmem.chunking.layers import join_names
from gitmem.chunking.lines import Lines
from gitmem.chunking.notebook import CODE, Cell
from gitmem.chunking.notebook_code import language_of_cell, without_commands
from gitmem.types import NO_NAMES, NameColumns

NAMED_LANGUAGE: Final = "python"
"""Language of the cells whose names are recorded: a notebook is a file of Python for those who look for usages."""

_OUTSIDE: Final = re.compile(rb"[^\n]")


def notebook_names(data: bytes, cells: Sequence[Cell], bounds: ChunkBounds) -> NameColumns:
    """Return the definitions and references in the Python cells of a notebook's text, by the lines of the text."""
    own = [
        cell
        for cell in cells
        if cell.cell_type == CODE and language_of_cell(data[cell.start : cell.end], cell.language) == NAMED_LANGUAGE
    ]
    if not own:
        return NO_NAMES
    # Together at first: a mention of a name counts if the file imports or defines it, mostly in a cell above.
    names = _names_in(_only(data, own), bounds, allow_errors=False)
    if names is not None:
        return names
    # An unfinished cell must not take the names of those below it.
    lines = Lines(data)
    found = []
    for cell in own:
        alone = _names_in(without_commands(data[cell.start : cell.end]), bounds, allow_errors=True)
        if alone is not None:
            above = lines.number(cell.start) - 1
            found.append(alone._replace(lines=[line + above for line in alone.lines]))
    return join_names(found)


def _only(data: bytes, cells: Iterable[Cell]) -> bytes:
    """Return the text of some cells, at their places: the rest is blank."""
    parts, at = [], 0
    for cell in cells:
        parts += [_OUTSIDE.sub(b" ", data[at : cell.start]), without_commands(data[cell.start : cell.end])]
        at = cell.end
    return b"".join(parts)


def _names_in(data: bytes, bounds: ChunkBounds, *, allow_errors: bool) -> NameColumns | None:
    """Return the names in some code; None if it cannot be parsed, or if it has errors that are not allowed."""
    # Lazily: the parser library takes 40 ms to load.
    from gitmem.chunking.grammars import find_grammar_of
    from gitmem.chunking.occurrences import find_occurrences
    from gitmem.chunking.outline import outline_tree
    from gitmem.chunking.syntax import read_syntax

    grammar = find_grammar_of(data, NAMED_LANGUAGE)
    assert grammar is not None
    try:
        root, grammar = read_syntax(data, grammar, bounds.parse_seconds, bounds.parse_memory)
    except UnparsedError:
        return None
    if root.has_error and not allow_errors:
        return None
    return find_occurrences(data, root, NAMED_LANGUAGE, outline_tree(data, root, grammar, bounds))
