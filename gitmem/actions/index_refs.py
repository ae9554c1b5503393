"""Files of a shared index under refs of a git remote: one ref for each writer and version of chunker and model.

The tree of a ref is flat, and each commit only adds files, so a push is a fast-forward and sends new files only. Normal
clones and fetches transfer nothing of these refs.
"""

import hashlib
import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from gitmem.actions.shared_files import MAX_FILES, Listing, SharedFile
from gitmem.closeable import Closeable
from gitmem.errors import GitFailed
from gitmem.git.batch import ProgramReader
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_format import FILE_MODE, RawEntry, RawObject, format_commit, format_tree, make_object, parse_tree
from gitmem.git.references import delete_reference, read_reference, store_objects, update_reference
from gitmem.git.remotes import (
    FORWARD_WORDS,
    LOCK_HINT,
    RefUpdate,
    fetch_refs,
    find_push_url,
    list_remote_refs,
    push_refs,
)
from gitmem.memory.record_store import RecordStore
from gitmem.memory.shared_state import list_refs
from gitmem.memory.writer_identity import is_writer_id
from gitmem.records.sharing import own_writer

INDEX_REFS: Final = "refs/gitmem/index/"
FETCHED: Final = "refs/gitmem-fetched/"
"""Refs as they were fetched last: they spare the next fetch these files. Outside `refs/gitmem/`, so no fetch of the
user prunes them."""

_IDENTITY: Final = "gitmem <gitmem@localhost>"
_TREE_LINE: Final = re.compile(rb"tree ([0-9a-f]{40}|[0-9a-f]{64})\n")
_KINDS: Final = frozenset({b"blob", b"tree", b"commit"})
_MAX_COMMIT: Final = 1 << 16
_MAX_TREE: Final = 128 * MAX_FILES
_TRIES: Final = 5
_HIDDEN: Final = "it is hidden from fetches"
LARGE_BYTES: Final = 1 << 20
"""Size of a file that is stored as a pack of its own."""


