"""Find the elements of a notebook: its sections, with the cells below their headings, and the definitions in these."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.element import Element, FileElements
from gitmem.chunking.headings import HeadingPath, enter_heading, path_symbol
from gitmem.chunking.lines import Lines, trim
from gitmem.chunking.notebook import CODE, HEADING, MARKDOWN, Cell
from gitmem.chunking.notebook_code import LOOSE, language_of_cell, without_commands
from gitmem.chunking.sections import section_chunks

_BOUNDS: Final = ChunkBounds(max_bytes=1 << 24)

ParseCode = Callable[[bytes, str], FileElements]
"""Returns the elements of some code in a language."""


def notebook_elements(data: bytes, cells: Sequence[Cell], parse: ParseCode) -> FileElements:
    """Return the elements of a notebook's text: sections, functions and classes, but not variables."""
    lines = Lines(data)
    elements = list(_sections(data, cells, lines))
    comments: list[tuple[int, int]] = []
    for cell in cells:
        if cell.cell_type != CODE:
            continue
        # Each cell by itself: a definition never goes on in the next one, and an error ends with its cell.
        text = data[cell.start : cell.end]
        language = language_of_cell(text, cell.language)
        own = parse(without_commands(text), language) if language and text.strip() else None
        if own is None:
            continue
        above = lines.number(cell.start) - 1
        elements += [_moved(each, cell.start, above) for each in own.elements if each.chunk_type not in LOOSE]
        comments += [(start + cell.start, end + cell.start) for start, end in own.comments]
    elements.sort(key=lambda each: (each.start, -each.end))
    return FileElements(elements, comments)


def _sections(data: bytes, cells: Sequence[Cell], lines: Lines) -> Iterator[Element]:
    """Yield the text below each heading up to the next one."""
    starts = list(_headed(data, cells))
    for place, (start, symbol) in enumerate(starts):
        end = starts[place + 1][0] if place + 1 < len(starts) else len(data)
        first, last = trim(data, start, end)
        feed = data.find(b"\n", first, last)
        yield Element(
            symbol,
            symbol.rpartition(" > ")[2],
            "section",
            first,
            first,
            feed if feed >= 0 else last,
            last,
            lines.number(first),
            lines.number(last - 1),
            holds=True,
        )


def _headed(data: bytes, cells: Sequence[Cell]) -> Iterator[tuple[int, str]]:
    """Yield where the text below each heading begins, with the headings above it."""
    path: HeadingPath = []
    shown = ""
    for cell in cells:
        text = data[cell.start : cell.end]
        found: list[tuple[int, str]] = []
        if cell.cell_type == HEADING:
            enter_heading(path, cell.level, " ".join(text.decode("utf-8", "replace").split()))
            found = [(0, path_symbol(path))]
        elif cell.cell_type == MARKDOWN and text.strip():
            found = [
                (chunk.start, chunk.symbol) for chunk in section_chunks(text, "markdown", Lines(text), _BOUNDS, path)
            ]
        for start, symbol in found:
            if symbol not in ("", shown):  # text without a heading of its own goes on with the section above
                shown = symbol
                yield cell.start + start, symbol


def _moved(element: Element, offset: int, lines: int) -> Element:
    """Return an element of a cell as one of the notebook."""
    return element._replace(
        start=element.start + offset,
        code=element.code + offset,
        body=element.body + offset,
        end=element.end + offset,
        first_line=element.first_line + lines,
        last_line=element.last_line + lines,
    )
