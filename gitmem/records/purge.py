"""Remove all former revisions of the memory from git, and deleted or replaced records from the index.

An index that does not exist or is not ours is not touched. The next purge finishes an interrupted one.
"""

from collections.abc import Callable, Collection

from gitmem.errors import DamagedFile, GitmemError, NewerFormat
from gitmem.fsio import remove_file, remove_tree
from gitmem.git.object_removal import remove_objects
from gitmem.git.references import drop_reflog
from gitmem.indexing.garbage import shrink
from gitmem.indexing.index_writer import open_index_writer
from gitmem.leftover_files import sweep_leftovers
from gitmem.memory.purgeable_objects import (
    begin_purge,
    end_purge,
    find_holders,
    find_memory_objects,
    find_present,
    find_purgeable,
    find_retained,
)
from gitmem.memory.record_paths import BACKUP_REFERENCE, REFERENCE, SHARED_REFERENCE
from gitmem.memory.record_store import RecordStore
from gitmem.named_tuple import NamedTuple
from gitmem.records.exchange_lock import exchange_lock
from gitmem.records.sharing import forget_revisions
from gitmem.store.segment_writer import TEMPORARY
from gitmem.store.snapshot import Snapshot
from gitmem.types import RECORD_LANGUAGE
from gitmem.workspace import Workspace, find_index


class PurgeResult(NamedTuple):
    """Numbers of removed objects, of their bytes, and of removed chunks of the index.

    `left` objects of deleted or replaced records still exist; `left_records` of them are records. `kept_by` are the
    refs and other places that keep them. `shared` says whether other clones must purge, too.
    """

    objects: int
    bytes: int
    left: int
    left_records: int
    kept_by: tuple[str, ...]
    chunks: int
    shared: bool


def purge_memory(
    workspace: Workspace, *, announce: bool = True, on_wait: Callable[[], None] = lambda: None
) -> PurgeResult:
    """Replace the memory's commits by a single one, and remove the objects that nothing reaches afterwards.

    If records are shared, all other clones repeat the purge, unless it is itself such a repetition (`announce`).
    `on_wait` is called before waiting for an exchange of records.

    Raises: GitFailed, StorageFailed, UnsafeIndex; GitmemError if the ref lacks records that it had.
    """
    location = workspace.location
    with exchange_lock(location, on_wait), RecordStore(location) as store, store.locked():
        lost = store.find_lost_tip()
        if lost is not None:
            # The records of that commit would be removed for good, and this may be their last copy.
            raise GitmemError(f"refusing to purge: {lost.problem}", hint=f"first run: {lost.remedy}")
        former = find_memory_objects(location, store)
        shared = forget_revisions(location, store, former, announce=announce)
        # From here on the former revisions are unreachable. Each later step may be interrupted, because the next purge
        # finds the same objects again: by their marks, or in the list that begin_purge writes.
        commit = store.drop_parents().commit
        if commit is not None:
            store.remember(commit)
        for name in (REFERENCE, BACKUP_REFERENCE, SHARED_REFERENCE):
            drop_reflog(location, name)
        purgeable = find_purgeable(location, store)
        purged = {item.oid for item in purgeable.objects}
        begin_purge(location, purged)
        current = {entry.oid for entry in store.entries(store.tip())}
        chunks = _purge_index(workspace, purged, current)
        removed = remove_objects(location, purgeable.objects)
        end_purge(location)
        left = find_present(location, purged | find_retained(location, store, former | purgeable.retained))
        holders = find_holders(location, left, purged)
    records = sum(item.kind == "blob" for item in left)
    return PurgeResult(removed.objects, removed.bytes, len(left), records, holders, chunks, shared)


def _purge_index(workspace: Workspace, purged: Collection[str], current: Collection[str]) -> int:
    """Remove the rows of purged objects, and of all records that are not current; return the number of rows."""
    try:
        if find_index(workspace) is None:
            return 0
    except (DamagedFile, NewerFormat):
        return 0  # such an index is rebuilt before it is read
    paths = workspace.paths
    with open_index_writer(paths, wait=True) as writer:
        # Files that killed writers were writing hold words of records too. The columns of the records are the only
        # file of them that is written without the lock; a query whose temporary file vanishes goes on without it.
        # A merge in the background fails without its file, and is repeated later from the segments that remain.
        scratch = ((paths.state, paths.records.name), (paths.state, TEMPORARY))
        for folder, prefix in ((paths.root, ""), (paths.segments, ""), *scratch):
            sweep_leftovers(folder, prefix=prefix)
        manifest = writer.manifest
        if manifest is None:
            return 0
        remaining = _remaining_blobs(Snapshot(paths, manifest), purged, current)
        result = shrink(paths, manifest, remaining, (), write=True, tolerated=0.0)
        writer.drop_unfinished()  # its segments may hold purged records too
        # Without a grace period: the old segments and the columns hold words of the purged records.
        writer.publish(result.manifest, segment_grace=0.0)
        remove_file(paths.records)
        # Vectors of purged records are among them. Those of code are in the segments as well.
        remove_tree(paths.vectors)
    return result.chunks


def _remaining_blobs(snapshot: Snapshot, purged: Collection[str], current: Collection[str]) -> set[str]:
    """Return the ids of the indexed blobs that stay: all code, and the current records."""
    remaining = set()
    for segment in snapshot.segments:
        languages = [segment.languages[code] for code in segment.blob_languages.tolist()]
        for oid, language in zip((oid.tobytes().hex() for oid in segment.oids), languages, strict=True):
            if oid not in purged and (language != RECORD_LANGUAGE or oid in current):
                remaining.add(oid)
    return remaining