class IndexRefs(Closeable):
    """Shared files of a remote. `group` is the name of a version of chunker and model."""

    def __init__(self, location: RepositoryLocation, remote: str, group: str, *, pushes: bool) -> None:
        self.place = remote
        self.writer = own_writer(location) if pushes else ""
        self._location = location
        # What is pushed continues what is there, so that is read from where pushes go.
        self._url = find_push_url(location, remote) if pushes else ""
        self._prefix = f"{INDEX_REFS}{group}/"
        self._reader = ProgramReader(location, _KINDS)

    def find_files(self) -> Listing:
        """Fetch new files and return all. Raises GitFailed."""
        refs = list_remote_refs(self._location, self.place, [INDEX_REFS], self._url)
        writers = {name.removeprefix(self._prefix): oid for name, oid in refs.items() if name.startswith(self._prefix)}
        writers = {writer: oid for writer, oid in writers.items() if is_writer_id(writer)}
        known = list_refs(self._location, f"{FETCHED}{self.place}/")
        for name in known.keys() - {self._fetched(writer) for writer in writers}:
            delete_reference(self._location, name)  # the remote has it no more, or it is that of another version
        new = {self._prefix + writer: self._fetched(writer)
               for writer, oid in writers.items() if known.get(self._fetched(writer)) != oid}  # fmt: skip
        fetch_refs(self._location, self.place, new, self._url, large_files=True)
        # A fetched ref counts, not the listed one: it may have moved in between.
        files, faults = [], []
        for writer in sorted(writers):
            commit = read_reference(self._location, self._fetched(writer))
            own, fault = self._read_files(writer, commit or "")
            files += own
            faults += [f"{writer}: {fault}"] if fault else []
        others = len(refs) - len(writers)
        return Listing(files, others, faults)

    def read(self, file: SharedFile) -> bytes | None:
        """Return the content of a file; None if it is missing, or is another object than a file."""
        return self._reader.read(file.id)

    def add(self, files: Iterable[tuple[str, bytes]], removed: Collection[str] = ()) -> None:
        """Push further files under the own ref, without the removed ones. Raises: GitFailed, StorageFailed."""
        form = self._location.object_format
        added: dict[bytes, RawEntry] = {}
        for name, data in files:
            blob = make_object("blob", data, form)
            self._store([blob], packed=len(data) >= LARGE_BYTES)  # one by one: a file takes megabytes
            added[name.encode()] = RawEntry(FILE_MODE, blob.oid)
        conflict = ""
        for _ in range(_TRIES):
            conflict = self._push(added, removed)
            if not conflict:
                return
            self.find_files()  # a copy of this clone has moved the ref
            if conflict in FORWARD_WORDS and read_reference(self._location, self._fetched(self.writer)) is None:
                raise self._refused(_HIDDEN)
        raise GitFailed(f"`{self._prefix}{self.writer}` on `{self.place}` keeps changing: {conflict}", hint=LOCK_HINT)

    def _push(self, added: Mapping[bytes, RawEntry], removed: Collection[str]) -> str:
        """Push a commit that adds files to those of the remote; return git's reason if the ref has moved."""
        local, form = self._fetched(self.writer), self._location.object_format
        parent = read_reference(self._location, local)
        former = self._read_tree(parent)[0] if parent else {}
        entries = {**{name: each for name, each in former.items() if name.decode("latin-1") not in removed}, **added}
        tree = make_object("tree", format_tree(entries), form)
        commit = make_object("commit", format_commit(tree.oid, parent, _IDENTITY, int(time.time()), "index"), form)
        self._store([tree, commit])
        name = self._prefix + self.writer
        for result in push_refs(self._location, self.place, [RefUpdate(name, commit.oid)], large_files=True):
            if result.moved:
                return result.reason
            if not result.accepted:
                raise self._refused(f"it is refused: {result.reason}")
        # A host may accept a ref that it does not show to anybody.
        if parent is None and name not in list_remote_refs(self._location, self.place, [name], self._url):
            raise self._refused(_HIDDEN)
        update_reference(self._location, local, commit.oid, parent, reflog=False)
        return ""

    def _refused(self, reason: str) -> GitFailed:
        return GitFailed(
            f"`{self.place}` does not share the ref `{self._prefix}{self.writer}`: {reason}",
            hint="gitmem push --index --store DIR|URL, or allow `refs/gitmem/*` on the server",
        )

    def _store(self, objects: Sequence[RawObject], *, packed: bool = False) -> None:
        # A writer of records removes what it takes for a dead one's unfinished objects.
        with RecordStore(self._location) as store, store.locked():
            store_objects(self._location, objects, packed=packed)

    def _fetched(self, writer: str) -> str:
        group = self._prefix.removeprefix(INDEX_REFS)
        return f"{FETCHED}{self.place}/{group}{writer}"

    def _read_files(self, writer: str, commit: str) -> tuple[list[SharedFile], str]:
        """Return the files of a writer, or the fault of its ref."""
        entries, fault = self._read_tree(commit)
        if fault:
            return [], fault
        plain = {name: entry for name, entry in entries.items() if entry.mode == FILE_MODE and name.isascii()}
        sizes = self._reader.sizes(entry.oid for entry in plain.values())
        return [
            SharedFile(writer, name.decode(), size, entry.oid)
            for (name, entry), size in zip(plain.items(), sizes, strict=True)
            if size is not None
        ], ""

    def _read_tree(self, commit: str) -> tuple[dict[bytes, RawEntry], str]:
        """Return the entries of a commit's tree. Only one tree of limited size is read: nested ones may be endless."""
        data = self._read_limited(commit, _MAX_COMMIT)
        match = _TREE_LINE.match(data or b"")
        tree = self._read_limited(match[1].decode(), _MAX_TREE) if match else None
        if tree is None:
            return {}, "not a commit with a list of files"
        try:
            entries = parse_tree(tree, self._location.object_format)
        except ValueError:
            return {}, "a damaged list of files"
        return (entries, "") if len(entries) <= MAX_FILES else ({}, f"more than {MAX_FILES:,} files")

    def _read_limited(self, oid: str, limit: int) -> bytes | None:
        size = self._reader.size(oid) if oid else None
        return self._reader.read(oid) if size is not None and size <= limit else None

    def close(self) -> None:
        """End the git process."""
        self._reader.close()


def forget_fetched(location: RepositoryLocation) -> None:
    """Delete the refs that keep fetched files; git then expires these by itself. Raises GitFailed."""
    for name in {} if location.plain else list_refs(location, FETCHED):
        delete_reference(location, name)


def group_of(fingerprint: str) -> str:
    """Return the name of a version of chunker, settings and model, by its fingerprint without dimensions."""
    return hashlib.blake2b(fingerprint.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
