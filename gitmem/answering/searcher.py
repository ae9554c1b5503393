"""One tree and the index opened together for searching. A command searches once, a server many times.

Blobs that the tree has and the index lacks are indexed first, within a time budget. The rest is left to a background
process and counted, so that a stale answer always says that it is stale.

This module imports numpy and the search. A command imports it after it has started `git status`, so that both overlap.
"""

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gitmem.answering.hit_blobs import read_blobs, texts_of
from gitmem.answering.missing_files import index_missing
from gitmem.answering.query_encoder import query_encoder, search_or_words
from gitmem.answering.search_query import ALL_CONTENT, Query, SearchFilters, SimilarQuery, kinds_of
from gitmem.answering.search_scopes import SearchScopes
from gitmem.answering.tree_notes import tree_notes
from gitmem.answering.usable_manifest import require_fingerprint
from gitmem.answering.weights_in_force import load_weights
from gitmem.arrays import NDArray
from gitmem.embedding.encoder import Encoder
from gitmem.errors import DamagedFile
from gitmem.freshness.index_model import with_model_of
from gitmem.freshness.memory_view import join_records, records_tree
from gitmem.freshness.tree_selection import SelectedTree, TreeReader, TreeSelection
from gitmem.freshness.tree_view import open_tree
from gitmem.git.locate import locate_again
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_bytes
from gitmem.git.program import naming_removed_folder
from gitmem.indexing.joined_view import JoinedView
from gitmem.indexing.overlay import Overlay
from gitmem.indexing.record_views import Records
from gitmem.memory.kinds import COMMITS
from gitmem.search.engine import SearchOptions, SearchResult, search
from gitmem.search.fuse import FusionWeights
from gitmem.search.hits import Hit
from gitmem.search.query_parser import parse_query
from gitmem.search.scope import Scope
from gitmem.search.skeleton import InnerChunk, find_inner_chunks
from gitmem.store.graph import RowGraph, find_graph
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.types import COMMIT
from gitmem.workspace import Workspace, open_snapshot, require_index

# Each of these is needed by few searches, and all together they cost a twentieth of the start-up of a query.
if TYPE_CHECKING:
    from gitmem.answering.commit_search import CommitSource
    from gitmem.answering.location_lookup import IndexedTree
    from gitmem.references.provided_packages import TreePackages
    from gitmem.references.tree_names import TreeNames
    from gitmem.search.adjacent_chunks import AdjacentChunk


