"""A tree and the index opened together for questions: a command asks once, a server many times.

What the tree holds and the index lacks is indexed first, as far as there is time; the rest is left to a process of its
own and counted, so that no answer is stale without saying so.
"""

import math
import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from gitmem.errors import Busy, DamagedFile, NoIndex, StorageFailed
from gitmem.freshness.tree_selection import AskedTree, TreeReader, open_tree
from gitmem.git.locate import locate
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.records.kinds import chosen_entries, join_records, records_tree, sources_of
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.workspace import Workspace, is_writable, open_snapshot, require_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitmem.answering.answer import Request
    from gitmem.embedding.encoder import Encoder
    from gitmem.indexing.overlay import Overlay
    from gitmem.indexing.record_views import Records
    from gitmem.records.filters import RecordLimits
    from gitmem.search.adjacent_chunks import Beside
    from gitmem.search.fuse import FusionWeights
    from gitmem.search.hits import Hit
    from gitmem.search.query_parser import ParsedQuery
    from gitmem.search.scope import Filters, Scope
    from gitmem.store.graph import RowGraph
    from gitmem.store.snapshot import Snapshot
    from gitmem.store.view_file import View


class Searcher:
    """One tree in one generation of the index, held open: ask it as often as you like.

    `notes` are what whoever asks should be told.
    """

    def __init__(
        self,
        workspace: Workspace,
        request: "Request",
        asked: AskedTree,
        overlay: "Overlay",
        snapshot: "Snapshot",
        encoder: "Encoder",
        weights: "FusionWeights",
        notes: list[str],
        records: str | None = None,
    ) -> None:
        self._workspace = workspace
        self._request = request
        self._weights = weights
        self._encoder = encoder
        self._unfiltered: dict[tuple[str, ...], Scope] = {}
        self._graph: RowGraph | None = None
        self._overlay = overlay
        self._records = records
        self.asked = asked
        self.snapshot = snapshot
        self.notes = notes

    @property
    def view(self) -> "View":
        """The paths of the tree, uncommitted ones included."""
        return self._overlay.view

    @property
    def files_in_tree(self) -> int:
        """How many paths the tree has, without the records behind them."""
        from gitmem.indexing.record_views import JoinedView

        return self.view.first_count if isinstance(self.view, JoinedView) else len(self.view)

    @property
    def records(self) -> "Records | None":
        """What the memory holds, None where it is not asked."""
        from gitmem.indexing.record_views import JoinedView

        return self.view.records if isinstance(self.view, JoinedView) else None

    @property
    def files(self) -> Mapping[str, bytes]:
        """Blobs that are perhaps only files of the working tree, with their paths."""
        return self._overlay.files

    @property
    def changes(self) -> Mapping[bytes, str]:
        """What is uncommitted about which path."""
        return self._overlay.changes

    @property
    def missing_files(self) -> int:
        """How many paths of the tree should be indexed and are not."""
        return int((self._blob_of == -1).sum()) + self._overlay.unhashed

    @property
    def stale(self) -> bool:
        """Whether answers may lack something of the tree."""
        return self.missing_files > 0 or bool(self.asked.problem)

    def is_current(self) -> bool:
        """Whether the tree and the index are what they were, so that this need not be opened anew.

        Costs two short git processes and a look at each changed file. Raises NotARepository, GitFailed and, where a
        revision was named, UnknownRevision.
        """
        location = self._workspace.location
        location = locate(location.worktree or location.git_dir)
        with TreeReader(location, self._request) as reader:
            manifest = find_manifest(self._workspace.paths.manifest)
            asked = reader.read()
        return (
            asked == self.asked
            and manifest is not None
            and manifest.generation == self.snapshot.manifest.generation
            and self._overlay.is_current(location)
            and self._records == records_tree(self._workspace, sources_of(self._request))
        )

    def load_graph(self) -> bool:
        """Let the neighbour graph find rows by meaning from now on; False where there is no sound one.

        For who stays and asks often: loading costs more than many exact scans.
        """
        from gitmem.store.graph import RowGraph, find_graph

        graph = find_graph(self._workspace.paths, self.snapshot.manifest.graph, self.snapshot.dimensions)
        self._graph = RowGraph(graph, self.snapshot) if graph is not None else None
        return self._graph is not None

    def search(self, request: "Request", limit: int) -> "tuple[ParsedQuery, list[Hit]]":
        """Parse, search, rank. Raises DamagedFile where a file of the index turns out damaged."""
        self.snapshot.require_whole()
        from gitmem.search.engine import search
        from gitmem.search.query_parser import parse_query

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

    def neighbours(self, hit: "Hit") -> "tuple[Beside | None, Beside | None]":
        """The chunks before and after a hit that this found."""
        from gitmem.search.adjacent_chunks import find_neighbours

        entry = self.view.find(path_bytes(hit.path))
        assert entry is not None, "a hit's path is in the view"
        return find_neighbours(self.snapshot, int(self._blob_of[entry]), hit)

    def scope(self, request: "Request") -> "Scope":
        """The rows a request may find."""
        from gitmem.search.scope import Filters

        filters = Filters(request.include, request.exclude, request.languages, request.kinds)
        sources = sources_of(request)
        if filters.any or request.limits.any:
            return self._make_scope(filters, sources, request.limits)
        if sources not in self._unfiltered:
            self._unfiltered[sources] = self._make_scope(filters, sources, request.limits)
        return self._unfiltered[sources]

    def _make_scope(self, filters: "Filters", sources: tuple[str, ...], limits: "RecordLimits") -> "Scope":
        import numpy as np

        from gitmem.search.scope import Scope

        blob_of = np.where(chosen_entries(self.view, sources, limits), self._blob_of, -2)
        if self.asked.since is None:
            return Scope(self.snapshot, self.view, filters, blob_of)
        from gitmem.answering.changed_rows import find_changed

        entries, rows = find_changed(
            self.asked.location, self.asked.since.tree, self.snapshot, self.view, self._blob_of
        )
        scope = Scope(self.snapshot, self.view, filters, np.where(entries, blob_of, -2))
        scope.keep(rows)
        return scope

    @cached_property
    def _blob_of(self) -> "NDArray[np.int64]":
        return self.snapshot.match(self.view)


