"""Code like the code at a place: find the chunk that stands there, then its nearest neighbours."""

import posixpath
from typing import TYPE_CHECKING, Final

from gitmem.answering.answer import Answer, Find, Request, answer_with
from gitmem.answering.searcher import Searcher
from gitmem.errors import UsageError
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.records.kinds import CODE
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.search.hits import Hit
    from gitmem.store.view_file import View

_EXAMPLE: Final = "gitmem related src/app.py:120"


def related(workspace: Workspace, place: str, *, limit: int = 0, folder: str = "", refresh: bool = True) -> Answer:
    """Chunks like the one at `path:line`. A path is taken from the root of the tree, or else from `folder`.

    Raises: UsageError where there is no such path, line or chunk, and all that a query raises.
    """
    request = Request(place, limit, refresh=refresh, sources=(CODE,))
    return answer_with(workspace, request, find_related(workspace, request, folder))


def find_related(workspace: Workspace, request: Request, folder: str = "") -> Find:
    """A way of finding what is like the chunk at the place that a request's text names. Raises UsageError."""
    path, line = parse_place(request.text)

    def find(searcher: Searcher, limit: int) -> "tuple[tuple[str, ...], list[Hit]]":
        from gitmem.search.similar_rows import search_related

        entry = find_entry(searcher.view, path, folder)
        row = _get_row(workspace, searcher, entry, line)
        return (), search_related(searcher.scope(request), row, limit)

    return find


def parse_place(place: str) -> tuple[str, int]:
    """Path and line of `path:line`; `path:first-last`, as results print it, means the first. Raises UsageError."""
    path, colon, lines = place.rpartition(":")
    first = lines.split("-", 1)[0]
    if not (colon and path and first.isdecimal() and 0 < len(first) < 10 and int(first) > 0):
        raise UsageError(f"`{place}` is no place in a file, it must be PATH:LINE", hint=_EXAMPLE)
    return path, int(first)


def find_entry(view: "View", path: str, folder: str) -> int:
    """The place in a view of a path as a person writes it. Raises UsageError with the nearest path."""
    places = {known: entry for entry, known in enumerate(view.paths)}
    for candidate in (path, posixpath.join(folder, path)):
        entry = places.get(path_bytes(posixpath.normpath(candidate)))
        if entry is not None:
            return entry
    raise UsageError(f"there is no `{path}` in this tree", hint=_nearest(path, [*map(path_text, view.paths)]))


def _nearest(path: str, known: list[str]) -> str:
    """The path a person may have meant: the same file elsewhere, or the likeliest spelling."""
    from difflib import get_close_matches

    name = posixpath.basename(path)
    same = [other for other in known if posixpath.basename(other) == name]
    near = get_close_matches(path, same or known[:_COMPARED], 1, 0.0 if same else 0.6)
    return f"did you mean `{near[0]}`?" if near else "paths are told from the root of the repository"


_COMPARED: Final = 5000
"""Paths compared by spelling: more would take a second."""


def _get_row(workspace: Workspace, searcher: Searcher, entry: int, line: int) -> int:
    """The innermost chunk that holds a line of a view's file."""
    from gitmem.store.columns import OUTCOMES
    from gitmem.store.view_file import REASONS

    view, snapshot = searcher.view, searcher.snapshot
    path = path_text(view.paths[entry])
    blob = int(snapshot.match(view)[entry])
    if blob < 0:
        reason = REASONS[view.reasons[entry]]
        told = f"`{path}` is not indexed" + (f": {reason}" if blob == -2 else " yet")
        raise UsageError(told, hint="" if blob == -2 else "run `gitmem index`")
    first, last = (int(bound) for bound in snapshot.blob_first[blob : blob + 2])
    if first == last:
        raise UsageError(f"`{path}` is not indexed: {OUTCOMES[snapshot.blob_outcomes[blob]]}")
    with open_reader(workspace.location, bulk=False, files=searcher.files) as reader:
        lines = len((reader.read(view.oid(entry)) or b"").splitlines())
    if line > lines:
        raise UsageError(f"`{path}` has {lines} lines, there is no line {line}")
    return _innermost(searcher, first, last, line)


def _innermost(searcher: Searcher, first: int, last: int, line: int) -> int:
    """Of a blob's rows the shortest that holds a line, else the one nearest above it."""
    starts = searcher.snapshot.column("line")[first:last].tolist()
    sizes = searcher.snapshot.column("lines")[first:last].tolist()
    spans = [
        (size, row) for row, (start, size) in enumerate(zip(starts, sizes, strict=True)) if start <= line < start + size
    ]
    if spans:
        return first + min(spans)[1]
    above = [(start, row) for row, start in enumerate(starts) if start <= line]
    return first + (max(above)[1] if above else 0)
