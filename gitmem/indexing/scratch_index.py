"""A throw-away index for trees that are looked at once.

It begins with the segments of the real index, by hard links, so that only blobs unknown there are embedded. What it
takes up never reaches the real index: old blobs are reachable, so collection would keep them there for good.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gitmem.fsio import link_or_copy, make_folder, remove_file, remove_tree
from gitmem.git.locate import Location
from gitmem.indexing.fingerprint import view_key
from gitmem.indexing.missing_blobs import find_missing_blobs
from gitmem.indexing.run import Run
from gitmem.indexing.views import ensure_view
from gitmem.paths import IndexPaths
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View


class IndexedTrees(NamedTuple):
    """A generation of a scratch index, and the views that it holds wholly."""

    snapshot: Snapshot
    views: list[View]


class ScratchIndex:
    """Takes up trees a few at a time; rows stay, the views of earlier trees go."""

    def __init__(self, location: Location, paths: IndexPaths, manifest: Manifest, run: Run) -> None:
        self._location = location
        self._paths = paths
        self._manifest = manifest
        self._run = run
        self._base = manifest.views[-1] if manifest.views else ""

    def index_trees(self, trees: Sequence[str]) -> IndexedTrees:
        """Index what some trees hold."""
        views = []
        for tree in trees:
            views.append(ensure_view(self._location, self._paths, tree, base=self._base))
            self._base = view_key(tree)
        snapshot = Snapshot(self._paths, self._manifest)
        wanted = list(dict.fromkeys(item for view in views for item in find_missing_blobs(view, snapshot)))
        if wanted:
            self._manifest = self._run.execute(wanted, self._manifest).manifest
            snapshot = Snapshot(self._paths, self._manifest)
        for file in self._paths.views.iterdir():  # open views live on, and the next is made out of the last
            if file.name != self._base:
                remove_file(file)
        return IndexedTrees(snapshot, views)


@contextmanager
def open_scratch(
    location: Location, folder: Path, origin: IndexPaths, manifest: Manifest, *, max_file_bytes: int, jobs: int
) -> Iterator[ScratchIndex]:
    """Make a scratch index in a folder, beginning with what an index of today's makers holds; it is removed at the end.

    What a killed process left in the folder is removed first. Raises StorageFailed.
    """
    paths = IndexPaths(folder)
    remove_tree(folder)
    for new in (folder, paths.segments, paths.views):
        make_folder(new)
    try:
        for entry in manifest.segments:
            link_or_copy(origin.segment(entry.name), paths.segment(entry.name))
        for key in manifest.views[-1:]:
            link_or_copy(origin.view(key), paths.view(key))
        yield ScratchIndex(location, paths, manifest, Run(location, paths, max_file_bytes=max_file_bytes, jobs=jobs))
    finally:
        remove_tree(folder)
