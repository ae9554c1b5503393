"""Find the file and the chunk that a location names in an open tree."""

import posixpath
from typing import TYPE_CHECKING, Final

from gitmem.errors import UsageError
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_bytes, path_text

if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher
    from gitmem.store.view_file import View

_EXAMPLE: Final = "gitmem related src/app.py:120"

_COMPARED: Final = 5000
"""Paths whose spelling is compared for a suggestion: more would take a second."""


def parse_place(place: str) -> tuple[str, int]:
    """Return path and line of `path:line`; of `path:first-last` the first line. Raises UsageError."""
    path, colon, lines = place.rpartition(":")
    first = lines.split("-", 1)[0]
    if not (colon and path and first.isdecimal() and 0 < len(first) < 10 and int(first) > 0):
        raise UsageError(f"invalid location `{place}`, expected PATH:LINE", hint=_EXAMPLE)
    return path, int(first)


def find_entry(view: "View", path: str, folder: str) -> int:
    """Return the entry of a path in a view: relative to the root, or else to `folder`.

    Raises: UsageError with the most similar path.
    """
    entries = {known: entry for entry, known in enumerate(view.paths)}
    for candidate in (path, posixpath.join(folder, path)):
        entry = entries.get(path_bytes(posixpath.normpath(candidate)))
        if entry is not None:
            return entry
    raise UsageError(f"no such file in this tree: `{path}`", hint=_suggest(path, [*map(path_text, view.paths)]))


def _suggest(path: str, paths: list[str]) -> str:
    """Suggest the path the user may have meant: a file of that name elsewhere, or the most similar spelling."""
    from difflib import get_close_matches  # only for an error

    name = posixpath.basename(path)
    same = [other for other in paths if posixpath.basename(other) == name]
    near = get_close_matches(path, same or paths[:_COMPARED], 1, 0.0 if same else 0.6)
    return f"did you mean `{near[0]}`?" if near else "paths are relative to the root of the repository"


def get_row(searcher: "Searcher", entry: int, line: int) -> int:
    """Return the row of the innermost chunk that contains a line of a file.

    Raises: UsageError if the file is not indexed or has fewer lines.
    """
    from gitmem.store.columns import OUTCOMES
    from gitmem.store.view_file import REASONS

    view, snapshot = searcher.view, searcher.snapshot
    path = path_text(view.paths[entry])
    blob = int(snapshot.match(view)[entry])
    if blob < 0:
        excluded = blob == -2
        reason = f": {REASONS[view.reasons[entry]]}" if excluded else " yet"
        raise UsageError(f"`{path}` is not indexed{reason}", hint="" if excluded else "run `gitmem index`")
    first, end = (int(bound) for bound in snapshot.blob_first[blob : blob + 2])
    if first == end:
        raise UsageError(f"`{path}` is not indexed: {OUTCOMES[snapshot.blob_outcomes[blob]]}")
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as reader:
        lines = len((reader.read(view.oid(entry)) or b"").splitlines())
    if line > lines:
        raise UsageError(f"`{path}` has {lines} lines, line {line} does not exist")
    return _innermost(searcher, first, end, line)


def _innermost(searcher: "Searcher", first: int, end: int, line: int) -> int:
    """Return the shortest of a blob's rows that contains a line, or else the nearest row above it."""
    starts = searcher.snapshot.column("line")[first:end].tolist()
    sizes = searcher.snapshot.column("lines")[first:end].tolist()
    spans = [
        (size, row) for row, (start, size) in enumerate(zip(starts, sizes, strict=True)) if start <= line < start + size
    ]
    if spans:
        return first + min(spans)[1]
    above = [(start, row) for row, start in enumerate(starts) if start <= line]
    return first + (max(above)[1] if above else 0)
