"""What a user asks for: a query in words, or a location whose code others resemble; and the checks of both. Pure."""

from typing import TYPE_CHECKING, Final

from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.memory.kinds import CODE, DEFAULT, parse_kinds
from gitmem.named_tuple import NamedTuple
from gitmem.records.filters import NO_FILTERS, RecordFilters
from gitmem.settings import SEARCH_MAX_LIMIT, Settings
from gitmem.types import CHUNK_TYPES

if TYPE_CHECKING:
    from gitmem.patterns.pathspec import Pathspec

MAX_QUERY: Final = 32_000
"""Maximum length of a query in characters: issue texts with logs and stack traces are that long."""

MODES: Final = ("hybrid", "semantic", "lexical")


class SearchFilters(NamedTuple):
    """Restrictions of a search. Several values of one filter mean any of them; different filters must all hold.

    `include` and `exclude` are path globs, `pathspecs` those of git, `files` whole paths. `folders` are names at any
    depth, paths from the root (`/src`) or globs. `records` are filters on the fields of records,
    of which code passes those on its last change.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    chunk_types: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    records: RecordFilters = NO_FILTERS
    pathspecs: "tuple[Pathspec, ...]" = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether anything but the kinds is restricted."""
        return self._replace(kinds=()) != ALL_CONTENT

    @property
    def excludes_records(self) -> bool:
        """Whether a filter names files or folders, which records are not."""
        return bool(self.pathspecs or self.files or self.folders)


ALL_CONTENT: Final = SearchFilters()

MAX_FILES: Final = 500
MAX_FOLDERS: Final = 100


class Query(NamedTuple):
    """A query in words or symbols. `limit` 0 means the configured default.

    `neighbors` adds the adjacent chunks, and `details` the place of each hit in the index (`hit_details`). Results
    below `min_score` are left out; None is for the default. `blame` is the number of seconds for which the commits
    are sought that introduced and last changed each hit, 0 if they are not wanted.
    """

    text: str
    limit: int = 0
    mode: str = "hybrid"
    filters: SearchFilters = ALL_CONTENT
    neighbors: bool = False
    min_score: float | None = None
    details: bool = False
    blame: float = 0.0

    @property
    def least_score(self) -> float | None:
        """Least score of a result; None means the floor of `gitmem.search.calibration`.

        By default a search of records alone has no floor: a few notes are too few to judge a query by.
        """
        if self.min_score is None and self.filters.kinds and CODE not in self.filters.kinds:
            return 0.0
        return self.min_score


class SimilarQuery(NamedTuple):
    """A location with a line, a symbol or a chunk (see `gitmem.locations`): the result is code like that chunk.

    The path is relative to the root of the tree, or else to `folder`, the user's folder below the root.
    """

    text: str
    limit: int = 0
    folder: str = ""
    details: bool = False

    @property
    def filters(self) -> SearchFilters:
        """Only code is compared with code."""
        return _CODE_ONLY

    @property
    def neighbors(self) -> bool:
        """Adjacent chunks are never read."""
        return False

    @property
    def blame(self) -> float:
        """Their history is never read."""
        return 0.0


_CODE_ONLY: Final = SearchFilters(kinds=(CODE,))


def kinds_of(filters: SearchFilters, tree: TreeSelection) -> tuple[str, ...]:
    """Return the kinds to search: the given ones, or else code, with documents if the whole working tree is searched.

    Records have no paths, so files, folders and pathspecs select only code.
    """
    return filters.kinds or (DEFAULT if tree.is_working_tree and not filters.excludes_records else (CODE,))


def check_query(query: Query | SimilarQuery, tree: TreeSelection, settings: Settings) -> int:
    """Check a query against the bounds; return the limit in force. Raises UsageError."""
    if not query.text.strip():
        raise UsageError("the query is empty", hint='ask something: gitmem query "where are cookies signed"')
    # A NUL byte means that a file was passed by mistake; no embedding of it could be useful.
    if "\0" in query.text:
        raise UsageError("the query is binary data", hint="ask in words or symbols")
    if len(query.text.strip()) > MAX_QUERY:
        raise UsageError(f"Query exceeds maximum length of {MAX_QUERY} characters", hint="shorten the query")
    if isinstance(query, Query):
        _check_filters(query, tree)
        if query.min_score is not None and not 0 <= query.min_score <= 1:
            raise UsageError(f"the minimum score is {query.min_score:g}, it must be between 0 and 1")
    limit, max_limit = query.limit, settings.search_max_limit
    # The configured default may exceed the configured maximum; then the maximum holds.
    limit = limit or min(settings.search_default_limit, max_limit)
    if not 1 <= limit <= max_limit:
        raised = max(1, min(limit, SEARCH_MAX_LIMIT.maximum))
        raise UsageError(
            f"the limit is {limit}, it must be between 1 and {max_limit}",
            hint=f"`{SEARCH_MAX_LIMIT.key}` is {max_limit}; to raise it: git config {SEARCH_MAX_LIMIT.key} {raised}",
        )
    return limit


def _check_filters(query: Query, tree: TreeSelection) -> None:
    filters = query.filters
    if query.mode not in MODES:
        raise UsageError(f"unknown mode `{query.mode}`", hint="modes: " + ", ".join(MODES))
    unknown = next((name for name in filters.chunk_types if name not in CHUNK_TYPES), None)
    if unknown is not None:
        raise UsageError(f"unknown chunk type `{unknown}`", hint="chunk types: " + ", ".join(CHUNK_TYPES))
    parse_kinds(filters.kinds)
    if tree.changed and any(kind != CODE for kind in filters.kinds):
        raise UsageError("`--changed` applies only to code", hint="leave out `--kind`")
    if filters.excludes_records and any(kind != CODE for kind in filters.kinds):
        raise UsageError("paths apply only to code", hint="leave out `--kind`, or the files, folders and paths")
    for name, values, most in (("files", filters.files, MAX_FILES), ("folders", filters.folders, MAX_FOLDERS)):
        if len(values) > most:
            raise UsageError(f"{len(values)} {name}, a query takes at most {most}", hint="name a folder above them")
        if not all(value.strip("/") for value in values):
            raise UsageError(f"an empty name in the {name}", hint="paths are relative to the root of the repository")
    if filters.records.excludes_code and kinds_of(filters, tree) == (CODE,):
        raise UsageError("record filters do not apply to code", hint="search records: --kind documents")
