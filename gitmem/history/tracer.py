"""Walk from a commit to its ancestors and collect the commits that changed one element.

git lists the commits that changed the path (`read_path_changes`), with their blobs. Where an element's text occurs
unchanged in the older blob, nothing is parsed. Where the path or the element begins, the other files of that commit
are searched, and the walk goes on in the file that the element came from.

At a merge, the walk follows the parents whose element equals the merged one: the others contributed nothing. If all
differ, it follows all of them. The merge itself is a change only if it has lines that no parent has. A parent that has
the element under another path counts as well: one side of the merge had moved it.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from gitmem.git.file_history import (
    FileChange,
    PathChange,
    read_blob_id,
    read_changed_files,
    read_commit_files,
    read_parents,
    read_path_changes,
    read_shallow,
)
from gitmem.git.locate import RepositoryLocation
from gitmem.history.changes import FILE_MOVE, INTRODUCED, MOVE, compare
from gitmem.history.element_reader import ElementReader
from gitmem.history.line_tracking import LINES, find_lines
from gitmem.history.matching import find_in_file
from gitmem.history.moves import Origin, find_elsewhere, find_renamed_lines
from gitmem.history.origins import find_merged, find_split
from gitmem.history.trace import Change, Trace, last_change
from gitmem.history.trace_cache import TraceCache
from gitmem.history.unchanged import find_unchanged
from gitmem.history.version import Version
from gitmem.named_tuple import NamedTuple

_MAX_MOVES: Final = 200
"""Files that one element is followed through: a guard against a walk in circles."""


class _State(NamedTuple):
    """Element at a commit that changed its path."""

    commit: str
    version: Version


class _MovedSide(NamedTuple):
    """Parent of a merge, and the element there under another path."""

    commit: str
    origin: Origin


class Tracer:
    """Walks the history of one element. The reader is shared with the caller, who closes it."""

    def __init__(self, location: RepositoryLocation, reader: ElementReader, cache: TraceCache | None = None) -> None:
        self._last_only = False
        self._since: tuple[str, ...] = ()
        self._location = location
        self._reader = reader
        self._cache = cache
        self._shallow = read_shallow(location)
        self._changes: dict[str, Change] = {}
        self._cut: list[str] = []
        self._order: dict[str, int] = {}
        self._todo: deque[tuple[str, Version]] = deque()
        self._moves = 0

    def trace(self, commit: str, version: Version) -> Trace:
        """Return the history of an element as it is in a commit."""
        if self._cache is None:
            return self._trace(commit, version)
        listed = self._read_changes(commit, version.path)
        # All commits since the last one that changed the path give the same history.
        last = listed[0].commit if listed else commit
        trace = self._cache.find_trace(last, version)
        if trace is None:
            trace = self._trace(commit, version)
            if self._reader.is_complete:
                self._cache.add_trace(last, version, trace)
        return trace

    def trace_last(self, commit: str, version: Version) -> Change | None:
        """Return the last change of an element's text, as `last_change` does, without reading what came before.

        None if a shallow clone hides it.
        """
        listed = self._read_changes(commit, version.path)
        trace = self._cache.find_trace(listed[0].commit, version) if self._cache is not None and listed else None
        if trace is None:
            self._last_only = True
            trace = self._trace(commit, version)
        return last_change(trace.changes)

    def trace_range(self, commit: str, version: Version, since: Sequence[str]) -> list[Change]:
        """Return the changes of an element in the commits that are in the history of none of `since`.

        Nothing before them is read, so that the cost depends on the length of the range alone.
        """
        self._since = tuple(f"^{each}" for each in since)
        return self._trace(commit, version).changes

    @property
    def _is_done(self) -> bool:
        return self._last_only and last_change(self._changes.values()) is not None

    def _trace(self, commit: str, version: Version) -> Trace:
        self._todo.append((commit, version))
        while self._todo and self._moves <= _MAX_MOVES and not self._is_done:
            start, element = self._todo.popleft()
            self._moves += 1
            self._walk(start, element)
        changes = sorted(self._changes.values(), key=lambda change: self._order[change.commit])
        return Trace(changes, self._cut)

    def _read_changes(self, start: str, path: bytes) -> list[PathChange]:
        """Return the commits that changed a path, from the cache if they are there."""
        # Lists of a part of the history are not cached: the cache is for whole ones.
        if self._since:
            return read_path_changes(self._location, (start, *self._since), path)
        changes = self._cache.find_changes(start, path) if self._cache is not None else None
        if changes is None:
            changes = read_path_changes(self._location, (start,), path)
            if self._cache is not None:
                self._cache.add_changes(start, path, changes)
        return changes

    def _walk(self, start: str, version: Version) -> None:
        """Follow an element through the history of its path, up to where the path or the element begins."""
        listed = self._read_changes(start, version.path)
        by_commit = {change.commit: change for change in listed}
        for change in listed:
            self._order.setdefault(change.commit, len(self._order))
        self._reader.expect([change.blob for change in listed])
        if not listed:
            return
        states = [_State(listed[0].commit, version)]
        seen = {(listed[0].commit, version.element.start)}
        while states and not self._is_done:
            # Newest first, so that the first change that is recorded is the last one of the element.
            state = states.pop(min(range(len(states)), key=lambda at: self._order[states[at].commit]))
            for older in self._step(by_commit[state.commit], state.version, by_commit):
                key = (older.commit, older.version.element.start)
                if key not in seen:
                    seen.add(key)
                    states.append(older)

    def _step(self, change: PathChange, version: Version, known: dict[str, PathChange]) -> list[_State]:
        """Compare an element with the parents of a commit, record the change, and return where the walk goes on."""
        parents = [known[parent] for parent in change.parents if parent in known and known[parent].blob]
        olds = [(parent.commit, self._find(version, parent.blob)) for parent in parents]
        states = [_State(commit, old) for commit, old in olds if old is not None]
        unchanged = [state for state in states if not compare(state.version, version)]
        if unchanged:
            return unchanged
        if not states and self._since and change.before and not parents:
            self._compare_boundary(change, version)
            return []
        if change.is_merge and self._follow_moved(change, version, states):
            return states
        if not states:
            self._begin(change, version, has_file=bool(parents))
            return []
        if len(states) > 1:
            self._record_merge(change, version, states)
        else:
            self._record(change.commit, states[0].version, version)
        return states

    def _follow_moved(self, change: PathChange, version: Version, states: list[_State]) -> bool:
        """Follow the parents of a merge that have the element under another path; return whether there are any.

        `states` are those with the same path, none of which has the same text. They are removed if a moved one has it.
        """
        sides = list(self._moved_sides(change.commit, version))
        same = [side for side in sides if _is_moved_only(side.origin, version)]
        if same:
            sides = same
            states.clear()
        if states:
            others = [_State(side.commit, side.origin.version) for side in sides]
            self._record_merge(change, version, [*states, *others])
        elif sides:
            origin = sides[0].origin
            self._record(change.commit, origin.version, version, file_moved=origin.file_moved)
        self._todo.extend((side.commit, side.origin.version) for side in sides)
        return bool(sides)

    def _moved_sides(self, merge: str, version: Version) -> Iterator[_MovedSide]:
        """Yield the parents of a merge whose file of the same path lacks an element that another of their files has."""
        for parent in read_parents(self._location, merge):
            blob = read_blob_id(self._location, parent, version.path)
            if not blob or self._find(version, blob) is None:
                files, unreadable = read_changed_files(self._location, parent, merge)
                self._reader.note_missing(unreadable)
                origin = self._find_origin(version, files)
                if origin is not None:
                    yield _MovedSide(parent, origin)

    def _find(self, version: Version, blob: str) -> Version | None:
        """Return the element in an older version of the same file."""
        older = self._reader.version(version.path, blob)
        if version.element.chunk_type == LINES:
            return find_lines(version, older)
        return find_unchanged(version, older) or find_in_file(version, older)

    def _compare_boundary(self, change: PathChange, version: Version) -> None:
        """Compare an element with the parent of the oldest commit of a range: the walk does not enter that parent."""
        old = self._find(version, change.before)
        if old is None:
            self._begin(change, version, has_file=True)
        elif compare(old, version):
            self._record(change.commit, old, version)

    def _begin(self, change: PathChange, version: Version, *, has_file: bool) -> None:
        """Handle the commit in which the path or the element begins: it came from another file, or is new."""
        commit = change.commit
        if commit in self._shallow:
            self._cut.append(commit)
            return
        files, unreadable = read_commit_files(self._location, commit, renames=not has_file)
        self._reader.note_missing(unreadable)
        origin = self._find_origin(version, files)
        if origin is not None:
            self._record(commit, origin.version, version, file_moved=origin.file_moved)
            self._todo.append((f"{commit}^1", origin.version))
            return
        # The element may have come from a file that cannot be read, so it is not said to begin here.
        if unreadable or not self._reader.missing.isdisjoint(each.old_blob for each in files):
            self._cut.append(commit)
            return
        own = next((each for each in files if each.path == version.path and each.old_blob), None)
        split = find_split(version, self._reader.version(own.old_path, own.old_blob)) if own is not None else ()
        self._changes[commit] = Change(commit, (INTRODUCED,), version.path, version.element.symbol, sources=split)

    def _find_origin(self, version: Version, files: Sequence[FileChange]) -> Origin | None:
        """Return the element of another file of a commit that became this one."""
        find = find_renamed_lines if version.element.chunk_type == LINES else find_elsewhere
        return find(version, files, self._reader)

    def _record(self, commit: str, old: Version, new: Version, *, file_moved: bool = False) -> None:
        merged = find_merged(old, new) if old.path == new.path else ()
        kinds = compare(old, new, file_moved=file_moved)
        place = (new.path, new.element.symbol, old.path, old.element.symbol)
        self._changes[commit] = Change(commit, kinds, *place, merged)

    def _record_merge(self, change: PathChange, version: Version, states: list[_State]) -> None:
        """Record a merge if it has lines of its own, for example from the resolution of a conflict."""
        inherited = {line.strip() for state in states for line in state.version.text.splitlines()}
        if any(line.strip() not in inherited for line in version.text.splitlines()):
            self._record(change.commit, states[0].version, version)


def _is_moved_only(origin: Origin, version: Version) -> bool:
    """Return whether an element differs from its origin by nothing but its place."""
    return set(compare(origin.version, version, file_moved=origin.file_moved)) <= {FILE_MOVE, MOVE}
