"""Records of one repository: read at any commit of the memory ref, changed by one commit at a time.

Writing is a compare-and-swap on the ref. A change is durable before the ref points to it, and the ref moves only if it
still points to the commit that the change was made from; otherwise the change is recomputed. No writer, of gitmem or
not, loses a record to another one.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Final

from gitmem.closeable import Closeable
from gitmem.errors import DamagedFile, UnknownRevision
from gitmem.git.batch import ProgramReader
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_format import RawEntry, RawObject, format_commit, make_object, parse_tree
from gitmem.git.object_quarantine import remove_abandoned
from gitmem.git.ref_log import is_ancestor
from gitmem.git.references import may_exist, read_reference, store_objects, update_reference
from gitmem.git.tree_edit import edit_tree
from gitmem.git.trees import TreeEntry, read_tree
from gitmem.locks import writer_lock
from gitmem.memory.last_tip import LostTip, find_lost_records, find_lost_tip, write_last_tip
from gitmem.memory.record_paths import BACKUP_REFERENCE, REFERENCE, SHARED_REFERENCE, SHARERS, SIGNATURES
from gitmem.named_tuple import NamedTuple
from gitmem.paths import MEMORY_LOCK
from gitmem.record import Record, parse_record

# Why a ref of its own: git could not fetch, version and check a database file next to the repository. A branch would
# appear among the user's branches and could be checked out or merged. Notes of git (refs/notes) are attached to
# commits, and most records belong to none.

IDENTITY: Final = "gitmem <gitmem@localhost>"

_IN_MEMORY: Final = f"{REFERENCE}:".encode()
_CACHED_TREES: Final = 600
"""Enough for two kinds of records with 256 folders each. Trees never change, so they are never stale."""

_TREE_LINE: Final = re.compile(rb"tree ([0-9a-f]{40}|[0-9a-f]{64})\n")
_OBJECT_KINDS: Final = frozenset({b"blob", b"tree", b"commit"})


class StoredBlob(NamedTuple):
    """Blob that the repository already has, by its id."""

    oid: str


Changes = Mapping[bytes, bytes | StoredBlob | None]
"""New content of blobs by path; None deletes a path."""


class Tip(NamedTuple):
    """State of the memory: a commit of the ref and its tree. Both are None before the first record."""

    commit: str | None
    tree: str | None


class RecordStore(Closeable):
    """Reader and writer of records. May stay open for any time, but is not thread-safe."""

    def __init__(self, location: RepositoryLocation) -> None:
        self._location = location
        self._reader = ProgramReader(location, _OBJECT_KINDS)
        self._names = lru_cache(_CACHED_TREES)(self._read_names)

    def tip(self) -> Tip:
        """Return the current state."""
        commit = read_reference(self._location, REFERENCE)
        return self.at(commit) if commit else Tip(None, None)

    def at(self, commit: str) -> Tip:
        """Return the state at a former commit, given by its full id. Raises UnknownRevision for another object."""
        return Tip(commit, self._commit_lines(commit)[0].removeprefix("tree "))

    def parent(self, tip: Tip) -> Tip:
        """Return the state before the commit of another state; before the first commit it is empty."""
        line = self._commit_lines(tip.commit)[1] if tip.commit else ""
        return self.at(line.removeprefix("parent ")) if line.startswith("parent ") else Tip(None, None)

    def find(self, tip: Tip, path: bytes) -> str | None:
        """Return the id of the blob or tree at a path, or None."""
        oid = tip.tree
        for name in path.split(b"/"):
            if oid is None:
                return None
            entry = self._names(oid).get(name)
            oid = entry.oid if entry else None
        return oid

    def names(self, tip: Tip, folder: bytes) -> list[str]:
        """Return the names in a folder; none if it does not exist."""
        oid = self.find(tip, folder)
        return [os.fsdecode(name) for name in self._names(oid)] if oid else []

    def entries(self, tip: Tip, folder: bytes = b"") -> list[TreeEntry]:
        """Return every record below a folder by its path from the root, sorted by path."""
        tree = self.find(tip, folder) if folder else tip.tree
        below = read_tree(self._location, tree) if tree else []
        return [entry._replace(path=folder + b"/" + entry.path) for entry in below] if folder else below

    def entries_at(self, tip: Tip, path: bytes) -> list[TreeEntry]:
        """Return the record at a path; all records below it if it is a folder; none if it does not exist."""
        folder, _, name = path.rpartition(b"/")
        parent = self.find(tip, folder)
        entry = self._names(parent).get(name) if parent else None
        if entry is None:
            return []
        return self.entries(tip, path) if entry.is_tree else [TreeEntry(path, int(entry.mode, 8), entry.oid)]

    def find_data(self, tip: Tip, path: bytes) -> bytes | None:
        """Return the bytes of the record at a path, or None. Raises DamagedFile."""
        oid = self.find(tip, path)
        return self._read(oid) if oid else None

    def find_object(self, oid: str) -> bytes | None:
        """Return the bytes of any object, or None if it is missing or damaged."""
        return self._reader.read(oid)

    def read_blob(self, oid: str) -> bytes:
        """Return the bytes of a record. Raises DamagedFile."""
        return self._read(oid)

    def read_record(self, oid: str, name: str) -> Record:
        """Read a record by the id of its blob. Errors call it `name`. Raises DamagedFile, NewerFormat."""
        return parse_record(self._read(oid), name)

    def find_record(self, tip: Tip, path: bytes) -> Record | None:
        """Read the record at a path, or return None. Raises DamagedFile, NewerFormat."""
        oid = self.find(tip, path)
        return self.attribute(self.read_record(oid, path.decode()), path, oid) if oid else None

    def read_records(self, entries: Iterable[TreeEntry]) -> Iterator[Record]:
        """Yield the records of entries in order. Raises DamagedFile, NewerFormat."""
        listed = list(entries)
        blobs = self._reader.read_many(entry.oid for entry in listed)
        for entry, (oid, data) in zip(listed, blobs, strict=True):
            if data is None:
                raise _unreadable(oid)
            record = parse_record(data, entry.path.decode("utf-8", "replace"))
            yield self.attribute(record, entry.path, oid)

    def attribute(self, record: Record, path: bytes, oid: str) -> Record:
        """Return the record at a path, whose blob is `oid`, with the person who shared it and the checked signature.

        The path may begin with the ref of the memory, as in the index. Both are empty for records of this clone, and
        for those changed in it.
        """
        if self._shared is None:
            return record
        data = self.find_data(self._shared, b"%s/%s" % (SHARERS, path.removeprefix(_IN_MEMORY))) or b""
        blob, _, rest = data.decode("utf-8", "replace").partition(" ")
        name, _, commit = rest.partition("\n")
        if blob != oid:
            return record
        # The pull has checked the signature: to read a record starts no program.
        signature = self.find_data(self._shared, b"%s/%s" % (SIGNATURES, commit.encode())) if commit else None
        return record._replace(shared_by=name, signature=(signature or b"").decode("utf-8", "replace"))

    @cached_property
    def _shared(self) -> Tip | None:
        """What this clone knows of shared records (`shared_state`); None if nothing was ever shared."""
        if not may_exist(self._location, SHARED_REFERENCE):
            return None
        commit = read_reference(self._location, SHARED_REFERENCE)
        return self.at(commit) if commit else None

    def change(
        self,
        message: str | Callable[[], str],
        edit: Callable[[Tip], Changes],
        *,
        seconds: int | None = None,
        merged: Tip | None = None,
    ) -> Tip:
        """Commit the changes that `edit` computes from the current state, and return the new state.

        A `message` that depends on the changes is a function, which is called after `edit`.

        `edit` is called again if the ref has moved in the meantime. An edit without changes makes no commit. On return
        the change is durable and visible to every process. `seconds` since 1970 is the time of the commit, by default
        now. `merged` is a state that the new one contains: its second parent, or the new state itself if it already
        contains the current one.

        Raises: GitFailed, StorageFailed, and the errors of `edit`.
        """
        # The lock alone would not do, for git and other programs do not take it. The compare-and-swap alone would do,
        # but writers of gitmem that race each other would write every commit several times, and the slowest might
        # never succeed. So writers of gitmem take turns, and the compare-and-swap protects against all others.
        with self.locked():
            return self.change_locked(message, edit, seconds=seconds, merged=merged)

    def change_locked(
        self,
        message: str | Callable[[], str],
        edit: Callable[[Tip], Changes],
        *,
        seconds: int | None = None,
        merged: Tip | None = None,
        prepare: Callable[[str], None] | None = None,
    ) -> Tip:
        """Do the same for a caller that holds the lock. `prepare` gets the id of a new commit before the ref moves."""
        while True:
            old = self.tip()
            changes = edit(old)
            now = int(time.time()) if seconds is None else seconds
            new, objects = self._build(old, changes, message if isinstance(message, str) else message(), now, merged)
            if new == old:
                return new
            if prepare and new.commit:
                prepare(new.commit)
            if self.publish(old, new, objects):
                return new

    def drop_parents(self) -> Tip:
        """Replace the commits of the ref by one without parents and with the current tree. The lock must be held."""
        while True:
            old = self.tip()
            if old.tree is None or self.parent(old).commit is None:
                return old
            data = format_commit(old.tree, None, IDENTITY, int(time.time()), "purge")
            commit = make_object("commit", data, self._location.object_format)
            new = Tip(commit.oid, old.tree)
            if self.publish(old, new, [commit]):
                return new

    def find_lost_tip(self) -> LostTip | None:
        """Return the last known commit if something other than gitmem removed it from the ref."""
        return find_lost_records(self._location)

    def remember(self, commit: str) -> None:
        """Take the commit of the ref for the last known one, whatever that was. The lock must be held."""
        # Updated even if it is there already: as a follower it was not made durable, and a purge removes what it had.
        before = read_reference(self._location, BACKUP_REFERENCE)
        update_reference(self._location, BACKUP_REFERENCE, commit, before)
        write_last_tip(self._location, commit, durable=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock that other writers of gitmem wait for, and remove what dead ones have left."""
        with writer_lock(self._location.common_dir / MEMORY_LOCK, wait=True):
            remove_abandoned(self._location)
            yield

    def publish(self, old: Tip, new: Tip, objects: Sequence[RawObject]) -> bool:
        """Store objects durably, then swap the ref from `old` to `new`; return False if the ref has moved.

        A crash in between leaves unreachable objects, which a purge finds by their marks and git expires by itself.
        """
        assert new.commit is not None
        if objects:
            store_objects(self._location, objects)
        # A lost commit stays the known one until it is recovered: its ref is the last that keeps its objects.
        lost = find_lost_tip(self._location, old.commit)
        follower = BACKUP_REFERENCE if lost is None else None
        if not update_reference(self._location, REFERENCE, new.commit, old.commit, follower=follower):
            return False
        if lost is None:
            write_last_tip(self._location, new.commit)
        elif find_lost_tip(self._location, new.commit) is None:
            self.remember(new.commit)
        return True

    def _build(
        self, old: Tip, changes: Changes, message: str, seconds: int, merged: Tip | None
    ) -> tuple[Tip, list[RawObject]]:
        """Return the state after changes and the objects it needs; the old one and no objects if nothing changes."""
        object_format = self._location.object_format
        blobs = {
            path: make_object("blob", data, object_format) if isinstance(data, bytes) else data
            for path, data in changes.items()
        }
        ids = {path: blob.oid if blob else None for path, blob in blobs.items()}
        root, trees = edit_tree(old.tree, ids, self._read, object_format)
        if root is None and old.tree is not None:
            # The last record was deleted. A commit needs a tree, and the ref must stay: it holds the former records.
            empty = make_object("tree", b"", object_format)
            root, trees = empty.oid, [empty]
        other = merged.commit if merged else None
        if merged and other and (old.commit is None or is_ancestor(self._location, old.commit, other)):
            return merged, []
        contained = other is None or is_ancestor(self._location, other, str(old.commit))
        if root is None or (root == old.tree and contained):
            return old, []
        data = format_commit(root, old.commit, IDENTITY, seconds, message, merged=None if contained else other)
        commit = make_object("commit", data, object_format)
        # Blobs are listed once even if several paths have the same content: the pack then has every object once.
        new = {blob.oid: blob for blob in blobs.values() if isinstance(blob, RawObject)}
        return Tip(commit.oid, root), [*new.values(), *trees, commit]

    def _commit_lines(self, commit: str) -> list[str]:
        """Return the lines of a commit: its tree, its parents, and the rest."""
        data = self._read(commit)
        # Others push what they like: a blob may begin like a commit, and its words must not reach git as arguments.
        if not _TREE_LINE.match(data):
            raise UnknownRevision(f"`{commit}` is not a commit of `{REFERENCE}`")
        return data.decode("utf-8", "replace").split("\n")

    def _read_names(self, tree: str) -> Mapping[bytes, RawEntry]:
        return parse_tree(self._read(tree), self._location.object_format)

    def _read(self, oid: str) -> bytes:
        data = self._reader.read(oid)
        if data is None:
            raise _unreadable(oid)
        return data

    def close(self) -> None:
        """End the git process. May be called several times."""
        self._reader.close()


def _unreadable(oid: str) -> DamagedFile:
    return DamagedFile(f"the object {oid} of `{REFERENCE}` is missing or damaged", hint="run: git fsck")
