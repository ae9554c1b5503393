"""Find the objects that a purge removes: all that gitmem wrote and nothing reaches, once the ref has lost its parents.

Objects that something else reaches stay. They are found as well, so that the purge can report what is left and why.
"""

import re
from collections.abc import Collection, Iterable
from typing import Final

from gitmem.fsio import read_file, remove_file, write_atomic
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_removal import StoredObject, find_reachable, find_unreachable
from gitmem.git.program import run_git
from gitmem.git.references import read_reference
from gitmem.memory.record_paths import BACKUP_REFERENCE, REFERENCE, SHARED_REFERENCE
from gitmem.memory.record_store import IDENTITY, RecordStore
from gitmem.memory.tree_marks import is_memory_tree
from gitmem.named_tuple import NamedTuple
from gitmem.paths import PURGING
from gitmem.record import is_record

# `git gc --prune=now` would also drop unreachable objects of the user, who may want them back.
#
# Which unreachable objects are gitmem's? A blob is if it parses as a record, a commit if gitmem is its committer. This
# also finds objects of writers that died before the ref pointed to them, which no walk from the ref would find. A tree
# is if one of those commits has it, or by the form of its names (tree_marks): its commit may never have been written.
# Once blobs are removed, fewer trees can be recognised. So the ids are written to a file before the first removal, and
# a later purge finishes an interrupted one.
#
# What an unreachable commit or tree of the user reaches stays as well: `git fsck --lost-found` must find it whole.

MAX_BYTES: Final = 64 << 20
"""Size above which an object is not read. No record is larger: a character of the longest document has at most four
bytes."""

_COMMITTER_LINE: Final = f"\ncommitter {IDENTITY} ".encode()


def begin_purge(location: RepositoryLocation, oids: Collection[str]) -> None:
    """Write down the objects that are about to be removed. Raises StorageFailed."""
    write_atomic(location.common_dir / PURGING, ["\n".join(sorted(oids)).encode("ascii")])


def extend_purge(location: RepositoryLocation, oids: Collection[str]) -> None:
    """Let the next purge remove more objects, unless something reaches them by then. Raises StorageFailed."""
    begin_purge(location, {*_read_interrupted(location), *oids})


def end_purge(location: RepositoryLocation) -> None:
    """Remove the list of objects, once all of them are removed."""
    remove_file(location.common_dir / PURGING)


def _read_interrupted(location: RepositoryLocation) -> frozenset[str]:
    """Return the objects that an interrupted purge was about to remove."""
    data = read_file(location.common_dir / PURGING) or b""
    return frozenset(oid.decode("ascii") for oid in _OID.findall(data))


_OID: Final = re.compile(rb"^[0-9a-f]{40,64}$", re.MULTILINE)


class Purgeable(NamedTuple):
    """Objects to remove, and the ids of unreachable objects of gitmem that stay because others reach them."""

    objects: list[StoredObject]
    retained: set[str]


def find_memory_objects(location: RepositoryLocation, store: RecordStore) -> set[str]:
    """Return every object that the memory ref reaches, as far as none is missing on the way."""
    commit = store.tip().commit
    return _list_objects(location, commit) if commit else set()


def find_purgeable(location: RepositoryLocation, store: RecordStore) -> Purgeable:
    """Return the unreachable objects of gitmem, except those that an unreachable object of somebody else reaches."""
    unreachable = find_unreachable(location)
    own = {item.oid for item in unreachable if item.size <= MAX_BYTES and _is_own(item, location, store)}
    own |= _read_interrupted(location) & {item.oid for item in unreachable}
    # Without parents: each commit has its own mark, and git fails on a parent that is removed already.
    own = find_reachable(location, own, parents=False)
    foreign = [item.oid for item in unreachable if item.oid not in own and item.kind != "blob"]
    retained = find_reachable(location, foreign)
    return Purgeable([item for item in unreachable if item.oid in own - retained], own & retained)


def _is_own(item: StoredObject, location: RepositoryLocation, store: RecordStore) -> bool:
    """Return whether gitmem wrote an object, judged by its content."""
    data = store.find_object(item.oid) if item.kind in _READ_KINDS else None
    if data is None:
        return False
    if item.kind == "tree":
        return is_memory_tree(data, store.find_object, location.object_format)
    return is_record(data) if item.kind == "blob" else _COMMITTER_LINE in data.partition(b"\n\n")[0]


_READ_KINDS: Final = ("commit", "tree", "blob")


def find_retained(location: RepositoryLocation, store: RecordStore, former: Collection[str]) -> set[str]:
    """Return objects of gitmem that are not part of the memory any more but that something else reaches.

    `former` are objects known to have been part of it. Others are found by their marks: commits that a ref or reflog
    reaches, and records that an index or a ref names directly.
    """
    kept = _current_commits(location, store)
    current = find_reachable(location, kept, parents=False) if kept else set()
    by_committer = ["-F", f"--committer={IDENTITY}", "--ignore-missing", "--all", "--reflog"]
    commits = set(_run_git_words(location, "rev-list", *by_committer)) - kept
    objects = {*former, *(find_reachable(location, commits, parents=False) if commits else ())}
    named = [oid for _, kind, *oids in _list_references(location) if kind in ("blob", "tree") for oid in oids]
    strays = _list_objects(location, *named) | _list_objects(location, "--indexed-objects", "--not", "--all")
    sizes = {item.oid: item.size for item in find_present(location, strays - objects) if item.kind == "blob"}
    objects |= {oid for oid, size in sizes.items() if size <= MAX_BYTES and is_record(store.find_object(oid) or b"")}
    return objects - current


