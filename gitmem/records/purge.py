"""Forget the memory's history, so that what was deleted or replaced is nowhere any more, in git or in the index.

An index that is not there or not ours is left alone. Interrupted, a purge is finished by the next one.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from gitmem.errors import DamagedFile, NewerFormat
from gitmem.fsio import remove_file
from gitmem.git.object_removal import drop_reflog, remove_objects
from gitmem.indexing.index_writer import open_index_writer
from gitmem.memory.purgeable_objects import (
    begin_purge,
    end_purge,
    find_holders,
    find_memory_objects,
    find_present,
    find_purgeable,
    find_retained,
)
from gitmem.memory.record_paths import REFERENCE
from gitmem.memory.record_store import RecordStore
from gitmem.types import RECORD_LANGUAGE
from gitmem.workspace import Workspace, find_index

if TYPE_CHECKING:
    from gitmem.store.snapshot import Snapshot


class Purged(NamedTuple):
    """What went: objects and the bytes in them, and chunks of the index.

    `left` objects of what was deleted or replaced are still there, `left_records` of them records; `kept_by` tells what
    keeps them.
    """

    objects: int
    bytes: int
    left: int
    left_records: int
    kept_by: tuple[str, ...]
    chunks: int


def purge_memory(workspace: Workspace) -> Purged:
    """Rewrite the memory ref without history and remove what nothing reaches then.

    Raises: GitFailed, StorageFailed, UnsafeIndex.
    """
    location = workspace.location
    with RecordStore(location) as store, store.locked():
        history = find_memory_objects(location, store)
        store.drop_parents()
        drop_reflog(location, REFERENCE)
        found = find_purgeable(location, store)
        purged = {item.oid for item in found.objects}
        begin_purge(location, purged)
        kept = {entry.oid for entry in store.entries(store.tip())}
        chunks = _purge_index(workspace, purged, kept)
        removed = remove_objects(location, found.objects)
        end_purge(location)
        left = find_present(location, purged | find_retained(location, store, history | found.retained))
        keepers = find_holders(location, left, purged)
    records = sum(item.kind == "blob" for item in left)
    return Purged(removed.objects, removed.bytes, len(left), records, keepers, chunks)


def _purge_index(workspace: Workspace, purged: Collection[str], kept: Collection[str]) -> int:
    """Take out the rows of what is purged, and those of any record that is not kept; returns how many."""
    try:
        if find_index(workspace) is None:
            return 0
    except (DamagedFile, NewerFormat):
        return 0  # it is built anew before it is read again
    from gitmem.indexing.garbage import shrink
    from gitmem.store.snapshot import Snapshot

    paths = workspace.paths
    with open_index_writer(paths, wait=True) as writer:
        manifest = writer.manifest
        if manifest is None:
            return 0
        remaining = _remaining(Snapshot(paths, manifest), purged, kept)
        made = shrink(paths, manifest, remaining, (), write=True)
        writer.publish(made.manifest, segment_grace=0.0)
        remove_file(paths.records)
    return made.chunks


def _remaining(snapshot: "Snapshot", purged: Collection[str], kept: Collection[str]) -> set[str]:
    """Blobs of the index that stay."""
    found = set()
    for segment in snapshot.segments:
        languages = [segment.languages[code] for code in segment.blob_languages.tolist()]
        for oid, language in zip((oid.tobytes().hex() for oid in segment.oids), languages, strict=True):
            if oid not in purged and (language != RECORD_LANGUAGE or oid in kept):
                found.add(oid)
    return found
