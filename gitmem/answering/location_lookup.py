"""Find the file, lines and chunk that a location names in an open tree. The grammar is in `gitmem.locations`."""

import posixpath
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

import numpy as np

from gitmem.answering.symbol_lookup import SymbolChunk, find_symbol, split_units
from gitmem.chunking.blob_text import text_of
from gitmem.display import count
from gitmem.errors import UsageError
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.locations import LineRange, parse_location
from gitmem.named_tuple import NamedTuple
from gitmem.store.columns import OUTCOMES
from gitmem.store.labels import label_symbol
from gitmem.store.view_file import REASONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitmem.git.object_reader import ObjectReader
    from gitmem.store.snapshot import Snapshot
    from gitmem.store.view_file import View

_COMPARED: Final = 5000
"""Paths whose spelling is compared for a suggestion: more would take a second."""


class IndexedTree(NamedTuple):
    """Paths of a tree and the index of their blobs. The first `files` entries of the view are files, not records.

    Without a snapshot, `chunk_file` computes the chunks of the file of an entry.
    """

    view: "View"
    snapshot: "Snapshot | None"
    files: int
    chunk_file: "Callable[[int], list[SymbolChunk]] | None" = None


class FoundLocation(NamedTuple):
    """File of a view, with the lines that are meant; None for the whole file.

    `row` is the first row of the chunk and `symbol` its symbol, if the location names a chunk or a symbol.
    """

    entry: int
    lines: LineRange | None = None
    row: int | None = None
    symbol: str = ""


def find_location(tree: IndexedTree, text: str, folder: str = "") -> FoundLocation:
    """Find a location in the tree of a tree. Its path is relative to the root, or else to `folder`.

    Raises: UsageError if it does not exist or is ambiguous.
    """
    view = tree.view
    location = parse_location(text, lambda path: _find_entry(view, path, folder) is not None)
    if location.blob:
        return _find_chunk(tree, _get_blob(tree, location.blob), location.chunk or 0)
    entry = _find_entry(view, location.path, folder)
    if entry is None:
        hint = _suggest_path(location.path, [*map(path_text, view.paths)])
        raise UsageError(f"no such file in this tree: `{location.path}`", hint=hint)
    if location.chunk is not None:
        return _find_chunk(tree, entry, location.chunk)
    if location.symbol:
        row, lines, symbol = find_symbol(path_text(view.path(entry)), _chunks_of(tree, entry), location.symbol)
        return FoundLocation(entry, lines, row, symbol)
    return FoundLocation(entry, location.lines)


def chunk_names(tree: IndexedTree, path: str) -> list[str]:
    """Return the names `BLOB:0` and so on of the chunks of a file. Raises UsageError if it has none."""
    entry = _find_entry(tree.view, path, "")
    if entry is None:
        raise UsageError(f"no such file in this tree: `{path}`")
    oid = tree.view.oid(entry)
    return [f"{oid}:{number}" for number in range(len(_chunks_of(tree, entry)))]


def has_path(tree: IndexedTree, path: str, folder: str = "") -> bool:
    """Return whether a tree has a path, relative to the root or else to `folder`."""
    return _find_entry(tree.view, path, folder) is not None


def get_chunk(tree: IndexedTree, reader: "ObjectReader", text: str, folder: str = "") -> SymbolChunk:
    """Return the chunk that a location names, of lines the innermost that contains the first line.

    Raises: UsageError if there is none: the location names a whole file, or the file is not indexed or shorter.
    """
    location = find_location(tree, text, folder)
    if location.row is not None:
        assert location.lines is not None, "a chunk has lines"
        return SymbolChunk(location.row, location.lines, location.symbol)
    path = path_text(tree.view.path(location.entry))
    if location.lines is None:
        raise UsageError(f"`{path}` is a whole file", hint=f"add a line or a symbol, for example `{path}:1`")
    assert tree.snapshot is not None, "rows belong to an index"
    snapshot, line = tree.snapshot, location.lines.first
    rows = _rows_of(tree.view, snapshot, location.entry)
    data = reader.read(tree.view.oid(location.entry)) or b""
    lines = len(text_of(data, tree.view.language(location.entry)).splitlines())
    if line > lines:
        raise UsageError(f"`{path}` has {count(lines, 'line')}, line {line} does not exist")
    return _innermost(snapshot, rows, line)


def _find_entry(view: "View", path: str, folder: str) -> int | None:
    """Return the entry of a path in a view: relative to the root, or else to `folder`; None if there is none."""
    for candidate in (path, posixpath.join(folder, path)):
        entry = view.find(path_bytes(posixpath.normpath(candidate)))
        if entry is not None:
            return entry
    return None