def _current_commits(location: RepositoryLocation, store: RecordStore) -> set[str]:
    """Return the commits of the memory and of the shared state; after a purge they have no former revisions."""
    return {oid for oid in (store.tip().commit, read_reference(location, SHARED_REFERENCE)) if oid}


def find_holders(
    location: RepositoryLocation, left: Collection[StoredObject], purged: Collection[str]
) -> tuple[str, ...]:
    """Return what keeps objects alive: names of refs if they are quickly found, and kinds of everything else.

    `purged` were removed from this repository, so an alternate holds those that are still there. A reflog is listed
    only for objects that no ref reaches, because the reflog of a ref goes with the ref.
    """
    present = {item.oid for item in left}
    held = present - set(purged)
    if not held:
        return (_ALTERNATES,) if present else ()
    names = {name for name, _, *oids in _list_references(location) if held.intersection(oids)}
    roots = _root_commits(location, [item.oid for item in left if item.kind == "commit" and item.oid in held])
    if roots:
        containing = [f"--contains={oid}" for oid in roots[:_MAX_ROOTS]]
        names.update(_run_git_words(location, "for-each-ref", "--format=%(refname)", *containing))
    holders = sorted(names - {REFERENCE, BACKUP_REFERENCE})
    by_listed_refs = _list_objects(location, *holders) if holders else set()
    own = [f"--exclude={name}" for name in (REFERENCE, BACKUP_REFERENCE)]
    by_refs = _list_objects(location, *own, "--all") & held
    by_reflogs = (_list_objects(location, "--reflog") & held) - by_listed_refs - by_refs
    by_indexes = _list_objects(location, "--indexed-objects") & held
    holders += ["another ref or HEAD"] if by_refs - by_listed_refs else []
    holders += ["a reflog"] if by_reflogs else []
    holders += ["an index"] if by_indexes else []
    holders += ["an unreachable object"] if held - by_listed_refs - by_refs - by_reflogs - by_indexes else []
    return (*holders, *([_ALTERNATES] if present - held else []))


_ALTERNATES: Final = "another repository's objects (alternates)"
_MAX_ROOTS: Final = 100
"""Maximum number of commits to search refs for. Each line of commits has one root; more than one is rare."""


def _list_references(location: RepositoryLocation) -> list[list[str]]:
    """Return every ref as its name, the type and id of its object, and the id of the object behind a tag."""
    fields = "--format=%(refname) %(objecttype) %(objectname) %(*objectname)"
    output = run_git(["for-each-ref", fields], git_dir=location.git_dir).stdout
    return [line.split() for line in output.decode("utf-8", "surrogateescape").splitlines()]


def _root_commits(location: RepositoryLocation, commits: Collection[str]) -> list[str]:
    """Return the commits that have no parent among them: every ref that reaches any of them reaches one of these."""
    if not commits:
        return []
    stdin = "".join(f"{oid}\n" for oid in commits).encode("ascii")
    args = ["--no-replace-objects", "rev-list", "--no-walk=unsorted", "--parents", "--stdin"]
    lines = run_git(args, git_dir=location.git_dir, stdin=stdin, check=False).stdout.decode("ascii").splitlines()
    among = set(commits)
    return [oid for oid, *parents in map(str.split, lines) if among.isdisjoint(parents)]


def _list_objects(location: RepositoryLocation, *revisions: str) -> set[str]:
    """Return every object that revisions reach, as far as none is missing on the way."""
    return set(_run_git_words(location, "rev-list", *_OBJECT_OPTIONS, *revisions)) if revisions else set()


_OBJECT_OPTIONS: Final = ("--objects", "--no-object-names", "--missing=allow-any", "--ignore-missing")


def _run_git_words(location: RepositoryLocation, *args: str) -> list[str]:
    """Return the words of git's output, even if git failed in the middle: a partial answer is better than none."""
    result = run_git(["--no-replace-objects", *args], git_dir=location.git_dir, check=False)
    return result.stdout.decode("utf-8", "surrogateescape").split()


def find_present(location: RepositoryLocation, oids: Iterable[str]) -> list[StoredObject]:
    """Return the objects that exist, with kind and size in bytes."""
    stdin = "".join(f"{oid}\n" for oid in sorted(oids)).encode("ascii")
    if not stdin:
        return []
    output = run_git(["cat-file", "--batch-check", "--buffer"], git_dir=location.git_dir, stdin=stdin).stdout
    lines = (line.split() for line in output.decode("ascii").splitlines())
    # A missing object has the word `missing` but no size.
    return [StoredObject(oid, kind, int(size)) for oid, kind, *sizes in lines for size in sizes]
