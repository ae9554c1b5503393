"""Taking chosen objects out of the object database for good, and nothing else with them.

git itself only ever drops what has been unreachable for long, all of it. Here the caller names the objects; whatever
something else still reaches stays, be it a ref, an index, a reflog or an unreachable commit somebody may want back.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.fsio import remove_file, sync_folder
from gitmem.git.locate import Location
from gitmem.git.program import run_git
from gitmem.git.reachability import ROOTS
from gitmem.git.references import DURABLE

_ASK: Final = ("--no-replace-objects", "rev-list", "--objects", "--no-object-names", "--missing=allow-any",
               "--ignore-missing")  # fmt: skip
_SIDE_FILES: Final = (".keep", ".promisor")
"""Files beside a pack that say how git must treat it."""


class StoredObject(NamedTuple):
    """An object of this repository's own object folder."""

    oid: str
    kind: str
    size: int


class RemovalResult(NamedTuple):
    """How many objects went and how long they were; `left` are still there, in an alternate for instance."""

    objects: int
    bytes: int
    left: int


def find_unreachable(location: Location) -> list[StoredObject]:
    """Every object that no ref, reflog, HEAD or index reaches."""
    reached = _closure(location, [], ROOTS)
    listed = run_git(["cat-file", "--batch-all-objects", "--batch-check", "--unordered"], git_dir=location.git_dir)
    found = (line.split() for line in listed.stdout.decode("ascii").splitlines())
    return [StoredObject(oid, kind, int(size)) for oid, kind, size in found if oid not in reached]


def find_reachable(location: Location, oids: Iterable[str], *, parents: bool = True) -> set[str]:
    """Every object that these reach, themselves included, of commits with or without their parents.

    A missing tree or blob reaches nothing; a missing parent is an error of git's. Raises GitFailed.
    """
    return _closure(location, oids, () if parents else ("--no-walk",))


def _closure(location: Location, oids: Iterable[str], more: Iterable[str]) -> set[str]:
    stdin = "".join(f"{oid}\n" for oid in oids).encode("ascii")
    result = run_git([*_ASK, *more, *(["--stdin"] if stdin else [])], git_dir=location.git_dir, stdin=stdin)
    return set(result.stdout.decode("ascii").split())


def drop_reflog(location: Location, name: str) -> None:
    """Empty a ref's reflog, where it has one."""
    args = ["reflog", "expire", "--expire=all", "--expire-unreachable=all", name]
    if run_git(["reflog", "exists", name], git_dir=location.git_dir, check=False).code == 0:
        run_git(args, git_dir=location.git_dir)


def remove_objects(location: Location, objects: Iterable[StoredObject]) -> RemovalResult:
    """Remove objects from this repository: loose ones as files, packed ones by writing their packs anew without them.

    The caller has made sure that nothing needs them. Interrupted, it can be run again. Raises GitFailed, StorageFailed.
    """
    sizes = {item.oid: item.size for item in objects}
    if not sizes:
        return RemovalResult(0, 0, 0)
    folder = location.common_dir / "objects"
    for pack in sorted((folder / "pack").glob("pack-*.idx")):
        _remove_from_pack(location, pack.with_suffix(""), sizes.keys())
    for oid in sizes:
        remove_file(folder / oid[:2] / oid[2:])
    _write_graph_anew(location)
    left = _present(location, sizes)
    return RemovalResult(len(sizes) - len(left), sum(size for oid, size in sizes.items() if oid not in left), len(left))


def _remove_from_pack(location: Location, pack: Path, unwanted: Collection[str]) -> None:
    """Write a pack anew without some of its objects; the new one is there before the old one goes."""
    index = pack.with_suffix(".idx").read_bytes()
    listed = run_git(["show-index", f"--object-format={location.object_format}"], git_dir=location.git_dir, stdin=index)
    held = [line.split()[1] for line in listed.stdout.decode("ascii").splitlines()]
    kept = [oid for oid in held if oid not in unwanted]
    if len(kept) == len(held):
        return
    if kept:
        stdin = "".join(f"{oid}\n" for oid in kept).encode("ascii")
        args = [*DURABLE, "pack-objects", "-q", "--delta-base-offset", str(pack.parent / "pack")]
        name = run_git(args, git_dir=location.git_dir, stdin=stdin).stdout.decode("ascii").strip()
        for ending in _SIDE_FILES:
            if pack.with_suffix(ending).exists():
                pack.parent.joinpath(f"pack-{name}{ending}").touch()
    remove_file(pack.parent / "multi-pack-index")
    for ending in (".idx", ".rev", ".bitmap", ".mtimes", *_SIDE_FILES, ".pack"):
        remove_file(pack.with_suffix(ending))
    sync_folder(pack.parent)


def _write_graph_anew(location: Location) -> None:
    """The graph of commits names those that are gone; without it git reads the commits themselves."""
    info = location.common_dir / "objects" / "info"
    if (info / "commit-graph").exists() or (info / "commit-graphs").exists():
        run_git(["commit-graph", "write", "--reachable"], git_dir=location.git_dir)


def _present(location: Location, oids: Iterable[str]) -> set[str]:
    stdin = "".join(f"{oid}\n" for oid in oids).encode("ascii")
    found = run_git(["cat-file", "--batch-check", "--buffer"], git_dir=location.git_dir, stdin=stdin).stdout
    lines = (line.split() for line in found.decode("ascii").splitlines())
    return {fields[0] for fields in lines if fields[1] != "missing"}
