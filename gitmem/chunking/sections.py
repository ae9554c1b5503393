"""Split the text of a markup language into sections by its headings."""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Final

from gitmem.chunking import markdown, markup_headings
from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.headings import Heading, HeadingPath, enter_heading, path_symbol
from gitmem.chunking.lines import Lines, has_text, trim
from gitmem.chunking.split import Edge, split_span
from gitmem.types import Chunk

_FINDERS: Final[Mapping[str, Callable[[bytes], tuple[list[Heading], list[Edge]]]]] = {
    "markdown": markdown.find_headings,
    "rst": markup_headings.find_rst_headings,
    "asciidoc": markup_headings.find_asciidoc_headings,
    "latex": markup_headings.find_latex_headings,
    "typst": markup_headings.find_typst_headings,
    "org": markup_headings.find_org_headings,
    "texinfo": markup_headings.find_texinfo_headings,
    "roff": markup_headings.find_roff_headings,
    "pod": markup_headings.find_pod_headings,
}
"""Functions that return the headings of a text, and the edges of its blocks, where it may be cut."""

SECTIONED: Final = frozenset(_FINDERS)
"""Languages that are split by their headings."""


def section_chunks(
    data: bytes, language: str, lines: Lines, bounds: ChunkBounds, above: HeadingPath | None = None
) -> list[Chunk]:
    """Return one chunk for the text of each heading. A heading without text joins the first section below it.

    `language` is one of `SECTIONED`. `above` are the headings above the text, and becomes those above the text that
    follows.
    """
    headings, edges = _FINDERS[language](data)
    del headings[bounds.max_chunks :]
    chunks: list[Chunk] = []
    path = [] if above is None else above
    pending = -1  # start of the headings without text that wait for their first section
    sections: list[Heading] = [(0, 0, ""), *headings]
    for index, (at, level, title) in enumerate(sections):
        stop = sections[index + 1][0] if index + 1 < len(sections) else len(data)
        if level:
            enter_heading(path, level, title)
        if not has_text(data, at, stop):
            continue
        start = pending if pending >= 0 else at
        deeper = index + 1 < len(sections) and sections[index + 1][1] > level
        # A bare heading is joined with its first subsection while the headings are short. It says too little alone.
        if level and deeper and stop - start < bounds.max_bytes // 4 and not _has_body(data, at, stop):
            pending = start
            continue
        pending = -1
        symbol = path_symbol(path)
        for low, high in split_span(data, start, stop, _edges_within(edges, start, stop), bounds.max_bytes):
            if has_text(data, low, high):
                low, high = trim(data, low, high)
                line, last = lines.number(low), lines.number(high - 1)
                chunks.append(Chunk(low, high, line, last, "section", symbol, ((low, high),)))
    return chunks


def _has_body(data: bytes, start: int, stop: int) -> bool:
    """Return whether text follows the first line."""
    first = data.find(b"\n", start, stop)
    return first >= 0 and has_text(data, first, stop)


def _edges_within(edges: list[Edge], start: int, stop: int) -> list[Edge]:
    return edges[bisect_right(edges, (start, 99)) : bisect_right(edges, (stop, 0))]
