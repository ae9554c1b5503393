"""Open an index for writing, and publish its generations.

All changes of the manifest go through `open_index_writer`: it takes the writer lock, reads the manifest again under it,
publishes new generations and retires the files that they no longer name. A generation is published in this order: new
files, the manifest, then the removal of old files. A reader, or a kill at any moment, therefore meets a complete index.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gitmem.errors import DamagedFile, NewerFormat
from gitmem.fsio import remove_file, sync_folder, touch_file
from gitmem.indexing.retention import GRACE_SECONDS, Removed, remove_unnamed, remove_views
from gitmem.locks import writer_lock
from gitmem.paths import IndexPaths
from gitmem.store.manifest import Manifest, find_manifest, write_manifest


class IndexWriter:
    """Index whose writer lock this process holds.

    `manifest` is the current generation; it is None if there is none, or only a damaged one.
    """

    def __init__(self, paths: IndexPaths, manifest: Manifest | None) -> None:
        self.manifest = manifest
        self._paths = paths

    def publish_unfinished(self, manifest: Manifest) -> None:
        """Record the progress of a full run, which must not replace the index before it ends. Raises StorageFailed."""
        # After a power cut the next full run at most begins anew, or with rows that this one had just written.
        write_manifest(self._paths.unfinished, manifest, durable=False)

    def drop_unfinished(self) -> None:
        """Forget an unfinished full run; the next generation retires its segments. Raises StorageFailed."""
        remove_file(self._paths.unfinished)

    def publish(
        self,
        manifest: Manifest,
        *,
        segment_grace: float | None = None,
        view_grace: float | None = None,
        keep_view: str = "",
    ) -> Removed:
        """Make a generation the current one and durable, then remove files that no generation has named for a while.

        Segments of an unfinished full run count as named. Unnamed segments are removed `segment_grace` seconds
        (default `GRACE_SECONDS`) after the last generation that named them. Unnamed views except `keep_view` are
        removed if they are older than `view_grace` seconds; by default views stay.

        Raises: StorageFailed.
        """
        old = self.manifest
        if manifest != old:
            if not set(manifest.views) <= set(old.views if old else ()):
                # Before referring to a view that a killed process may have left behind, fsync its directory.
                sync_folder(self._paths.views)
            write_manifest(self._paths.manifest, manifest)
            self.manifest = manifest
        else:
            # A process killed between the rename of this manifest and the fsync of its folder leaves a name that a
            # power cut takes back. The files of the generation before it must not go as long as that may happen.
            sync_folder(self._paths.root)
        named = {entry.name for entry in manifest.segments} | unfinished_segments(self._paths)
        for entry in old.segments if old else ():
            if entry.name not in named:
                touch_file(self._paths.segment(entry.name))  # its grace period begins now
        removed = remove_unnamed(self._paths.segments, named, GRACE_SECONDS if segment_grace is None else segment_grace)
        if view_grace is not None:
            removed += remove_views(self._paths.views, {*manifest.views, keep_view}, view_grace)
        return removed


def find_unfinished(paths: IndexPaths) -> Manifest | None:
    """Return the manifest of an unfinished full run; None if there is none that can be read."""
    try:
        return find_manifest(paths.unfinished)
    except (DamagedFile, NewerFormat):
        return None


def unfinished_segments(paths: IndexPaths) -> set[str]:
    """Return the names of the segments of an unfinished full run."""
    unfinished = find_unfinished(paths)
    return {entry.name for entry in unfinished.segments} if unfinished else set()


@contextmanager
def open_index_writer(
    paths: IndexPaths, *, wait: bool, on_wait: Callable[[], None] = lambda: None, replace_newer: bool = False
) -> Iterator[IndexWriter]:
    """Hold the writer lock of an index; `on_wait` is called before waiting for another process.

    Raises: Busy if another process holds the lock and `wait` is off, StorageFailed, and NewerFormat unless
    `replace_newer` permits replacing an index of a newer gitmem.
    """
    with writer_lock(paths.lock, wait=wait, on_wait=on_wait):
        # Read only now: until the lock was held another process may have published a generation.
        yield IndexWriter(paths, read_manifest_for_writing(paths, replace_newer=replace_newer))


def read_manifest_for_writing(paths: IndexPaths, *, replace_newer: bool = False) -> Manifest | None:
    """Read the manifest as a writer does: a damaged one counts as none.

    Raises: NewerFormat, unless `replace_newer` is on.
    """
    try:
        return find_manifest(paths.manifest)
    except NewerFormat:
        if replace_newer:
            return None
        raise
    except DamagedFile:
        return None