class Searcher:
    """One tree in one generation of the index, held open for any number of searches.

    `tree` is the tree, `selection` how the user named it.
    """

    def __init__(
        self,
        workspace: Workspace,
        selection: TreeSelection,
        kinds: tuple[str, ...],
        tree: SelectedTree,
        overlay: Overlay,
        snapshot: Snapshot,
        encoder: Encoder,
        weights: FusionWeights,
        notes: list[str],
        opening_notes: list[str],
        records_tree: str | None,
        *,
        refresh: bool,
    ) -> None:
        self.workspace = workspace
        self._refresh = refresh
        self._kinds = kinds
        self._weights = weights
        self.encoder = encoder
        self._graph: RowGraph | None = None
        self._overlay = overlay
        self._records_tree = records_tree
        self.selection = selection
        self.tree = tree
        self.snapshot = snapshot
        self._notes = notes
        self._opening_notes = opening_notes
        self.packages: TreePackages | None = None
        """Packages that the tree provides, once a query over several repositories has read them."""

    def take_notes(self, filters: SearchFilters = ALL_CONTENT) -> list[str]:
        """Return the notes about the state of the index; those about its opening only at the first call."""
        notes = [*self._notes, *(self.commits.notes() if COMMITS in filters.kinds else [])]
        try:
            return [self._opening_notes.pop(), *notes]
        except IndexError:
            return notes

    @property
    def view(self) -> View:
        """Paths of the tree, including uncommitted ones, followed by the records."""
        return self._overlay.view

    @property
    def files_in_tree(self) -> int:
        """Number of paths of the tree, without the records."""
        return self.view.first_count if isinstance(self.view, JoinedView) else len(self.view)

    @property
    def records(self) -> Records | None:
        """Records of the memory, None if it is empty or not searched."""
        return self.view.records if isinstance(self.view, JoinedView) else None

    @property
    def files(self) -> Mapping[str, bytes]:
        """Ids of blobs that may exist only as files of the working tree, with their paths."""
        return self._overlay.files

    @property
    def changes(self) -> Mapping[bytes, str]:
        """Paths with uncommitted changes, and the kind of change."""
        return self._overlay.changes

    @cached_property
    def missing_files(self) -> int:
        """Number of paths that should be indexed and are not."""
        return int((self._blob_of == -1).sum()) + self._overlay.unhashed

    @property
    def indexed_tree(self) -> "IndexedTree":
        """Files of the tree with the index of their blobs, to look up locations in."""
        from gitmem.answering.location_lookup import IndexedTree

        return IndexedTree(self.view, self.snapshot, self.files_in_tree)

    @property
    def stale(self) -> bool:
        """Whether results may be missing from answers."""
        return self.missing_files > 0 or bool(self.tree.problem)

    def is_current(self) -> bool:
        """Return whether the tree and the index are unchanged, so that this searcher still answers for them.

        Costs two short git processes and a look at each changed file.

        Raises: NotARepository, GitFailed and, if a revision was named, UnknownRevision.
        """
        # HEAD or the object format may have changed since.
        location = locate_again(self.workspace.location)
        with TreeReader(location, self.selection) as reader:
            manifest = find_manifest(self.workspace.paths.manifest)
            tree = reader.read()
        return (
            tree == self.tree
            and manifest is not None
            and manifest.generation == self.snapshot.manifest.generation
            and self._overlay.is_current(location)
            and self._records_tree == records_tree(self.workspace, self._kinds)
        )

    def require_intact(self) -> None:
        """Raise DamagedFile if another program truncated an open file of the index, or wrote one of a view."""
        self.snapshot.require_whole()
        self.view.require_as_opened()

    def load_graph(self) -> bool:
        """Search by the neighbour graph from now on; return False if there is no valid one.

        Loading costs more than many exact scans, so only processes that stay call this.
        """
        graph = find_graph(self.workspace.paths, self.snapshot.manifest.graph, self.snapshot.dimensions)
        self._graph = RowGraph(graph, self.snapshot) if graph is not None else None
        return self._graph is not None

    def find(self, query: Query | SimilarQuery, limit: int, within: Collection[bytes] | None = None) -> SearchResult:
        """Return at most `limit` hits of a query; of code only those at the paths `within`, if these are given.

        Raises: UsageError if a location does not exist, DamagedFile if a file of the index turns out damaged.
        """
        self.require_intact()
        if isinstance(query, SimilarQuery):
            return self._find_similar(query, limit)

        return search_or_words(query.mode, lambda mode: self._search(query, limit, mode, within))

    def _search(self, query: Query, limit: int, mode: str, within: Collection[bytes] | None) -> SearchResult:
        return search(
            self._select_scopes(query.filters, within),
            parse_query(query.text),
            self.encoder,
            limit=limit,
            options=self.options(mode),
            min_score=query.least_score,
        )

    def _select_scopes(self, filters: SearchFilters, within: Collection[bytes] | None) -> list[Scope]:
        """Return the rows that pass filters, those of files, of records and of commits apart, if there are any."""
        kinds = kinds_of(filters, self.selection)
        # The scopes must not refer to the searcher: in a circle of references the files of the index would stay open.
        commits = self.commits.scopes(filters, required=kinds == (COMMITS,)) if COMMITS in kinds else []
        return [*self.scopes.select(filters, within), *commits]

    def options(self, mode: str) -> SearchOptions:
        """Return the options of a search with the settings of the repository."""
        return SearchOptions(mode, self.workspace.settings.fusion, self._weights, self._graph, self.read_texts)

    def read_texts(self, hits: Sequence[Hit]) -> dict[tuple[str, str], bytes]:
        """Return the texts of hits by their `source`; b"" for one that no longer exists. Raises DamagedFile."""
        with open_reader(self.tree.location, bulk=False, files=self.files) as reader:
            return texts_of(hits, read_blobs(self.tree, hits, reader))

    def _find_similar(self, query: SimilarQuery, limit: int) -> SearchResult:
        from gitmem.answering.similar_search import find_similar

        with open_reader(self.tree.location, bulk=False, files=self.files) as reader:
            hits = find_similar(self.indexed_tree, self.scopes.code(), self.encoder, reader, query, limit)
        return SearchResult((), hits)

    def adjacent_chunks(self, hit: Hit) -> "tuple[AdjacentChunk | None, AdjacentChunk | None]":
        """Return the chunks before and after a hit of this searcher."""
        from gitmem.search.adjacent_chunks import find_adjacent_chunks

        return find_adjacent_chunks(*self.locate(hit), hit)

    def inner_chunks(self, hit: Hit) -> list[InnerChunk]:
        """Return the outermost chunks inside a hit of this searcher."""
        return find_inner_chunks(*self.locate(hit), hit)

    def locate(self, hit: Hit) -> tuple[Snapshot, int]:
        """Return the index that a hit of this searcher comes from, and the number of its blob there."""
        entry = None if hit.chunk_type == COMMIT else self.view.find(path_bytes(hit.path))
        return self.commits.locate(hit) if entry is None else (self.snapshot, int(self._blob_of[entry]))

    @cached_property
    def commits(self) -> "CommitSource":
        """Commits in the history of the tree, with the index of their messages."""
        from gitmem.answering.commit_search import CommitSource

        return CommitSource(self.workspace, self.tree, refresh=self._refresh)

    @cached_property
    def scopes(self) -> SearchScopes:
        """Rows of the tree that a search may find."""
        return SearchScopes(self.selection, self.tree, self.snapshot, self.view, self._blob_of)

    @cached_property
    def names(self) -> "TreeNames":
        """Definitions and references in the files of the tree."""
        from gitmem.references.tree_names import TreeNames

        return TreeNames(self.snapshot, self.view, self._blob_of)

    def numbered_names(self, first: int, number: int) -> "TreeNames":
        """Return the names as those of one of several trees; its entries are counted from `first`."""
        from gitmem.references.tree_names import TreeNames

        return TreeNames(self.snapshot, self.view, self._blob_of, first, number)

    @cached_property
    def _blob_of(self) -> NDArray[np.int64]:
        return self.snapshot.match(self.view)