def _suggest_path(path: str, paths: list[str]) -> str:
    """Suggest the path the user may have meant: a file of that name elsewhere, or the most similar spelling."""
    name = posixpath.basename(path)
    same = [other for other in paths if posixpath.basename(other) == name]
    near = get_close_matches(path, same or paths[:_COMPARED], 1, 0.0 if same else 0.6)
    return f"did you mean `{near[0]}`?" if near else "paths are relative to the root of the repository"


def _get_blob(tree: IndexedTree, prefix: str) -> int:
    """Return the first entry whose blob's id begins with hex digits. Raises UsageError."""
    oids = tree.view.oids[: tree.files]
    whole = np.frombuffer(bytes.fromhex(prefix[: len(prefix) // 2 * 2]), np.uint8)
    if len(whole) > oids.shape[1]:
        raise UsageError(f"no blob of this tree begins with `{prefix}`")
    candidates = np.flatnonzero((oids[:, : len(whole)] == whole).all(axis=1)).tolist()
    blobs = {oid: entry for entry in reversed(candidates) if (oid := tree.view.oid(entry)).startswith(prefix)}
    if not blobs:
        raise UsageError(f"no blob of this tree begins with `{prefix}`")
    if len(blobs) > 1:
        raise UsageError(f"{len(blobs)} blobs of this tree begin with `{prefix}`", hint="give more digits of the id")
    return next(iter(blobs.values()))


def _chunks_of(tree: IndexedTree, entry: int) -> list[SymbolChunk]:
    """Return all chunks of a file in order of start. Raises UsageError if it has none."""
    if tree.snapshot is not None:
        return _read_chunks(tree.snapshot, _rows_of(tree.view, tree.snapshot, entry))
    assert tree.chunk_file is not None, "a tree has an index or the means to do without"
    path = path_text(tree.view.path(entry))
    if tree.view.reasons[entry]:
        raise UsageError(f"`{path}` is not indexed: {REASONS[tree.view.reasons[entry]]}")
    return tree.chunk_file(entry)


def _rows_of(view: "View", snapshot: "Snapshot", entry: int) -> range:
    """Return the rows of a file's chunks, in order of start. Raises UsageError if it has none."""
    path = path_text(view.path(entry))
    blob = int(snapshot.match(view)[entry])
    if blob == -2:
        raise UsageError(f"`{path}` is not indexed: {REASONS[view.reason(entry)]}")
    if blob < 0:
        raise UsageError(f"`{path}` is not indexed yet", hint="run `gitmem index --uncommitted`")
    first, end = (int(bound) for bound in snapshot.blob_first[blob : blob + 2])
    if first == end:
        raise UsageError(f"`{path}` is not indexed: {OUTCOMES[snapshot.blob_outcomes[blob]]}")
    return range(first, end)


def _find_chunk(tree: IndexedTree, entry: int, number: int) -> FoundLocation:
    """Find a chunk of a file by its number, from 0. Raises UsageError."""
    chunks = _chunks_of(tree, entry)
    if number >= len(chunks):
        path = path_text(tree.view.path(entry))
        raise UsageError(f"`{path}` has {len(chunks)} chunks, chunk {number} does not exist")
    chunk = chunks[number]
    return FoundLocation(entry, chunk.lines, chunk.row, chunk.symbol)


def _read_chunks(snapshot: "Snapshot", rows: range) -> list[SymbolChunk]:
    """Return the lines and symbols of consecutive rows, and of the units in them."""
    numbers = np.arange(rows.start, rows.stop, dtype=np.int64)
    columns = snapshot.gather(("line", "lines"), numbers)
    spans = zip(columns["line"].tolist(), columns["lines"].tolist(), strict=True)
    lines = [LineRange(first, first + size - 1) for first, size in spans]
    labels = snapshot.labels(numbers)
    chunks = map(SymbolChunk, rows, lines, map(label_symbol, labels))
    shared = snapshot.units(numbers, np.zeros(len(numbers), np.int64), columns["line"], labels)
    return [unit for chunk, units in zip(chunks, shared, strict=True) for unit in split_units(chunk, units)]


def _innermost(snapshot: "Snapshot", rows: range, line: int) -> SymbolChunk:
    """Return the shortest of a file's chunks that contains a line, or else the nearest above it."""
    chunks = _read_chunks(snapshot, rows)
    around = [chunk for chunk in chunks if chunk.lines.first <= line <= chunk.lines.last]
    if around:
        return min(around, key=lambda chunk: (chunk.lines.last - chunk.lines.first, chunk.row))
    above = [chunk for chunk in chunks if chunk.lines.first <= line]
    return max(above, key=lambda chunk: (chunk.lines.first, chunk.row)) if above else chunks[0]
