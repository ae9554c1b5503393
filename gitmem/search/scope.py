"""Rows a search may find: those of the view's blobs that pass the filters, selected before anything is ranked.

A narrow filter therefore never hides results that exist, as filtering the first N hits would. Each row belongs to one
path: of the paths that hold its blob and pass the filters, the first in path order.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.git.path_encoding import path_text
from gitmem.named_tuple import NamedTuple
from gitmem.search.outdated import Outdated
from gitmem.search.path_roles import ROLES, path_role
from gitmem.store.open_segments import OpenSegments
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.types import CHUNK_TYPES, ResultUnit

if TYPE_CHECKING:
    from gitmem.patterns.pathspec import Pathspec

UnitsFilter = Callable[[int, tuple[ResultUnit, ...]], tuple[ResultUnit, ...]]
"""Function that returns those of a row's units that pass, given the entry of its path in the view."""

ReadTimes = Callable[[NDArray[np.int64]], Sequence[str]]
"""Function that returns the times of entries, as ISO 8601 in UTC; "" for an entry without one."""


class Filters(NamedTuple):
    """Filters of a search; an empty one restricts nothing. Globs follow gitignore, pathspecs git's commands.

    `files` are whole paths. A folder of `folders` is a name at any depth, a path from the root, or a glob.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    chunk_types: tuple[str, ...] = ()
    pathspecs: "tuple[Pathspec, ...]" = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        return any(self)

    @property
    def any_of_paths(self) -> bool:
        """Whether paths are restricted."""
        return any(self._replace(languages=(), chunk_types=()))


class SearchedView(Protocol):
    """What a search reads of a view: that of one tree, or of several repositories."""

    def __len__(self) -> int: ...

    @property
    def paths(self) -> Sequence[bytes]: ...

    def path(self, entry: int) -> bytes: ...

    def oid(self, entry: int) -> str: ...

    def same_blob(self, entry: int) -> list[int]: ...

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None: ...


SAMPLED_PATHS: Final = 100
"""Paths from which the shares of the roles are estimated, with a standard error of at most 0.05."""


MAX_PATHS: Final = 1 << 15
"""Paths that a scope keeps as text: some 5 MB in a server of a large repository."""


class TermCounts(NamedTuple):
    """Number of rows and of files in scope that hold a term."""

    rows: int
    files: int


class Corpus(NamedTuple):
    """Statistics of the rows of which a scope holds a selection: numbers of rows, files and words, shares of roles."""

    rows: int
    files: int
    words: int
    role_shares: Mapping[str, float]


class Scope:
    """Searchable rows of open segments, and the statistics over them that ranking needs.

    `entry_of` [rows] maps each row to its entry in the view, -1 if the row is out of scope. `whole` is the scope
    without filters: all statistics are taken from it, so that a filter changes no score. Pass `blob_of`, the result of
    `snapshot.match(view)`, and `whole` if they are known already; `blob_of` is required for several repositories.
    `elsewhere` are then the entries of other repositories than the user's, [entries], on the scope without filters.
    """

    def __init__(
        self,
        snapshot: OpenSegments,
        view: SearchedView,
        filters: Filters,
        blob_of: NDArray[np.int64] | None = None,
        whole: "Scope | None" = None,
        elsewhere: NDArray[np.bool_] | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.view = view
        if blob_of is None:
            assert isinstance(snapshot, Snapshot), "only the segments of one index can be matched"
            assert isinstance(view, View), "only the view of one tree can be matched"
            blob_of = snapshot.match(view)
        self.blob_of = blob_of
        self.elsewhere = elsewhere
        # Counted once per term: queries of one conversation repeat their words.
        self.term_counts: dict[str, TermCounts] = {}
        # Postings of recent terms, if many segments make it slow to find them; see `term_postings.find_term`.
        self.recent_terms: dict[str, tuple[Any, ...]] | None = None
        # Rows that define a recent name, likewise; see `definition_rows`.
        self.recent_definitions: dict[tuple[str, ...], list[int]] | None = None
        # If another program selected the rows of this scope from a larger corpus, the statistics of that: a score then
        # depends on the corpus alone, as it does if all of its rows are here. It needs the counts of all terms, too.
        self.corpus: Corpus | None = None
        # Notes that are out of date, on the scope without filters; None if the view has none.
        self.outdated: Outdated | None = None
        # Times of some entries, on the scope without filters; None if the view has no records.
        self.read_times: ReadTimes | None = None
        self._paths: dict[int, str] = {}
        self._length_norms: dict[float, NDArray[np.float32]] = {}
        allowed = (blob_of >= 0) & passing_paths(view, filters)
        self._sizes = differences(snapshot.blob_first)
        self._owner = _assign_blobs(len(self._sizes), blob_of, allowed)
        if filters.languages:
            self._owner[~self._language_blobs(filters.languages)] = -1
        self.entry_of = np.repeat(self._owner, self._sizes)
        # Sums over whole blobs are cheaper than sums over their rows.
        self._has_whole_blobs = not filters.chunk_types
        if filters.chunk_types:
            kinds = sum(1 << CHUNK_TYPES.index(chunk_type) for chunk_type in set(filters.chunk_types))
            self.entry_of[snapshot.column("kinds").astype(np.uint32) & kinds == 0] = -1
        self._chunk_types = frozenset(filters.chunk_types)
        self._units_filter: UnitsFilter | None = None
        if whole is None and filters.any:
            whole = Scope(snapshot, view, Filters(), blob_of)
        # None instead of itself: in a circle of references the files of the index would stay open.
        self._whole = whole

    @property
    def whole(self) -> "Scope":
        """The scope without filters."""
        return self if self._whole is None else self._whole

    def restrict(self, rows: NDArray[np.bool_], units_filter: UnitsFilter | None = None) -> None:
        """Put all other rows out of scope, and of the units that share a row those that the filter drops.

        Call it before any other method, on a scope that was given its `whole`: the properties below are cached.
        """
        self.entry_of[~rows] = -1
        self._has_whole_blobs = False
        self._units_filter = units_filter

    def select_units(self, entry: int, units: tuple[ResultUnit, ...]) -> tuple[ResultUnit, ...]:
        """Return the units of a row in scope that pass the filters."""
        if self._chunk_types:
            units = tuple(unit for unit in units if unit.chunk_type in self._chunk_types)
        return self._units_filter(entry, units) if self._units_filter is not None else units

    def _language_blobs(self, languages: Sequence[str]) -> NDArray[np.bool_]:
        masks = []
        for segment in self.snapshot.segments:  # language codes are numbered per segment
            accepted = np.array([name in languages for name in segment.languages] or [False])
            masks.append(accepted[segment.blob_languages])
        return np.concatenate(masks) if masks else np.zeros(0, bool)

    def path(self, entry: int) -> str:
        """Return the path of an entry. Those of earlier candidates are kept: related queries have the same ones."""
        path = self._paths.get(entry)
        if path is None:
            if len(self._paths) >= MAX_PATHS:
                self._paths.clear()
            path = self._paths[entry] = path_text(self.view.path(entry))
        return path

    def rows_of(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows in scope that belong to some entries, all of which are indexed."""
        rows, sizes = _rows_of_blobs(self.snapshot, self.blob_of[entries])
        inside: NDArray[np.bool_] = self.entry_of[rows] == np.repeat(entries, sizes)
        return rows[inside]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Return which rows are in scope, [rows]."""
        return self.entry_of >= 0

    @cached_property
    def outside(self) -> NDArray[np.int64]:
        """Return the rows out of scope, ascending: few in most trees, so that they are cheaper than a mask."""
        return np.zeros(0, np.int64) if self.is_whole_snapshot else np.flatnonzero(~self.mask)

    @cached_property
    def row_count(self) -> int:
        """Return the number of rows in scope."""
        return int(self._sizes[self._owner >= 0].sum()) if self._has_whole_blobs else int(self.mask.sum())

    @cached_property
    def is_whole_snapshot(self) -> bool:
        """Return whether every row of the snapshot is in scope."""
        return self.row_count == self.snapshot.rows

    @cached_property
    def is_filtered(self) -> bool:
        """Return whether a filter changes the rows in scope, or the path of one."""
        return self.whole is not self and not np.array_equal(self.entry_of, self.whole.entry_of)

    @property
    def document_counts(self) -> TermCounts:
        """Return the number of rows and of files over which the statistics are taken."""
        if self.corpus is not None:
            return TermCounts(self.corpus.rows, self.corpus.files)
        return TermCounts(self.row_count, self.file_count)

    @cached_property
    def role_shares(self) -> Mapping[str, float]:
        """Return the share of each path role in the indexed files of the view, estimated on an even sample of them."""
        if self.corpus is not None:
            return self.corpus.role_shares
        files = np.flatnonzero(self.blob_of >= 0)
        sample = files[:: max(1, len(files) // SAMPLED_PATHS)].tolist()
        roles = [path_role(path_text(self.view.path(entry))) for entry in sample]
        return {role: roles.count(role) / max(1, len(roles)) for role in ROLES}

    @cached_property
    def word_counts(self) -> NDArray[np.float32]:
        """Return the number of words in each row's text, [rows]."""
        return self.snapshot.column("words").astype(np.float32)

    def length_norms(self, b: float) -> NDArray[np.float32]:
        """Return BM25's divisors of the term frequencies in each row's text, [rows]; computed once for each `b`."""
        norms = self._length_norms.get(b)
        if norms is None:
            norms = self._length_norms[b] = 1 - b + b * self._relative_lengths()
        return norms

    def _relative_lengths(self) -> NDArray[np.float32]:
        """Return each row's words divided by the mean of the rows in scope, [rows]."""
        if self.corpus is not None:
            return self.word_counts / np.float32(max(self.corpus.words / max(self.corpus.rows, 1), 1e-9))
        own = self.word_counts if self.is_whole_snapshot else self.word_counts[self.mask]
        return self.word_counts / np.float32(max(float(own.mean()), 1e-9) if len(own) else 1.0)

    @cached_property
    def file_word_counts(self) -> NDArray[np.float32]:
        """Return the number of words in each path's blob, [entries]; 0 if it is not indexed."""
        ends = np.cumsum(self.snapshot.column("words"), dtype=np.int64)
        sums = differences(np.concatenate([[0], ends])[self.snapshot.blob_first])
        counts = np.zeros(len(self.view), np.float32)
        indexed = self.blob_of >= 0
        counts[indexed] = sums[self.blob_of[indexed]]
        return counts

    @cached_property
    def relative_file_lengths(self) -> NDArray[np.float32]:
        """Return each path's words divided by the mean of the files in scope, [entries]."""
        if self.corpus is not None:
            mean = self.corpus.words / max(self.corpus.files, 1)
        else:
            mean = float(self.file_word_counts[self.has_rows].sum()) / max(self.file_count, 1)
        return self.file_word_counts / np.float32(max(mean, 1e-9))

    @cached_property
    def has_rows(self) -> NDArray[np.bool_]:
        """Return which paths have a row in scope, [entries]."""
        has_rows = np.zeros(len(self.view), bool)
        whole = self._owner[(self._owner >= 0) & (self._sizes > 0)]
        has_rows[whole if self._has_whole_blobs else self.entry_of[self.mask]] = True
        return has_rows

    @cached_property
    def file_count(self) -> int:
        """Return the number of paths with a row in scope."""
        return int(self.has_rows.sum())


