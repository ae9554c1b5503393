"""What this clone knows of shared records: one commit beside the memory, which never leaves the machine.

held/       versions of all writers that the memory holds
own/        versions that this clone made
purges/     purges of all writers
sharers/    for each record of others, its blob and the person who shared it
signatures/ID    what the signature of a writer's commit was worth when it was pulled
merged, clean    commits of writers that are completely part of the memory, and those free of purged records
left, removed    purged blobs that could not be removed, and those that this clone purged before it ever shared
rejected         damaged commits that have purged records: nobody can clean them, so they are not fetched again
former           commits of memories that an earlier gitmem pushed as a whole, and that were merged
pending          a commit of the memory, and the commit of the state that holds as soon as the memory contains it

Memory and state are two refs, which no git moves at once. So a merge first writes the state after it as pending.
"""

import time
from collections.abc import Collection, Mapping
from typing import Final

from gitmem.errors import DamagedFile, GitFailed, GitmemError, UnknownRevision
from gitmem.git.commit_signing import Author, CommitText, sign_commit
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_format import RawObject, format_commit, make_object
from gitmem.git.program import run_git
from gitmem.git.ref_log import is_ancestor
from gitmem.git.references import delete_reference, read_reference, store_objects, update_reference
from gitmem.git.tree_edit import edit_tree
from gitmem.git.trees import TreeEntry
from gitmem.memory.record_paths import REMOTES, SHARED_REFERENCE, SHARERS, SIGNATURES
from gitmem.memory.record_store import IDENTITY, RecordStore, Tip
from gitmem.memory.versions import Versions
from gitmem.memory.writer_identity import forget_writer_id
from gitmem.memory.writer_refs import PREFIXES, is_fetched_reference, is_writer_ref
from gitmem.memory.writer_tree import (
    Purges,
    TreeContent,
    WriterState,
    damaged_writer,
    format_purges,
    format_versions,
    format_writer,
    parse_purges,
    parse_versions,
    parse_writer,
    purged_blobs,
)
from gitmem.named_tuple import NamedTuple

_HELD: Final = b"held"
_OWN: Final = b"own"
_LISTS: Final = (b"merged", b"clean", b"left", b"removed", b"former", b"rejected")
_PENDING: Final = b"pending"
_HERE: Final = "this clone"


class SharedState(NamedTuple):
    """Versions that the memory holds, those that this clone made, purges, and the sharers of records by path.

    A sharer is the id of the record's blob, a blank, name and address, and in a second line the commit by which the
    record came. `signatures` describe those of such commits. `merged` and `clean` are commits of writers.
    `left` are purged blobs that could not be removed from this repository, `removed` those that it purged before it
    shared anything: others never hear of these. `former` are merged commits of memories that were pushed as a whole,
    `rejected` damaged ones of writers that are not fetched again.
    """

    held: Mapping[bytes, Versions] = {}
    own: Mapping[bytes, Versions] = {}
    purges: Mapping[str, frozenset[str]] = {}
    sharers: Mapping[bytes, str] = {}
    merged: frozenset[str] = frozenset()
    clean: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    former: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    signatures: Mapping[str, str] = {}

    @property
    def purged(self) -> frozenset[str]:
        """Return the ids of all purged blobs."""
        return purged_blobs(self.purges)

    def with_purges(self, purges: Purges) -> "SharedState":
        """Add purges. Commits that were free of purged records may have some of these."""
        added = {**self.purges, **purges}
        return self if added.keys() == self.purges.keys() else self._replace(purges=added, clean=frozenset())


def shared_tip(location: RepositoryLocation, store: RecordStore) -> Tip:
    """Return the commit of the shared state and its tree, None before the first one."""
    commit = read_reference(location, SHARED_REFERENCE)
    return store.at(commit) if commit else Tip(None, None)


