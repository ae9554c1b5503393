"""The text of places that an agent names: lines of a file, a whole file, or a chunk."""

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from gitmem.answering.answer_json import json_path
from gitmem.answering.location_lookup import find_entry
from gitmem.display import visible
from gitmem.errors import UsageError
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text
from gitmem.mcp.tools.excerpts import Excerpt
from gitmem.memory.kinds import CODE
from gitmem.search.snippet import lines_of
from gitmem.store.view_file import REASONS
from gitmem.words import decode

if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher

_LINES: Final = re.compile(r"(?P<path>.+?)(?:#L(?P<a>\d{1,9})(?:-L?(?P<b>\d{1,9}))?|:(?P<c>\d{1,9})-(?P<d>\d{1,9}))")
_CHUNK: Final = re.compile(r"(?P<what>.+):(?:chunk_)?(?P<chunk>\d{1,9})")
_OBJECT: Final = re.compile(r"[0-9a-f]{7,64}")
_WHOLE: Final = 10**9


class Place(NamedTuple):
    """Where text stands: in a path of the tree, or in a blob; lines are 1-based, `chunk` counts from 0."""

    path: str
    first: int = 1
    last: int = _WHOLE
    chunk: int | None = None


def parse_place(name: str) -> Place:
    """A place as written: `path#L10-L40`, `path:10-40`, `path:chunk`, `<blob>:chunk` or `path`. Raises UsageError."""
    lines = _LINES.fullmatch(name)
    if lines:
        first = int(lines["a"] or lines["c"])
        last = int(lines["b"] or lines["d"] or first)
        if not 1 <= first <= last:
            raise UsageError(f"`{name}` names no lines", hint="lines count from 1, the first stands before the last")
        return Place(lines["path"], first, last)
    chunk = _CHUNK.fullmatch(name)
    return Place(chunk["what"], chunk=int(chunk["chunk"])) if chunk else Place(name)


def read_place(searcher: "Searcher", reader: ObjectReader, name: str) -> Excerpt:
    """The text of a place. Raises UsageError."""
    place = parse_place(name)
    entry = _find_blob(searcher, place) if place.chunk is not None else None
    if entry is None:
        entry = find_entry(searcher.view, place.path, "")
    path, oid = path_text(searcher.view.paths[entry]), searcher.view.oid(entry)
    first, last, symbol = place.first, place.last, ""
    if place.chunk is not None:
        first, last, symbol = _chunk_lines(searcher, entry, path, place.chunk)
    data = reader.read(oid)
    if data is None:
        raise UsageError(f"`{path}` cannot be read: its content is gone or was never fetched")
    if b"\0" in data[:8000]:
        raise UsageError(f"`{path}` is binary")
    lines = lines_of(data.removesuffix(b"\n"), first, last)
    if not lines:
        found = len(data.splitlines())
        raise UsageError(f"`{path}` has {found} lines, there is no line {first}")
    last = first + len(lines) - 1
    heading = f"{visible(path)}:{first}-{last} {visible(symbol)}".rstrip()
    known = {"kind": CODE, "path": json_path(path), "start_line": first, "end_line": last, "symbol": symbol}
    content = decode(b"\n".join(data.split(b"\n", last)[first - 1 : last]))
    return Excerpt(heading, lines, first, content, {**known, "blob": oid})


def _find_blob(searcher: "Searcher", place: Place) -> int | None:
    """The first path of a blob that is named by its id, or by the beginning of it; None where it is no such name."""
    if not _OBJECT.fullmatch(place.path):
        return None
    view = searcher.view
    return next((entry for entry in range(len(view)) if view.oid(entry).startswith(place.path)), None)


def _chunk_lines(searcher: "Searcher", entry: int, path: str, chunk: int) -> tuple[int, int, str]:
    """First and last line of a file's chunk, and what it is called."""
    snapshot = searcher.snapshot
    blob = int(snapshot.match(searcher.view)[entry])
    if blob < 0:
        reason = REASONS[searcher.view.reasons[entry]] if blob == -2 else "not yet"
        raise UsageError(f"`{path}` is not indexed: {reason}", hint=f"name lines instead: `{path}#L1-L40`")
    start, end = (int(bound) for bound in snapshot.blob_first[blob : blob + 2])
    if chunk >= end - start:
        raise UsageError(f"`{path}` has {end - start} chunks, there is no chunk {chunk}")
    row = np.array([start + chunk], np.int64)
    found = snapshot.gather(("line", "lines"), row)
    line = int(found["line"][0])
    return line, line + int(found["lines"][0]) - 1, snapshot.symbols(row)[0]