def passing_paths(view: SearchedView, filters: Filters) -> NDArray[np.bool_]:
    """Return which paths of a view pass the filters on paths, [entries]."""
    if not filters.any_of_paths:
        return np.ones(len(view), bool)
    from gitmem.search.globs import compile_filters  # the glob matcher is a tenth of the search's imports

    matches = compile_filters(filters.include, filters.exclude, filters.pathspecs, filters.files, filters.folders)
    return np.fromiter((matches(path) for path in view.paths), bool, len(view))


def _assign_blobs(blobs: int, blob_of: NDArray[np.int64], allowed: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Map each blob to the first allowed entry that holds it, -1 if there is none."""
    owner = np.full(blobs, -1, np.int32)
    # Of repeated indices the last assignment remains, and in reverse order that is the first entry.
    entries = np.flatnonzero(allowed)[::-1]
    owner[blob_of[entries]] = entries
    return owner


def _rows_of_blobs(snapshot: OpenSegments, blobs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of some blobs, concatenated in the order of the blobs, and the number of rows of each."""
    starts, ends = snapshot.blob_first[blobs], snapshot.blob_first[blobs + 1]
    sizes = ends - starts
    # Concatenated ranges without a loop: a running number, reset to 0 where each blob begins, plus the blob's start.
    offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(starts, sizes) + offsets, sizes