def open_searcher(
    workspace: Workspace,
    selection: TreeSelection,
    kinds: tuple[str, ...] = (),
    *,
    refresh: bool = True,
    reader: TreeReader | None = None,
    encoder: Encoder | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Searcher:
    """Open a tree for searching; index what the index lacks of it first.

    A named revision is indexed completely, any other tree for `gitmem.healBudget` milliseconds, nothing without
    `refresh`. `kinds` are the kinds that will be searched; the records are opened if one of them is a kind of records.
    `reader` is a TreeReader of the selection that already runs, `encoder` the
    bundled one if it is already loaded.
    Indexing ends early once `is_cancelled` returns true.

    Raises: UnknownRevision, UsageError, NoIndex, UnsafeIndex, NewerFormat, DamagedFile, GitFailed.
    """
    location = workspace.location
    with (
        naming_removed_folder(location.worktree or location.git_dir),
        nullcontext(reader) if reader else TreeReader(location, selection) as running,
    ):
        return _open(workspace, selection, kinds, running, encoder, refresh=refresh, is_cancelled=is_cancelled)


def _open(
    workspace: Workspace,
    selection: TreeSelection,
    kinds: tuple[str, ...],
    reader: TreeReader,
    encoder: Encoder | None,
    *,
    refresh: bool,
    is_cancelled: Callable[[], bool],
) -> Searcher:
    # Order matters: the manifest is read before the tree, so a commit in between leaves the index older, never newer.
    manifest = require_index(workspace)
    tree = reader.read()
    workspace = with_model_of(workspace._replace(location=tree.location), manifest)
    manifest, rebuild_note = require_fingerprint(workspace, tree, manifest, refresh=refresh)
    snapshot = open_snapshot(workspace, manifest)
    # A lost segment is damage: the caller repairs it and opens the tree again.
    if snapshot.lost and refresh:
        raise DamagedFile(snapshot.lost[0])
    kinds = kinds or kinds_of(ALL_CONTENT, selection)
    records = records_tree(workspace, kinds)
    budget = workspace.settings.heal_budget / 1000
    # The user asked for exactly this revision, so a partial answer would be wrong; a changing tree may be partial.
    deadline = math.inf if tree.named else time.monotonic() + budget
    overlay = _open_overlay(workspace, tree, manifest, records, deadline, write=refresh)
    heal_note = ""
    if refresh and (tree.named or budget > 0):
        snapshot, heal_note = index_missing(workspace, tree, overlay, snapshot, deadline, is_cancelled)
    weights, weights_note = load_weights(workspace)
    notes = [note for note in (*tree_notes(tree, overlay), heal_note, *snapshot.lost, weights_note) if note]
    opening_notes = [rebuild_note] if rebuild_note else []
    own_encoder = query_encoder(workspace.settings, snapshot.manifest.fingerprint, encoder)
    searcher = Searcher(
        workspace, selection, kinds, tree, overlay, snapshot, own_encoder, weights, notes, opening_notes, records,
        refresh=refresh,
    )  # fmt: skip
    # A named revision was indexed completely. For the working tree the rest is left to the background.
    if searcher.missing_files and refresh and not tree.named:
        from gitmem.freshness.background import start_background_refresh

        start_background_refresh(workspace)
    return searcher


def _open_overlay(
    workspace: Workspace, tree: SelectedTree, manifest: Manifest, records: str | None, deadline: float, *, write: bool
) -> Overlay:
    """Open the tree. The records join its view before healing, so that new ones are indexed with the files."""
    overlay = open_tree(workspace, tree, manifest, deadline=deadline, write=write)
    if records is None:
        return overlay
    return overlay._replace(view=join_records(workspace, overlay.view, records, write=write))
