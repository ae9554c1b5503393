"""A temporary index for trees that are searched only once, such as those of an evaluation.

It starts with hard links to the segments of the real index, so that only blobs unknown there are embedded. The rows it
adds never reach the real index: blobs of old commits are reachable, so garbage collection would keep them forever.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gitmem.fsio import link_or_copy, make_folder, remove_tree
from gitmem.git.locate import RepositoryLocation
from gitmem.indexing.embedding_stage import open_stage
from gitmem.indexing.fingerprint import chunk_bounds, view_key
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import find_missing_blobs
from gitmem.indexing.retention import remove_views
from gitmem.indexing.run import Run
from gitmem.indexing.views import ensure_view
from gitmem.named_tuple import NamedTuple
from gitmem.paths import BASE_SUFFIX, JOIN_SUFFIX, IndexPaths
from gitmem.settings import Settings
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.store.stored_view import find_base_name
from gitmem.store.view_file import View


class IndexedTrees(NamedTuple):
    """Snapshot of a scratch index, and the views that it holds completely."""

    snapshot: Snapshot
    views: list[View]


class ScratchIndex:
    """Indexes a few trees at a time; their rows stay, views of earlier trees are removed."""

    def __init__(self, location: RepositoryLocation, paths: IndexPaths, manifest: Manifest, run: Run) -> None:
        self._location = location
        self._paths = paths
        self._manifest = manifest
        self._run = run
        self._base = manifest.views[-1] if manifest.views else ""

    def index_trees(self, trees: Sequence[str]) -> IndexedTrees:
        """Index the blobs of some trees. Raises what a run raises."""
        views = []
        for tree in trees:
            views.append(ensure_view(self._location, self._paths, tree, base=self._base))
            self._base = view_key(tree, self._location.content)
        snapshot = Snapshot(self._paths, self._manifest)
        missing = list(dict.fromkeys(blob for view in views for blob in find_missing_blobs(view, snapshot)))
        if missing:
            self._manifest = self._run.execute(missing, self._manifest).manifest
            snapshot = Snapshot(self._paths, self._manifest)
        # Open views stay mapped without their files. The last one stays, because the next is derived from it.
        remove_views(self._paths.views, {self._base}, grace=0)
        return IndexedTrees(snapshot, views)


@contextmanager
def open_scratch(
    location: RepositoryLocation,
    folder: Path,
    origin: IndexPaths,
    manifest: Manifest,
    *,
    settings: Settings,
) -> Iterator[ScratchIndex]:
    """Create a scratch index in a folder and remove it at the end.

    It starts with the segments of `manifest`, whose fingerprint must be the current one. Files that a killed process
    left in the folder are removed first. Raises: StorageFailed.
    """
    paths = IndexPaths(folder)
    remove_tree(folder)
    for new in (folder, paths.segments, paths.views):
        make_folder(new)
    try:
        # Segments and views never change, so a hard link is as good as a copy.
        for entry in manifest.segments:
            link_or_copy(origin.segment(entry.name), paths.segment(entry.name))
        for key in manifest.views[-1:]:
            base = find_base_name(origin.view(key))
            for name in (key, f"{base}{BASE_SUFFIX}", f"{base}{JOIN_SUFFIX}"):
                link_or_copy(origin.view(name), paths.view(name))
        run = Run(
            location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs,
            budget=MemoryBudget(settings.max_memory), bounds=chunk_bounds(settings),
            stage=open_stage(settings, origin, manifest.fingerprint),
        )  # fmt: skip
        yield ScratchIndex(location, paths, manifest, run)
    finally:
        remove_tree(folder)
