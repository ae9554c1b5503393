"""Answer a question about a tree: bring what is missing into the index, search, read the hits' text."""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitmem.errors import Busy, DamagedFile, NoIndex, StorageFailed, UsageError
from gitmem.git.locate import Location
from gitmem.git.objects import open_reader
from gitmem.git.revisions import Revision, resolve
from gitmem.store.manifest import Manifest
from gitmem.types import KINDS
from gitmem.workspace import Workspace, open_snapshot, require_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitmem.embedding.encoder import Encoder
    from gitmem.search.fuse import FusionWeights
    from gitmem.search.hits import Hit
    from gitmem.search.query import Query
    from gitmem.search.scope import Scope
    from gitmem.store.graph import RowGraph
    from gitmem.store.snapshot import Snapshot
    from gitmem.store.view import View

MAX_QUERY: Final = 1000
MODES: Final = ("hybrid", "semantic", "lexical")


class Request(NamedTuple):
    """A question and what it is limited to. `limit` 0 is the configured default, `rev` empty is HEAD."""

    text: str
    limit: int = 0
    rev: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    mode: str = "hybrid"
    refresh: bool = True


class ViewState(NamedTuple):
    """Which tree an answer describes, and how completely it is indexed."""

    rev: str
    commit: str | None
    tree: str
    branch: str | None
    dirty: bool | None
    stale: bool
    missing: int
    files: int


class Answer(NamedTuple):
    """Hits with the lines of their chunks, best first."""

    request: Request
    view: ViewState
    terms: tuple[str, ...]
    hits: "list[tuple[Hit, list[str]]]"
    stats: dict[str, Any]
    notes: list[str]


def check_request(request: Request, max_limit: int, default_limit: int) -> int:
    """Refuse what cannot be answered; returns the limit in force. Raises UsageError."""
    if not request.text.strip():
        raise UsageError("the query is empty", hint='ask something: gitmem query "where are cookies signed"')
    if "\0" in request.text:
        raise UsageError("the query is binary data", hint="ask in words or symbols")
    if len(request.text.strip()) > MAX_QUERY:
        raise UsageError(f"Query exceeds maximum length of {MAX_QUERY} characters", hint="ask a shorter question")
    limit = request.limit or min(default_limit, max_limit)
    if not 1 <= limit <= max_limit:
        raise UsageError(f"the limit is {limit}, it must be between 1 and {max_limit}")
    if request.mode not in MODES:
        raise UsageError(f"`{request.mode}` is no mode", hint="modes: " + ", ".join(MODES))
    unknown = [kind for kind in request.kinds if kind not in KINDS]
    if unknown:
        raise UsageError(f"`{unknown[0]}` is no chunk type", hint="types: " + ", ".join(KINDS))
    return limit


class Searcher:
    """One view of one generation, held open: ask it as often as you like. A command asks once, a server many times."""

    def __init__(
        self, workspace: Workspace, snapshot: "Snapshot", view: "View", encoder: "Encoder", weights: "FusionWeights"
    ) -> None:
        self._workspace = workspace
        self._weights = weights
        self.snapshot = snapshot
        self.view = view
        self._encoder = encoder
        self._unfiltered: Scope | None = None
        self._graph: RowGraph | None = None

    def load_graph(self) -> bool:
        """Let the neighbour graph find rows by meaning from now on; False where there is no sound one.

        For who stays and asks often: loading costs more than many exact scans.
        """
        from gitmem.store.graph import RowGraph, find_graph

        graph = find_graph(self._workspace.paths, self.snapshot.manifest.graph, self.snapshot.dimensions)
        self._graph = RowGraph(graph, self.snapshot) if graph is not None else None
        return self._graph is not None

    def search(self, request: Request, limit: int) -> "tuple[Query, list[Hit]]":
        """Parse, search, rank. Raises DamagedFile where a file of the index turns out damaged."""
        from gitmem.search.engine import search
        from gitmem.search.query import parse_query

        query = parse_query(request.text)
        scope = self.scope(request)
        found = search(
            scope,
            query,
            self._encoder,
            limit=limit,
            mode=request.mode,
            fusion=self._workspace.settings.fusion,
            weights=self._weights,
            graph=self._graph,
        )
        return query, found

    @property
    def missing_files(self) -> int:
        """How many paths of the view should be indexed and are not."""
        return int((self._blob_of == -1).sum())

    @cached_property
    def _blob_of(self) -> "NDArray[np.int64]":
        return self.snapshot.match(self.view)

    def scope(self, request: Request) -> "Scope":
        """The rows a request may find."""
        from gitmem.search.scope import Filters, Scope

        filters = Filters(request.include, request.exclude, request.languages, request.kinds)
        if filters.any:
            return Scope(self.snapshot, self.view, filters, self._blob_of)
        if self._unfiltered is None:
            self._unfiltered = Scope(self.snapshot, self.view, filters, self._blob_of)
        return self._unfiltered


Find = Callable[[Searcher, int], "tuple[tuple[str, ...], list[Hit]]"]
"""Terms to mark and hits, at most the given number, best first."""