def read_shared(location: RepositoryLocation, store: RecordStore) -> SharedState:
    """Read the shared state; an empty one before the first. Raises DamagedFile, NewerFormat."""
    tip = shared_tip(location, store)
    pending = store.find_data(tip, _PENDING)
    if pending is not None:
        # The process died during a merge. The memory tells whether that was before or after its commit, even if the
        # user has changed records since.
        commit, state = pending.decode("ascii").split()
        current = store.tip().commit
        tip = store.at(state) if current and is_ancestor(location, commit, current) else tip
    folders: dict[bytes, list[TreeEntry]] = {}
    root = []
    for entry in store.entries(tip):
        folder, _, below = entry.path.partition(b"/")
        folders.setdefault(folder, []).append(entry._replace(path=below))
        root.append(entry)
    held, own = (parse_versions(folders.get(name, ()), store.read_blob, _HERE) for name in (_HELD, _OWN))
    sharers = {path: store.read_blob(oid).decode() for path, _, oid in folders.get(SHARERS, ())}
    lists = {path: store.read_blob(oid).decode("ascii").split() for path, _, oid in root if path in _LISTS}
    sets = (frozenset(lists.get(name, ())) for name in _LISTS)
    signatures = {path.decode(): store.read_blob(oid).decode() for path, _, oid in folders.get(SIGNATURES, ())}
    purges = parse_purges(root, store.read_blob, _HERE)
    return SharedState._make((held, own, purges, sharers, *sets, signatures))


def write_shared(
    location: RepositoryLocation, store: RecordStore, state: SharedState, pending: tuple[str, SharedState] | None = None
) -> None:
    """Replace the shared state, durably. The lock of the store must be held. Raises GitFailed, StorageFailed.

    `pending` is a commit of the memory that is about to be made, and the state from then on.
    """
    old = shared_tip(location, store)
    content, parent = _format(state), None
    if pending:
        # A state that the merge does not change is the old one.
        parent = _store_state(location, store, old, _format(pending[1]), None) or old.commit
        content.new[_PENDING] = f"{pending[0]} {parent}\n".encode()
    commit = _store_state(location, store, old, content, parent)
    if commit and not update_reference(location, SHARED_REFERENCE, commit, old.commit, reflog=False):
        raise GitmemError(f"`{SHARED_REFERENCE}` was moved by another program", hint="run the command again")


