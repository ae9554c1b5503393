"""The commits that introduced definitions of the past, by the tracer of definitions.

The lives in the index follow symbols and vectors. A trace compares the texts, so it also knows a file that came back,
and a definition that began under another name. It takes some tenths of a second for each result.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.answering.element_lookup import element_at
from gitmem.answering.history_notes import unreadable_notes
from gitmem.answering.trace_resources import (
    OutOfTimeError,
    limit_time,
    note_untraced,
    open_element_reader,
    open_trace_cache,
)
from gitmem.git.file_history import read_blob_id, read_details
from gitmem.git.path_encoding import path_bytes
from gitmem.git.revisions import resolve
from gitmem.history.matching import find_in_file
from gitmem.history.tracer import Tracer
from gitmem.locations import LineRange

if TYPE_CHECKING:
    from gitmem.answering.past_hit import PastHit
    from gitmem.git.locate import RepositoryLocation
    from gitmem.history.element_reader import ElementReader
    from gitmem.history.trace_cache import TraceCache
    from gitmem.history.version import Version
    from gitmem.workspace import Workspace


def trace_introductions(
    workspace: "Workspace", hits: "Sequence[PastHit]", tip: str, seconds: float
) -> "tuple[list[PastHit], list[str]]":
    """Return hits of the history up to a tip with the commits that introduced them, and notes about those left out.

    What no trace finds stays as it is: the clone ends before, or the index knows no commit of the shown version.
    Raises: GitFailed, WorkersFailed.
    """
    check = limit_time(seconds)
    location, cache = workspace.location, open_trace_cache(workspace)
    first: dict[int, str] = {}
    late = 0
    with open_element_reader(location, check, cache) as reader:
        for place, result in enumerate(hits):
            try:
                check()
                commit = _find_first(workspace, result, tip, reader, cache)
            except OutOfTimeError:
                late += 1
            else:
                first |= {place: commit} if commit else {}
        unread = unreadable_notes(location, reader.missing)
    if cache is not None:
        cache.save()
    details = read_details(location, sorted(set(first.values())))
    results = [
        result._replace(introduced=details.get(first[place], result.introduced)) if place in first else result
        for place, result in enumerate(hits)
    ]
    return results, [*note_untraced(late), *unread]


def _find_first(
    workspace: "Workspace", result: "PastHit", tip: str, reader: "ElementReader", cache: "TraceCache | None"
) -> str:
    """Return the commit that introduced a definition, "" if it is unknown."""
    location, hit = workspace.location, result.hit
    if result.since is None:
        return ""
    path = path_bytes(hit.path)
    version = element_at(reader.version(path, hit.blob), LineRange(hit.start_line, hit.end_line))
    # Commits behind the tip are not indexed: there the definition may be gone, or another one.
    end = tip if result.is_alive else f"{result.removed.commit}^" if result.removed else ""
    commit, last = _find_last(location, reader, version, end) or (result.since.commit, version)
    trace = Tracer(location, reader, cache).trace(commit, last)
    return trace.changes[-1].commit if trace.changes and not trace.cut else ""


def _find_last(
    location: "RepositoryLocation", reader: "ElementReader", version: "Version", end: str
) -> "tuple[str, Version] | None":
    """Return the commit at which a definition ends, and its version there; None if its path is another one then."""
    if not end:
        return None
    commit = resolve(location, end).commit
    blob = read_blob_id(location, commit, version.path) if commit else ""
    if commit is None or not blob:
        return None
    last = version if blob == version.source.oid else find_in_file(version, reader.version(version.path, blob))
    return (commit, last) if last is not None else None