def answer(workspace: Workspace, request: Request) -> Answer:
    """Answer one question.

    Raises: UsageError, UnknownRevision, NoIndex, UnsafeIndex, NewerFormat.
    """

    def find(searcher: Searcher, limit: int) -> "tuple[tuple[str, ...], list[Hit]]":
        query, hits = searcher.search(request, limit)
        return query.terms, hits

    return answer_with(workspace, request, find)


def answer_with(workspace: Workspace, request: Request, find: Find) -> Answer:
    """Answer by any way of finding hits: the index is opened, healed where it must be, and the hits' text read."""
    started = time.perf_counter()
    settings = workspace.settings
    limit = check_request(request, settings.search_max_limit, settings.search_default_limit)
    notes: list[str] = []
    try:
        manifest = require_index(workspace)
        revision = resolve(workspace.location, request.rev or "HEAD")
        made = _search(workspace, request, revision, manifest, limit, notes, find)
    except DamagedFile as problem:
        if not request.refresh:
            raise
        notes.append(f"{problem.message}; rebuilt")
        revision = resolve(workspace.location, request.rev or "HEAD")
        _refresh(workspace, revision.tree, check=True)
        made = _search(workspace, request, revision, require_index(workspace), limit, notes, find)
    made.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
    return made


def _search(
    workspace: Workspace,
    request: Request,
    revision: Revision,
    manifest: Manifest,
    limit: int,
    notes: list[str],
    find: Find,
) -> Answer:
    searcher = open_searcher(workspace, request, revision, manifest, notes)
    terms, hits = find(searcher, limit)
    missing = searcher.missing_files
    state = ViewState(
        rev=request.rev or "HEAD",
        commit=revision.commit,
        tree=revision.tree,
        branch=revision.branch,
        dirty=None,
        stale=missing > 0,
        missing=missing,
        files=len(searcher.view),
    )
    stats = {
        "chunks": searcher.snapshot.rows,
        "generation": searcher.snapshot.manifest.generation,
        "results": len(hits),
    }
    return Answer(request, state, terms, read_lines(workspace.location, hits), stats, notes)


def open_searcher(
    workspace: Workspace, request: Request, revision: Revision, manifest: Manifest, notes: list[str]
) -> Searcher:
    """Open the index for a tree; what the tree lacks in it is indexed first, where that is little or asked for."""
    from gitmem.actions.tuning import load_weights
    from gitmem.embedding.bundled import BundledEncoder
    from gitmem.indexing.identity import current_fingerprint, view_key

    encoder = BundledEncoder()
    if manifest.fingerprint != current_fingerprint(workspace.settings.max_file_bytes):
        if not request.refresh:
            raise NoIndex("the index was made with another model or other settings", hint="run `gitmem index`")
        notes.append("the index was made with another model or other settings and was built anew")
        _refresh(workspace, revision.tree)
        manifest = require_index(workspace)
    if request.refresh and view_key(revision.tree) not in manifest.views:
        manifest = _heal(workspace, request, revision, manifest, notes)
    snapshot = open_snapshot(workspace, manifest)
    if snapshot.lost and request.refresh:
        raise DamagedFile(snapshot.lost[0])
    notes += snapshot.lost
    view = _open_view(workspace, manifest, revision.tree)
    return Searcher(workspace, snapshot, view, encoder, load_weights(workspace, notes))


def _open_view(workspace: Workspace, manifest: Manifest, tree: str) -> "View":
    """The view of a tree, read from its file or, where none can be written, built in memory."""
    from gitmem.indexing.views import ensure_view, peek_view

    try:
        base = manifest.views[-1] if manifest.views else ""
        return ensure_view(workspace.location, workspace.paths, tree, base=base)
    except StorageFailed:
        return peek_view(workspace.location, workspace.paths, tree)


def _heal(workspace: Workspace, request: Request, revision: Revision, manifest: Manifest, notes: list[str]) -> Manifest:
    """Index a tree's missing blobs before answering: all of them for a revision asked for by name, else only a few."""
    from gitmem.indexing.plan import missing_blobs

    view = _open_view(workspace, manifest, revision.tree)
    snapshot = open_snapshot(workspace, manifest)
    lacking = len(missing_blobs(view, snapshot))
    if not lacking and missing_blobs(view, snapshot, retry=True):
        return manifest  # what an earlier run could not read is tried again by the next run, not by every question
    if not request.rev and lacking > workspace.settings.heal_files:
        return manifest
    try:
        _refresh(workspace, revision.tree, wait=bool(request.rev))
    except (Busy, StorageFailed) as problem:
        notes.append(problem.message)
        return manifest
    return require_index(workspace)


def _refresh(workspace: Workspace, tree: str, *, wait: bool = True, check: bool = False) -> None:
    from gitmem.actions.refresh import refresh

    refresh(workspace, tree, wait=wait, check=check)


def read_lines(location: Location, hits: "Sequence[Hit]") -> "list[tuple[Hit, list[str]]]":
    """The lines of each hit's chunk, from its blob; a blob that is gone meanwhile gives none."""
    from gitmem.search.snippet import lines_of

    if not hits:
        return []
    wanted = list(dict.fromkeys(hit.blob for hit in hits))
    with open_reader(location, bulk=False) as reader:
        data = dict(reader.read_many(wanted))
    return [(hit, lines_of(data.get(hit.blob) or b"", hit.start_line, hit.end_line)) for hit in hits]
