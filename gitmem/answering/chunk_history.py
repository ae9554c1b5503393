"""When the chunk of a hit was introduced and last changed, by the tracer of definitions.

A trace reads the commits of one path, so nothing here is part of a plain search. Traces are cached by commit and path.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gitmem.answering.blame import Blame
from gitmem.answering.element_lookup import element_at, shift_lines
from gitmem.answering.history_notes import unreadable_notes
from gitmem.answering.trace_resources import (
    OutOfTimeError,
    limit_time,
    note_untraced,
    open_element_reader,
    open_trace_cache,
)
from gitmem.freshness.tree_selection import COMMIT, STAGED
from gitmem.git.commit_diffs import read_uncommitted_hunks
from gitmem.git.file_history import read_blob_id, read_details
from gitmem.git.path_encoding import path_bytes
from gitmem.history.trace import last_change
from gitmem.history.tracer import Tracer
from gitmem.locations import LineRange
from gitmem.memory.kinds import CODE, kind_of
from gitmem.named_tuple import NamedTuple

if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher
    from gitmem.history.element_reader import ElementReader
    from gitmem.history.trace_cache import TraceCache
    from gitmem.history.version import Version
    from gitmem.search.hits import Hit


class CommittedChunk(NamedTuple):
    """Chunk of a hit as HEAD has it, None if it is new, and whether the tree has changes of it."""

    version: "Version | None"
    is_changed: bool


class ChunkTracer:
    """Traces the chunks of hits in the history of one tree. `chunk_tracer` opens one."""

    def __init__(self, searcher: "Searcher", commit: str, reader: "ElementReader", cache: "TraceCache | None") -> None:
        self._tree = searcher.tree
        self._changes = searcher.changes
        self._commit = commit
        self._reader = reader
        self._cache = cache
        self._blobs: dict[bytes, str] = {}
        self._hunks: dict[bytes, list[tuple[int, int, int, int]]] = {}

    def blame(self, hit: "Hit") -> tuple[str, str, bool]:
        """Return the commits that introduced and last changed the chunk of a hit, "" if unknown; see `Blame`."""
        version, is_changed = self.find(hit)
        if version is None:
            return "", "", True
        trace = self._tracer().trace(self._commit, version)
        last = last_change(trace.changes)
        first = trace.changes[-1].commit if trace.changes and not trace.cut else ""
        return first, last.commit if last is not None else "", is_changed

    def last(self, hit: "Hit") -> tuple[str, bool]:
        """Return the commit that last changed the chunk of a hit, "" if unknown, and whether the tree changes it."""
        version, is_changed = self.find(hit)
        change = self._tracer().trace_last(self._commit, version) if version is not None and not is_changed else None
        return change.commit if change is not None else "", is_changed

    def find(self, hit: "Hit") -> CommittedChunk:
        """Return the chunk of a hit as it was committed."""
        path, lines = path_bytes(hit.path), LineRange(hit.start_line, hit.end_line)
        if path not in self._blobs:
            self._blobs[path] = read_blob_id(self._tree.location, self._commit, path)
        if not self._blobs[path]:
            return CommittedChunk(None, is_changed=True)
        is_changed = False
        if self._tree.source != COMMIT and path in self._changes:
            first, last = shift_lines(self._read_hunks(path), lines)
            is_changed = last - first != lines.last - lines.first or self._touches(path, lines)
            if first > last:
                return CommittedChunk(None, is_changed=True)
            lines = LineRange(first, last)
        return CommittedChunk(element_at(self._reader.version(path, self._blobs[path]), lines), is_changed)

    def notes(self) -> list[str]:
        """Return a note if git could not read objects that the traces needed."""
        return unreadable_notes(self._tree.location, self._reader.missing)

    def _read_hunks(self, path: bytes) -> list[tuple[int, int, int, int]]:
        if path not in self._hunks:
            staged = self._tree.source == STAGED
            self._hunks[path] = read_uncommitted_hunks(self._tree.location, path, staged=staged)
        return self._hunks[path]

    def _touches(self, path: bytes, lines: LineRange) -> bool:
        """Return whether a difference from HEAD is inside of some lines. Lines were removed behind a line of size 0."""
        return any(
            first <= lines.last - (size == 0) and first + max(size, 1) > lines.first
            for _, _, first, size in self._read_hunks(path)
        )

    def _tracer(self) -> Tracer:
        return Tracer(self._tree.location, self._reader, self._cache)


@contextmanager
def chunk_tracer(searcher: "Searcher", check: Callable[[], None] = lambda: None) -> Iterator[ChunkTracer | None]:
    """Open a tracer of the chunks of a searcher's hits; None if its tree belongs to no commit. Traces are cached.

    `check` is called often, and ends a trace by an exception.
    """
    commit = searcher.tree.revision.commit
    if commit is None:
        yield None
        return
    cache = open_trace_cache(searcher.workspace)
    with open_element_reader(searcher.tree.location, check, cache) as reader:
        yield ChunkTracer(searcher, commit, reader, cache)
    if cache is not None:
        cache.save()


def read_blames(searcher: "Searcher", hits: "Sequence[Hit]", seconds: float) -> tuple[list[Blame | None], list[str]]:
    """Return the blame of each hit, None for records and commits, and notes about unknown commits.

    The time may not have sufficed for all, or git cannot read an object. Finished traces are cached, so a repeated
    query completes the rest. Raises: GitFailed, WorkersFailed.
    """
    check = limit_time(seconds)
    entries: list[tuple[str, str, bool] | None] = [None] * len(hits)
    untraced = 0
    notes: list[str] = []
    with chunk_tracer(searcher, check) as tracer:
        for place, hit in enumerate(hits):
            if tracer is not None and kind_of(hit.chunk_type) == CODE:
                try:
                    check()
                    entries[place] = tracer.blame(hit)
                except OutOfTimeError:
                    untraced += 1
        if tracer is not None:
            notes = tracer.notes()
    commits = {commit for entry in entries if entry is not None for commit in entry[:2] if commit}
    details = read_details(searcher.tree.location, sorted(commits))
    blames = [entry and Blame(details.get(entry[0]), details.get(entry[1]), entry[2]) for entry in entries]
    return blames, [*note_untraced(untraced), *notes]
