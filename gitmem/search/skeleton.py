"""Reduce a chunk that others lie in to its skeleton: its own lines, and the declarations of the chunks inside.

A class of 2,800 lines is found as one result. Printed whole it would repeat the results of its members, so it shows
each of them by one declaration, as a header file does. Of hundreds of members it shows those that the query asks for,
and the first ones.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from gitmem.named_tuple import NamedTuple
from gitmem.search.hits import Hit
from gitmem.search.signature import find_declaration, find_signature, has_text, unqualified_names
from gitmem.search.snippet import OMITTED, best_matches
from gitmem.store.labels import label_symbol
from gitmem.store.open_segments import OpenSegments

_LOOSE: Final = frozenset({"module", "namespace", "text", "section"})
"""Chunk types of text between definitions. It is not about the definitions that lie between its parts."""

WHOLE_LINES: Final = 12
"""Hits with at most so many lines are not reduced: it would save little."""

MAX_CHARACTERS: Final = 1200
"""Characters of a skeleton: some 300 tokens, as many as the longest function that is not divided."""


class InnerChunk(NamedTuple):
    """Lines, 1-based and inclusive, and symbol of a chunk or unit inside a hit."""

    start_line: int
    end_line: int
    symbol: str


def find_inner_chunks(snapshot: OpenSegments, blob: int, hit: Hit) -> list[InnerChunk]:
    """Find the outermost chunks strictly inside a hit, in order; `blob` is the number of its blob in the snapshot.

    Further parts of the hit's own text, which have its symbol, are left out. A hit of few lines is shown whole.
    """
    if hit.end_line - hit.start_line < WHOLE_LINES:
        return []
    rows = np.arange(snapshot.blob_first[blob], snapshot.blob_first[blob + 1])
    columns = snapshot.gather(("start", "length"), rows)
    start = columns["start"].astype(np.int64)
    end = start + columns["length"].astype(np.int64)
    inside = (start >= hit.start) & (end <= hit.end) & (end - start < hit.end - hit.start)
    if not inside.any():
        return []
    rows = rows[inside]
    lines = snapshot.gather(("line", "lines"), rows)
    first, size = lines["line"].tolist(), lines["lines"].tolist()
    labels = snapshot.labels(rows)
    shared = snapshot.units(rows, start[inside], lines["line"], labels)
    chunks: list[InnerChunk] = []
    for place, (symbol, units) in enumerate(zip(map(label_symbol, labels), shared, strict=True)):
        whole = InnerChunk(first[place], first[place] + size[place] - 1, symbol)
        chunks += [InnerChunk(unit.start_line, unit.end_line, unit.symbol) for unit in units] or [whole]
    chunks = [chunk for chunk in chunks if chunk.symbol != hit.symbol]
    chunks.sort(key=lambda chunk: (chunk.start_line, -chunk.end_line))
    outermost: list[InnerChunk] = []
    for chunk in chunks:
        if not outermost or chunk.end_line > outermost[-1].end_line:
            outermost.append(chunk)
    return outermost


def reduce_lines(lines: Sequence[str], hit: Hit, inner: Sequence[InnerChunk], terms: Sequence[str] = ()) -> list[str]:
    """Return the lines of a hit with `OMITTED` in place of the lines of inner chunks, except for their declarations.

    A skeleton beyond MAX_CHARACTERS keeps the lines that match the terms of the query best.
    """
    reduced = list(lines)
    declared: set[int] = set()
    seen: set[str] = set()
    for chunk in inner:
        first = chunk.start_line - hit.start_line
        own = lines[first : chunk.end_line - hit.start_line + 1]
        reduced[first : first + len(own)] = [OMITTED] * len(own)
        # The parts of a long function have its symbol: only the first begins with its declaration.
        if hit.chunk_type not in _LOOSE and chunk.symbol and chunk.symbol not in seen:
            seen.add(chunk.symbol)
            declared.update(first + line for line in find_declaration(own, unqualified_names(chunk.symbol)[0]))
    for place in declared:
        reduced[place] = lines[place]
    return _shorten(reduced, hit.symbol, terms) if inner else reduced


def _shorten(lines: list[str], symbol: str, terms: Sequence[str]) -> list[str]:
    """Return a skeleton with its most important lines up to MAX_CHARACTERS, `OMITTED` in place of the others."""
    if sum(len(line) + 1 for line in lines if line != OMITTED) <= MAX_CHARACTERS:
        return lines
    # First what the container is, then why it was found, then how it begins: what a reader of a header file looks for.
    signature = find_signature(lines, symbol)
    important = [*signature.declaration, *signature.doc]
    matches = best_matches(lines, symbol, frozenset(terms), important, len(lines))
    with_words = (place for place, line in enumerate(lines) if line != OMITTED and has_text(line))
    selection = _fit([*important, *matches, *with_words], lines)
    return [line if place in selection else OMITTED for place, line in enumerate(lines)]


def _fit(places: Iterable[int], lines: Sequence[str]) -> set[int]:
    """Return the first places whose lines have at most MAX_CHARACTERS together; a line that is too long ends them."""
    selection: set[int] = set()
    remaining = MAX_CHARACTERS
    for place in places:
        if place in selection:
            continue
        remaining -= len(lines[place]) + 1
        if remaining < 0 and selection:
            break
        selection.add(place)
    return selection
