"""Which objects a purge takes away: all that gitmem ever wrote and nothing reaches any more.

The ref has lost its history by then. What it reached, and what writers that died left behind, is found by its own
marks. Trees have none, and once their commits are gone nothing tells whose they are; so what is about to go is written
down before, and a purge that was interrupted is finished by the next one.

What something else reaches stays. It is looked for too, so that nobody takes it for gone: by what the history reached
before it was cut, and after that by the marks of commits, and of records that an index or a ref names by themselves.
"""

import re
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from gitmem.fsio import read_file, remove_file, write_atomic
from gitmem.git.locate import Location
from gitmem.git.object_removal import StoredObject, find_reachable, find_unreachable
from gitmem.git.program import run_git
from gitmem.memory.record_paths import REFERENCE
from gitmem.memory.record_store import IDENTITY, RecordStore
from gitmem.paths import PURGING
from gitmem.record import is_record

MOST_BYTES: Final = 64 << 20
"""No record is larger: a character of the longest document has four bytes at most."""

_WRITTEN_BY: Final = f"\ncommitter {IDENTITY} ".encode()


def begin_purge(location: Location, oids: Collection[str]) -> None:
    """Write down what is about to be removed. Raises StorageFailed."""
    write_atomic(location.common_dir / PURGING, ["\n".join(sorted(oids)).encode("ascii")])


def end_purge(location: Location) -> None:
    """Nothing of it is left to be removed."""
    remove_file(location.common_dir / PURGING)


def _read_begun(location: Location) -> frozenset[str]:
    """What an interrupted purge was about to remove."""
    data = read_file(location.common_dir / PURGING) or b""
    return frozenset(oid.decode("ascii") for oid in _OID.findall(data))


_OID: Final = re.compile(rb"^[0-9a-f]{40,64}$", re.MULTILINE)


class Found(NamedTuple):
    """What is to be removed, and the ids of what stays although it is gitmem's, for others reach it."""

    purged: list[StoredObject]
    kept: set[str]


def read_history(location: Location, store: RecordStore) -> set[str]:
    """Every object that the memory reaches, as far as its history is whole."""
    tip = store.tip().commit
    return _reached(location, tip) if tip else set()


def find_purged(location: Location, store: RecordStore) -> Found:
    """Unreachable objects that are gitmem's; those stay that an unreachable object of somebody else reaches."""
    unreachable = find_unreachable(location)
    read = {item.oid: item for item in unreachable if item.kind in ("commit", "blob")}
    own = {oid for oid, item in read.items() if item.size <= MOST_BYTES and _is_own(item, store.find_object(oid))}
    own |= _read_begun(location) & {item.oid for item in unreachable}
    own = find_reachable(location, own, parents=False)  # each commit has its own mark, and parents may be gone already
    others = [item.oid for item in unreachable if item.oid not in own and item.kind != "blob"]
    kept = find_reachable(location, others)
    return Found([item for item in unreachable if item.oid in own - kept], own & kept)


def _is_own(item: StoredObject, data: bytes | None) -> bool:
    if data is None:
        return False
    return is_record(data) if item.kind == "blob" else _WRITTEN_BY in data.partition(b"\n\n")[0]


def find_kept(location: Location, store: RecordStore, former: Collection[str]) -> set[str]:
    """Objects of gitmem's that only others reach; `former` are those that are known to have been the memory's."""
    tip = store.tip().commit
    current = find_reachable(location, [tip], parents=False) if tip else set()
    asked = ["-F", f"--committer={IDENTITY}", "--ignore-missing", "--all", "--reflog"]
    marked = set(_ask(location, "rev-list", *asked)) - {tip}
    found = {*former, *(find_reachable(location, marked, parents=False) if marked else ())}
    bare = [oid for _, kind, *oids in _references(location) if kind in ("blob", "tree") for oid in oids]
    strays = _reached(location, *bare) | _reached(location, "--indexed-objects", "--not", "--all")
    sizes = {oid: size for oid, kind, size in find_present(location, strays - found) if kind == "blob"}
    found |= {oid for oid, size in sizes.items() if size <= MOST_BYTES and is_record(store.find_object(oid) or b"")}
    return found - current


