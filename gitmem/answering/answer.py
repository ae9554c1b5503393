"""Answer a query about a tree: open it, search it, read the text of the hits.

The path of a query leads straight down: `answer` here, `Searcher.find`, then `search.engine`; and for the text of the
hits `hit_text.read_hits`. A server holds the searcher open and calls `answer_open`.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gitmem.answering.hit_text import HitLines, Piece, named_hit, read_hits
from gitmem.answering.search_query import Query, SimilarQuery, check_query, kinds_of
from gitmem.display import hides_text, note_hidden_text
from gitmem.errors import DamagedFile, GitFailed, WorkersFailed
from gitmem.events import measured
from gitmem.freshness.tree_selection import COMMIT, WORKING_TREE, WORKTREE, SelectedTree, TreeReader, TreeSelection
from gitmem.git.locate import describe_head
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_bytes, path_text, queried_path
from gitmem.install.registered_files import users_entries
from gitmem.memory.kinds import CODE
from gitmem.named_tuple import NamedTuple
from gitmem.search.snippet import join_lines
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.answering.blame import Blame
    from gitmem.answering.hit_details import HitDetails
    from gitmem.answering.searcher import Searcher
    from gitmem.records.code_notes import CodeNote
    from gitmem.search.engine import Rejected, SearchResult
    from gitmem.search.hits import Hit

_NAMED_FILES: Final = 5
"""Files that a note names."""

Result = TypeVar("Result")
Find = Callable[[Query | SimilarQuery, int], "SearchResult"]
"""Searches an open tree for at most so many hits."""


class ViewState(NamedTuple):
    """Which tree an answer describes, and how completely it is indexed.

    `source` is `worktree`, `staged` or `commit`. `uncommitted` paths differ from the commit, without files of clients
    that are as gitmem wrote them; `dirty` says whether any does, None if git could not tell.
    `missing` files are not indexed.
    """

    rev: str
    commit: str | None
    tree: str
    branch: str | None
    dirty: bool | None
    stale: bool
    missing: int
    files: int
    source: str
    uncommitted: int
    plain: str = ""
    """Name of a folder outside of any repository: all of its files are uncommitted, so none is said to be."""

    @property
    def index_options(self) -> str:
        """Options of the `gitmem index` that indexes the missing files, each after a space."""
        if self.source == COMMIT and self.rev != "HEAD":
            return f" --rev {(self.commit or self.tree)[:10]}"
        return " --uncommitted" if self.uncommitted and self.source == WORKTREE else ""


class Answer(NamedTuple):
    """Hits with the lines of their chunks, best first.

    `changes` maps the paths of hits with uncommitted changes to `modified`, `staged` or `untracked`. `files` maps blobs
    that may exist only in the working tree to their paths. `records` maps the blobs of records to their fields.
    `adjacent` has the chunks before and after each hit, None at either end of a file or if not requested.
    `rejected` counts results below the least score, None without any. `code_notes` are the notes about the code of each
    hit. If requested, `details` are what the index knows of its chunk, and `blames` the commits that introduced and
    changed it. `folder` is the root of the working tree.
    `without_keys` are the lines of hits and adjacent chunks with
    private keys as dots, None if there are none.
    """

    query: Query | SimilarQuery
    view: ViewState
    terms: tuple[str, ...]
    hits: "list[tuple[Hit, list[str]]]"
    stats: dict[str, Any]
    notes: list[str]
    changes: Mapping[str, str]
    files: Mapping[str, bytes]
    records: Mapping[str, Mapping[str, Any]]
    adjacent: "Sequence[tuple[Piece | None, Piece | None]]"
    code_notes: "Sequence[Sequence[CodeNote]]"
    without_keys: HitLines | None = None
    rejected: "Rejected | None" = None
    details: "Sequence[HitDetails]" = ()
    folder: Path | None = None
    blames: "Sequence[Blame | None]" = ()
    session: str = ""
    """Id under which the search is kept, "" if it is not."""

    @property
    def is_lexical(self) -> bool:
        """Whether the query compared words alone."""
        return isinstance(self.query, Query) and self.query.mode == "lexical"


def answer(
    workspace: Workspace, query: Query | SimilarQuery, selection: TreeSelection = WORKING_TREE, *, refresh: bool = True
) -> Answer:
    """Answer one query about a tree. With `refresh` missing blobs are indexed and damage is repaired first.

    Raises: UsageError, UnknownRevision, NoIndex, UnsafeIndex, NewerFormat.
    """
    started = time.perf_counter()
    limit = check_query(query, selection, workspace.settings)
    result, repaired = with_tree(
        workspace,
        selection,
        query.filters.kinds,
        lambda searcher, blobs: answer_open(searcher, query, limit, blobs),
        refresh=refresh,
    )
    if repaired:
        result.notes.insert(0, repaired)
    # Includes opening the index: it is the time the user waited, without the start of Python.
    result.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
    return result


def with_tree(
    workspace: Workspace,
    selection: TreeSelection,
    kinds: tuple[str, ...],
    use: "Callable[[Searcher, ObjectReader], Result]",
    *,
    refresh: bool,
) -> tuple[Result, str]:
    """Open a tree and a reader of its blobs for one use; return its result, and a note if damage was repaired.

    Raises: as `open_searcher` and `use`.
    """

    def open_and_use() -> Result:
        # `git status` runs since the reader was made: importing numpy and the search meanwhile costs no time.
        from gitmem.answering.searcher import open_searcher

        searcher = open_searcher(workspace, selection, kinds, refresh=refresh, reader=reader)
        with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as blobs:
            return use(searcher, blobs)

    # The reader starts `git status` now and waits for it late, see freshness.tree_selection.
    with TreeReader(workspace.location, selection) as reader:
        try:
            return open_and_use(), ""
        except DamagedFile as problem:
            if not refresh:
                raise
            rebuild_damaged(workspace, reader)
            return open_and_use(), f"{problem.message}; rebuilt"


def rebuild_damaged(workspace: Workspace, reader: TreeReader) -> None:
    """Verify every checksum and rebuild the damaged files."""
    from gitmem.freshness.refresh import RefreshSettings, refresh  # loads the parsers; needed only after damage

    refresh(workspace, reader.read().revision.tree, RefreshSettings(check=True))
    from gitmem.freshness.commit_run import repair_commits

    repair_commits(workspace)


def answer_open(
    searcher: "Searcher", query: Query | SimilarQuery, limit: int, blobs: ObjectReader, find: "Find | None" = None
) -> Answer:
    """Answer from an open tree. `limit` is the result of `check_query`, `blobs` reads the tree's blobs.

    `find` searches instead of the searcher. Raises: UsageError, DamagedFile.
    """
    find = find or partial(find_hits, searcher)
    with measured("search.query", searcher.workspace.paths) as operation:
        operation.texts["query"] = query.text
        answer = answer_found(searcher, query, find(query._replace(text=query.text.strip()), limit), limit, blobs)
        operation.ids["tree"] = searcher.tree.revision.tree
        operation.amounts["results"] = len(answer.hits)
    return answer


def find_hits(searcher: "Searcher", query: Query | SimilarQuery, limit: int) -> "SearchResult":
    """Return the hits of a query; code is filtered by its last change if the query says so."""
    filters = query.filters.records
    if not filters.any or filters.excludes_code or CODE not in kinds_of(query.filters, searcher.selection):
        return searcher.find(query, limit)
    from gitmem.answering.last_change_filter import find_last_changed  # few searches ask for it

    return find_last_changed(searcher, query, limit)


def answer_found(
    searcher: "Searcher", query: Query | SimilarQuery, found: "SearchResult", limit: int, blobs: ObjectReader
) -> Answer:
    """Answer with the hits that a search found in an open tree. Raises: DamagedFile."""
    texts = read_hits(searcher, found, limit, blobs, neighbors=query.neighbors, details=query.details)
    hits = [hit for hit, _ in texts.lines.hits]
    view = view_state(searcher)
    blames, blame_notes = _read_blames(searcher, hits, query.blame) if query.blame else ([], [])
    # A file that changed between search and reading has no lines to show. Saying so beats showing the wrong ones.
    if texts.changed:
        view = view._replace(stale=True, missing=view.missing + len(texts.changed))
    return Answer(
        query=query,
        view=view,
        terms=found.terms,
        hits=texts.lines.hits,
        stats={
            "chunks": searcher.snapshot.rows,
            "generation": searcher.snapshot.manifest.generation,
            "results": len(hits),
        },
        notes=[
            *searcher.take_notes(query.filters),
            *_note_lacking_files(searcher, query.filters.files),
            *found.notes,
            *blame_notes,
            *(f"`{path}` changed while it was read; ask again" for path in texts.changed),
            *_note_hidden_text(texts.lines.hits),
        ],
        changes=_changes(searcher, {path_bytes(hit.path) for hit in hits}),
        files=searcher.files,
        records=texts.records,
        adjacent=texts.lines.adjacent,
        code_notes=texts.code_notes,
        without_keys=texts.without_keys,
        rejected=found.rejected,
        details=texts.details,
        folder=searcher.tree.location.worktree,
        blames=blames,
    )


def _read_blames(
    searcher: "Searcher", hits: "Sequence[Hit]", seconds: float
) -> "tuple[Sequence[Blame | None], list[str]]":
    """Return the commits that introduced and last changed the chunks of hits, and a note if some are not known."""
    from gitmem.answering.chunk_history import read_blames  # with the tracer, which few searches need

    try:
        return read_blames(searcher, hits, seconds)
    except (GitFailed, WorkersFailed) as problem:
        return [], [f"the commits of the results are unknown: {problem.message}"]


def _note_hidden_text(hits: "Sequence[tuple[Hit, list[str]]]") -> list[str]:
    """Return a note about hits with characters that hide or reorder text: they may be an attack on the reader."""
    hiding = [named_hit(hit) for hit, lines in hits if any(map(hides_text, (hit.path, hit.symbol, join_lines(lines))))]
    return [note_hidden_text([f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in hiding])] if hiding else []


def _changes(searcher: "Searcher", paths: Collection[bytes]) -> dict[str, str]:
    """Return the kind of change of the paths of hits; none in a folder where nothing is ever committed."""
    if searcher.tree.location.plain:
        return {}
    changes = searcher.changes
    return {path_text(path): changes[path] for path in paths if path in changes}


def _note_lacking_files(searcher: "Searcher", files: Sequence[str]) -> list[str]:
    """Return a note about the files of a filter that the tree lacks: a wrong name is not a search without results."""
    lacking = [name for name in files if searcher.view.find(queried_path(name)) is None]
    names = ", ".join(f"`{name}`" for name in lacking[:_NAMED_FILES])
    more = f" and {len(lacking) - _NAMED_FILES} more" if len(lacking) > _NAMED_FILES else ""
    return [f"no such file in this tree: {names}{more}"] if lacking else []


def view_state(searcher: "Searcher") -> ViewState:
    """Return which tree a searcher answers from."""
    state = tree_state(searcher.tree, searcher.selection, searcher.files_in_tree)
    return state._replace(stale=searcher.stale, missing=searcher.missing_files)


def tree_state(tree: SelectedTree, selection: TreeSelection, files: int) -> ViewState:
    """Return the state of a tree of so many files that is read without an index: nothing is missing."""
    changes = [] if tree.location.plain else users_entries(tree.location, tree.entries)
    return ViewState(
        # The name the user gave, not the resolved one: they recognise `v2.1`, not an object id.
        rev=selection.changed or selection.rev or "HEAD",
        commit=tree.revision.commit,
        tree=tree.revision.tree,
        branch=tree.revision.branch,
        dirty=None if tree.problem else bool(changes),
        stale=bool(tree.problem),
        missing=0,
        files=files,
        source=tree.source,
        uncommitted=len(changes),
        plain=describe_head(tree.location) if tree.location.plain else "",
    )