def open_searcher(
    workspace: Workspace, request: "Request", reader: TreeReader | None = None, encoder: "Encoder | None" = None
) -> Searcher:
    """Open the tree that a request is about; what the index lacks of it is indexed first, as far as there is time.

    All of it for a revision that was named, `gitmem.healBudget` of it otherwise; nothing without `request.refresh`.
    `reader` is one that was made for the request earlier, `encoder` one that has been used for others.

    Raises: UnknownRevision, UsageError, NoIndex, UnsafeIndex, NewerFormat, DamagedFile, GitFailed.
    """
    if reader is None:
        with TreeReader(workspace.location, request) as own:
            return open_searcher(workspace, request, own, encoder)
    from gitmem.answering.weights_in_force import load_weights
    from gitmem.embedding.bundled import BundledEncoder

    notes: list[str] = []
    manifest = require_index(workspace)
    encoder = encoder or BundledEncoder()
    asked = reader.read()
    workspace = workspace._replace(location=asked.location)
    manifest = _require_makers(workspace, request, asked, manifest, notes)
    snapshot = open_snapshot(workspace, manifest)
    if snapshot.lost and request.refresh:
        raise DamagedFile(snapshot.lost[0])
    records = records_tree(workspace, sources_of(request))
    overlay, snapshot = _open_healed(workspace, request, asked, snapshot, notes, records)
    notes += snapshot.lost
    searcher = Searcher(
        workspace, request, asked, overlay, snapshot, encoder, load_weights(workspace, notes), notes, records
    )
    if searcher.missing_files and request.refresh and not asked.named:
        from gitmem.freshness.background import start_background_refresh

        start_background_refresh(workspace)
    return searcher


def _require_makers(
    workspace: Workspace, request: "Request", asked: AskedTree, manifest: Manifest, notes: list[str]
) -> Manifest:
    """An index of today's model and settings, built anew where it is another's. Raises NoIndex."""
    from gitmem.indexing.fingerprint import current_fingerprint

    if manifest.fingerprint == current_fingerprint(workspace.settings.max_file_bytes):
        return manifest
    if not request.refresh:
        raise NoIndex("the index was made with another model or other settings", hint="run `gitmem index`")
    from gitmem.freshness.refresh import refresh

    notes.append("the index was made with another model or other settings and was built anew")
    refresh(workspace, asked.revision.tree)
    return require_index(workspace)


def _open_healed(
    workspace: Workspace,
    request: "Request",
    asked: AskedTree,
    snapshot: "Snapshot",
    notes: list[str],
    records: str | None,
) -> "tuple[Overlay, Snapshot]":
    """The tree as it stands, and the index after it was healed."""
    budget = workspace.settings.heal_budget / 1000
    deadline = math.inf if asked.named else time.monotonic() + budget
    overlay = open_tree(workspace, asked, snapshot.manifest, deadline=deadline, write=request.refresh)
    if records is not None:
        overlay = overlay._replace(view=join_records(workspace, overlay.view, records, write=request.refresh))
    notes += [f"`{path_text(path)}` cannot be read and is left out" for path in overlay.unreadable]
    if asked.problem:
        notes.append(f"{asked.problem}; the answer is HEAD's")
    may_heal = request.refresh and (asked.named or budget > 0)
    if not may_heal or not (snapshot.match(overlay.view) == -1).any():
        return overlay, snapshot
    if not is_writable(workspace.paths.segments):
        notes.append(f"`{workspace.paths.root}` cannot be written, so nothing new is indexed")
        return overlay, snapshot
    from gitmem.freshness.heal import heal

    try:
        manifest = heal(workspace, overlay.view, overlay.files, deadline=deadline, wait=asked.named)
    except (Busy, StorageFailed) as problem:
        notes.append(problem.message)
        return overlay, snapshot
    return overlay, open_snapshot(workspace, manifest) if manifest is not None else snapshot