def find_keepers(location: Location, left: Collection[StoredObject], purged: Collection[str]) -> tuple[str, ...]:
    """What keeps objects: refs by their names as far as they are easily told, and the kinds of everything else.

    `purged` were removed from here, and nothing here reaches them. Reflogs are told where no ref holds as much: a ref
    takes its reflog along.
    """
    there = {item.oid for item in left}
    kept = there - set(purged)
    if not kept:
        return (_ALTERNATES,) if there else ()
    named = {name for name, _, *oids in _references(location) if kept.intersection(oids)}
    roots = _roots(location, [item.oid for item in left if item.kind == "commit" and item.oid in kept])
    if roots:
        asked = [f"--contains={oid}" for oid in roots[:_MOST_ROOTS]]
        named.update(_ask(location, "for-each-ref", "--format=%(refname)", *asked))
    keepers = sorted(named - {REFERENCE})
    told = _reached(location, *keepers) if keepers else set()
    by_refs = _reached(location, f"--exclude={REFERENCE}", "--all") & kept
    by_reflogs = (_reached(location, "--reflog") & kept) - told - by_refs
    by_indexes = _reached(location, "--indexed-objects") & kept
    keepers += ["another ref or HEAD"] if by_refs - told else []
    keepers += ["a reflog"] if by_reflogs else []
    keepers += ["an index"] if by_indexes else []
    keepers += ["an object that nothing reaches"] if kept - told - by_refs - by_reflogs - by_indexes else []
    return (*keepers, *([_ALTERNATES] if there - kept else []))


_ALTERNATES: Final = "another repository's objects (alternates)"
_MOST_ROOTS: Final = 100
"""So many commits are asked for by name; each history has one that is its first."""


def _references(location: Location) -> list[list[str]]:
    """Every ref with the type and the id of what it names, and the id of what is behind a tag."""
    asked = "--format=%(refname) %(objecttype) %(objectname) %(*objectname)"
    told = run_git(["for-each-ref", asked], git_dir=location.git_dir).stdout
    return [line.split() for line in told.decode("utf-8", "surrogateescape").splitlines()]


def _roots(location: Location, commits: Collection[str]) -> list[str]:
    """Those commits of which no parent is among them."""
    if not commits:
        return []
    stdin = "".join(f"{oid}\n" for oid in commits).encode("ascii")
    asked = ["--no-replace-objects", "rev-list", "--no-walk=unsorted", "--parents", "--stdin"]
    lines = run_git(asked, git_dir=location.git_dir, stdin=stdin, check=False).stdout.decode("ascii").splitlines()
    among = set(commits)
    return [oid for oid, *parents in map(str.split, lines) if among.isdisjoint(parents)]


def _reached(location: Location, *revisions: str) -> set[str]:
    """Every object that these reach, as far as they are whole."""
    return set(_ask(location, "rev-list", *_OBJECTS, *revisions)) if revisions else set()


_OBJECTS: Final = ("--objects", "--no-object-names", "--missing=allow-any", "--ignore-missing")


def _ask(location: Location, *args: str) -> list[str]:
    """The words that git answers with, be it complete or not."""
    result = run_git(["--no-replace-objects", *args], git_dir=location.git_dir, check=False)
    return result.stdout.decode("utf-8", "surrogateescape").split()


def find_present(location: Location, oids: Iterable[str]) -> list[StoredObject]:
    """Those of some objects that are there."""
    stdin = "".join(f"{oid}\n" for oid in sorted(oids)).encode("ascii")
    if not stdin:
        return []
    found = run_git(["cat-file", "--batch-check", "--buffer"], git_dir=location.git_dir, stdin=stdin).stdout
    lines = (line.split() for line in found.decode("ascii").splitlines())
    return [StoredObject(oid, kind, int(size)) for oid, kind, *sizes in lines for size in sizes]