def _store_state(
    location: RepositoryLocation, store: RecordStore, old: Tip, content: TreeContent, parent: str | None
) -> str | None:
    """Store a commit of a state and return its id; None if it is the old one. The parent keeps a pending state."""
    before = {entry.path: entry.oid for entry in store.entries(old)}
    after, blobs = _make_blobs(content, location.object_format)
    changes = {path: after.get(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if not changes:
        return None
    tree, trees = edit_tree(old.tree, changes, store.read_blob, location.object_format)
    empty = make_object("tree", b"", location.object_format)
    objects = [*blobs.values(), *trees, *([] if tree else [empty])]
    return _store_commit(location, tree or empty.oid, objects, "shared", parent)


def _format(state: SharedState) -> TreeContent:
    """Return the tree of the state."""
    stored: dict[bytes, str] = {}
    new = dict(format_purges(state.purges))
    purged = state.purged
    for folder, versions in ((_HELD, state.held), (_OWN, state.own)):
        content = format_versions(versions, purged)
        stored |= {b"%s/%s" % (folder, path): oid for path, oid in content.stored.items()}
        new |= {b"%s/%s" % (folder, path): data for path, data in content.new.items()}
    new |= {b"%s/%s" % (SHARERS, path): text.encode() for path, text in state.sharers.items()}
    new |= {b"%s/%s" % (SIGNATURES, commit.encode()): text.encode() for commit, text in state.signatures.items()}
    lists = (state.merged, state.clean, state.left, state.removed, state.former, state.rejected)
    for name, values in zip(_LISTS, lists, strict=True):
        if values:
            new[name] = "".join(f"{each}\n" for each in sorted(values)).encode()
    return TreeContent(stored, new)


def _make_blobs(content: TreeContent, object_format: str) -> tuple[dict[bytes, str], dict[str, RawObject]]:
    """Return the ids of all blobs by path, and the new blobs by id."""
    objects = {path: make_object("blob", data, object_format) for path, data in content.new.items()}
    ids = {**content.stored, **{path: blob.oid for path, blob in objects.items()}}
    return ids, {blob.oid: blob for blob in objects.values()}


def _store_commit(
    location: RepositoryLocation,
    tree: str,
    objects: Collection[RawObject],
    subject: str,
    parent: str | None = None,
    author: Author | None = None,
) -> str:
    """Store a commit and the objects it needs, durably, and return its id."""
    seconds = int(time.time())
    if author is not None and author.signs:
        # git signs only a commit whose tree it can find.
        store_objects(location, [*objects])
        commit = sign_commit(location, author, CommitText(tree, parent, seconds, subject, IDENTITY))
        store_objects(location, [commit])
        return commit.oid
    name = author.name if author else ""
    data = format_commit(tree, parent, IDENTITY, seconds, subject, author=name)
    commit = make_object("commit", data, location.object_format)
    store_objects(location, [*objects, commit])
    return commit.oid


def store_writer(
    location: RepositoryLocation, store: RecordStore, state: WriterState, parent: str | None, author: Author
) -> str | None:
    """Store a commit of a writer's state and return its id; None if the parent has the same tree already.

    No ref moves. Raises GitFailed, StorageFailed.
    """
    ids, blobs = _make_blobs(format_writer(state), location.object_format)
    tree, trees = edit_tree(None, ids, store.read_blob, location.object_format)
    assert tree is not None, "every tree has a line about its writer"
    if parent is not None and store.at(parent).tree == tree:
        return None
    subject = "records" if parent else "records from here on"
    return _store_commit(location, tree, [*blobs.values(), *trees], subject, parent, author)


def store_again(location: RepositoryLocation, store: RecordStore, commit: str, author: Author) -> str:
    """Store a child of a writer's commit with the same tree, and return its id. Raises GitFailed, StorageFailed."""
    tree = store.at(commit).tree
    assert tree is not None, "a commit has a tree"
    return _store_commit(location, tree, [], "records", commit, author)


def read_writer(store: RecordStore, commit: str, writer: str) -> WriterState:
    """Read the state of a writer from a commit of its ref. Raises DamagedFile, NewerFormat."""
    try:
        entries = store.entries(store.at(commit))
    except (DamagedFile, UnknownRevision, GitFailed) as problem:  # a ref may point to any object
        raise damaged_writer(writer) from problem
    return parse_writer(entries, store.read_blob, writer)


def list_refs(location: RepositoryLocation, prefix: str) -> dict[str, str]:
    """Return the refs of this repository below a prefix, by name."""
    output = run_git(["for-each-ref", "--format=%(refname) %(objectname)", prefix], git_dir=location.git_dir).stdout
    pairs = (line.rpartition(" ") for line in output.decode("utf-8", "surrogateescape").splitlines())
    return {name: oid for name, _, oid in pairs}


def list_fetched(location: RepositoryLocation, remote: str = "") -> dict[str, str]:
    """Return the refs that keep what was fetched from a remote last, or from any, by name.

    They are a cache of the remotes. Other refs beside them are the user's.
    """
    prefix = f"{REMOTES}{remote}/" if remote else REMOTES
    listed = list_refs(location, prefix)
    return {name: oid for name, oid in listed.items() if is_fetched_reference(name)}


def list_writers_here(location: RepositoryLocation) -> dict[str, str]:
    """Return the commits of writers that others pushed into this repository, or that a mirror has, by ref."""
    listed = {name: oid for prefix in PREFIXES.values() for name, oid in list_refs(location, prefix).items()}
    return {name: oid for name, oid in listed.items() if is_writer_ref(name)}


def drop_fetched(location: RepositoryLocation) -> None:
    """Delete the refs that keep what was fetched: they keep former revisions. The next exchange fetches it again."""
    for name in list_fetched(location):
        delete_reference(location, name)


def forget_sharing(location: RepositoryLocation) -> None:
    """Make this clone one that has never shared anything: what it deletes from now on is not deleted for others."""
    if read_reference(location, SHARED_REFERENCE) is not None:
        delete_reference(location, SHARED_REFERENCE)
    drop_fetched(location)
    forget_writer_id(location)
