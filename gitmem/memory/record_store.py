"""The records of one repository: read at any commit of the memory ref, changed by one commit at a time.

A change is written whole and durable before the ref names it, and the ref moves only if it is where it was when the
change was thought out; else the change is thought out again. So nothing is overwritten, whoever else writes.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Final, NamedTuple

from gitmem.closeable import Closeable
from gitmem.errors import DamagedFile, UnknownRevision
from gitmem.git.batch import ProgramReader
from gitmem.git.locate import Location
from gitmem.git.object_format import RawEntry, RawObject, format_commit, make_object, parse_tree
from gitmem.git.references import read_reference, store_objects, update_reference
from gitmem.git.tree_edit import edit_tree
from gitmem.git.trees import TreeEntry, read_tree
from gitmem.locks import writer_lock
from gitmem.memory.record_paths import REFERENCE
from gitmem.paths import MEMORY_LOCK
from gitmem.record import Record, parse_record

IDENTITY: Final = "gitmem <gitmem@localhost>"

_TREES_KEPT: Final = 600
"""Trees never change: two kinds of records with 256 folders each stay at hand."""

_KINDS: Final = frozenset({b"blob", b"tree", b"commit"})

Changes = Mapping[bytes, bytes | None]
"""Paths and the blobs they get; None takes a path away."""


class Tip(NamedTuple):
    """A commit of the memory ref; both None before the first record."""

    commit: str | None
    tree: str | None


class RecordStore(Closeable):
    """Reads and changes records; hold one open for as long as you like, from one thread."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._reader = ProgramReader(location, _KINDS)
        self._names = lru_cache(_TREES_KEPT)(self._read_names)

    def tip(self) -> Tip:
        """What the memory ref names now."""
        commit = read_reference(self._location, REFERENCE)
        return self.at(commit) if commit else Tip(None, None)

    def at(self, commit: str) -> Tip:
        """A commit of the past, by its full id."""
        head = self._commit_head(commit)
        return Tip(commit, head[0].removeprefix("tree "))

    def before(self, tip: Tip) -> Tip:
        """The commit before another one, or the state before the first."""
        line = self._commit_head(tip.commit)[1] if tip.commit else ""
        return self.at(line.removeprefix("parent ")) if line.startswith("parent ") else Tip(None, None)

    def find(self, tip: Tip, path: bytes) -> str | None:
        """The blob or tree at a path, None where nothing is."""
        oid = tip.tree
        for name in path.split(b"/"):
            if oid is None:
                return None
            entry = self._names(oid).get(name)
            oid = entry.oid if entry else None
        return oid

    def entries(self, tip: Tip, folder: bytes = b"") -> list[TreeEntry]:
        """Every record below a folder, with its path from the root, in the order of the paths."""
        tree = self.find(tip, folder) if folder else tip.tree
        found = read_tree(self._location, tree) if tree else []
        return [entry._replace(path=folder + b"/" + entry.path) for entry in found] if folder else found

    def entries_at(self, tip: Tip, path: bytes) -> list[TreeEntry]:
        """The record at a path, or those below it where it is a folder."""
        folder, _, name = path.rpartition(b"/")
        parent = self.find(tip, folder)
        entry = self._names(parent).get(name) if parent else None
        if entry is None:
            return []
        return self.entries(tip, path) if entry.is_tree else [TreeEntry(path, int(entry.mode, 8), entry.oid)]

    def find_data(self, tip: Tip, path: bytes) -> bytes | None:
        """The bytes of the record at a path, None where none is."""
        oid = self.find(tip, path)
        return self._read(oid) if oid else None

    def find_object(self, oid: str) -> bytes | None:
        """The bytes of any object, None where it is missing or damaged."""
        return self._reader.read(oid)

    def read_blob(self, oid: str) -> bytes:
        """The bytes of a record. Raises DamagedFile."""
        return self._read(oid)

    def read_record(self, oid: str, name: str) -> Record:
        """A record by its blob; `name` is what errors call it. Raises DamagedFile, NewerFormat."""
        return parse_record(self._read(oid), name)

    def find_record(self, tip: Tip, path: bytes) -> Record | None:
        """The record at a path, None where none is. Raises DamagedFile, NewerFormat."""
        data = self.find_data(tip, path)
        return None if data is None else parse_record(data, path.decode())

    def read_records(self, entries: Iterable[TreeEntry]) -> Iterator[Record]:
        """Records one after the other. Raises DamagedFile, NewerFormat."""
        listed = list(entries)
        found = self._reader.read_many(entry.oid for entry in listed)
        for entry, (oid, data) in zip(listed, found, strict=True):
            if data is None:
                raise _lost(oid)
            yield parse_record(data, entry.path.decode("utf-8", "replace"))

    def change(self, message: str, edit: Callable[[Tip], Changes], *, seconds: int | None = None) -> Tip:
        """Make one commit of what `edit` says of the newest state; `edit` is asked again when that has moved on.

        No change, no commit. On return the change is on the disk and visible to everyone.
        `seconds` since 1970 is the time of the commit, now by default.

        Raises: GitFailed, StorageFailed; what `edit` raises.
        """
        with self.locked():
            while True:
                old = self.tip()
                changes = edit(old)
                new, objects = self._build(old, changes, message, int(time.time()) if seconds is None else seconds)
                if not objects or self._publish(old, new, objects):
                    return new

    def cut_history(self) -> Tip:
        """Let the ref name a commit without parents that holds what it holds now; call with the lock held."""
        while True:
            old = self.tip()
            if old.tree is None or self.before(old).commit is None:
                return old
            data = format_commit(old.tree, None, IDENTITY, int(time.time()), "purge")
            commit = make_object("commit", data, self._location.object_format)
            new = Tip(commit.oid, old.tree)
            if self._publish(old, new, [commit]):
                return new

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers of gitmem waiting."""
        with writer_lock(self._location.common_dir / MEMORY_LOCK, wait=True):
            yield

    def _publish(self, old: Tip, new: Tip, objects: Sequence[RawObject]) -> bool:
        """Make objects durable, then let the ref name the new commit; False where it has moved meanwhile."""
        store_objects(self._location, objects)
        assert new.commit is not None
        return update_reference(self._location, REFERENCE, new.commit, old.commit)

    def _build(self, old: Tip, changes: Changes, message: str, seconds: int) -> tuple[Tip, list[RawObject]]:
        object_format = self._location.object_format
        blobs = {path: data and make_object("blob", data, object_format) for path, data in changes.items()}
        ids = {path: blob.oid if blob else None for path, blob in blobs.items()}
        root, trees = edit_tree(old.tree, ids, self._read, object_format)
        if root is None and old.tree is not None:
            empty = make_object("tree", b"", object_format)
            root, trees = empty.oid, [empty]
        if root is None or root == old.tree:
            return old, []
        data = format_commit(root, old.commit, IDENTITY, seconds, message)
        commit = make_object("commit", data, object_format)
        return Tip(commit.oid, root), [*{blob.oid: blob for blob in blobs.values() if blob}.values(), *trees, commit]

    def _commit_head(self, commit: str) -> list[str]:
        """The lines of a commit, the tree first, then its parents."""
        data = self._read(commit)
        if not data.startswith(b"tree "):
            raise UnknownRevision(f"`{commit}` is no commit of `{REFERENCE}`")
        return data.decode("utf-8", "replace").split("\n")

    def _read_names(self, tree: str) -> Mapping[bytes, RawEntry]:
        return parse_tree(self._read(tree), self._location.object_format)

    def _read(self, oid: str) -> bytes:
        data = self._reader.read(oid)
        if data is None:
            raise _lost(oid)
        return data

    def close(self) -> None:
        """Let the git process go; may be called again."""
        self._reader.close()


def _lost(oid: str) -> DamagedFile:
    return DamagedFile(f"the object {oid} of `{REFERENCE}` is missing or damaged", hint="run: git fsck")
