"""Permanent removal of chosen objects, and of no others, from the object database.

`git gc --prune` can only drop all objects that have been unreachable for some time. Here the caller names the objects.
It must keep those that anything else reaches: a ref, an index, a reflog, or an unreachable commit that a user may want
to restore.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from gitmem.fsio import remove_file, sync_folder
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.git.reachability import ROOTS
from gitmem.git.references import DURABLE
from gitmem.named_tuple import NamedTuple

_REV_LIST: Final = ("--no-replace-objects", "rev-list", "--objects", "--no-object-names", "--missing=allow-any",
                    "--ignore-missing")  # fmt: skip
_MARKER_FILES: Final = (".keep", ".promisor")
"""Markers of a pack that its rewritten version keeps: do not repack, and fetched from a partial clone's remote."""


class StoredObject(NamedTuple):
    """Object in the object database."""

    oid: str
    kind: str
    size: int


class RemovalResult(NamedTuple):
    """Number and total size of the removed objects; `left` is the number still present, for example in an alternate."""

    objects: int
    bytes: int
    left: int


def find_unreachable(location: RepositoryLocation) -> list[StoredObject]:
    """Return every object that no ref, reflog, HEAD or index reaches."""
    reachable = _list_reachable(location, [], ROOTS)
    listed = run_git(["cat-file", "--batch-all-objects", "--batch-check", "--unordered"], git_dir=location.git_dir)
    lines = (line.split() for line in listed.stdout.decode("ascii").splitlines())
    return [StoredObject(oid, kind, int(size)) for oid, kind, size in lines if oid not in reachable]


def find_reachable(location: RepositoryLocation, oids: Iterable[str], *, parents: bool = True) -> set[str]:
    """Return every object reachable from these, including themselves; from commits with or without their parents.

    A missing tree or blob reaches nothing; git fails on a missing parent. Raises GitFailed.
    """
    return _list_reachable(location, oids, () if parents else ("--no-walk",))


def _list_reachable(location: RepositoryLocation, oids: Iterable[str], options: Iterable[str]) -> set[str]:
    stdin = "".join(f"{oid}\n" for oid in oids).encode("ascii")
    result = run_git([*_REV_LIST, *options, *(["--stdin"] if stdin else [])], git_dir=location.git_dir, stdin=stdin)
    return set(result.stdout.decode("ascii").split())


def remove_objects(location: RepositoryLocation, objects: Iterable[StoredObject]) -> RemovalResult:
    """Remove objects from this repository: loose ones as files, packed ones by rewriting their packs without them.

    The caller guarantees that nothing needs them. After an interruption it can be run again. Raises GitFailed,
    StorageFailed.
    """
    sizes = {item.oid: item.size for item in objects}
    if not sizes:
        return RemovalResult(0, 0, 0)
    folder = location.common_dir / "objects"
    for pack in sorted((folder / "pack").glob("pack-*.idx")):
        _remove_from_pack(location, pack.with_suffix(""), sizes.keys())
    for oid in sizes:
        remove_file(folder / oid[:2] / oid[2:])
    _rewrite_commit_graph(location)
    left = _present(location, sizes)
    return RemovalResult(len(sizes) - len(left), sum(size for oid, size in sizes.items() if oid not in left), len(left))


def _remove_from_pack(location: RepositoryLocation, pack: Path, unwanted: Collection[str]) -> None:
    """Rewrite a pack without some of its objects."""
    index = pack.with_suffix(".idx").read_bytes()
    listed = run_git(["show-index", f"--object-format={location.object_format}"], git_dir=location.git_dir, stdin=index)
    packed = [line.split()[1] for line in listed.stdout.decode("ascii").splitlines()]
    remaining = [oid for oid in packed if oid not in unwanted]
    if len(remaining) == len(packed):
        return
    # The new pack is complete before the old one is deleted. Of the old one, the index goes first: git ignores a pack
    # without index, so an interruption never leaves an index that refers to a missing pack.
    if remaining:
        stdin = "".join(f"{oid}\n" for oid in remaining).encode("ascii")
        args = [*DURABLE, "pack-objects", "-q", "--delta-base-offset", str(pack.parent / "pack")]
        names = run_git(args, git_dir=location.git_dir, stdin=stdin).stdout.decode("ascii").split()
        _copy_markers(pack, names)
    remove_file(pack.parent / "multi-pack-index")
    for ending in (".idx", ".rev", ".bitmap", ".mtimes", *_MARKER_FILES, ".pack"):
        remove_file(pack.with_suffix(ending))
    sync_folder(pack.parent)


def _copy_markers(pack: Path, names: Iterable[str]) -> None:
    """Mark the new packs like the old one. With `pack.packSizeLimit` git writes several, one name on each line."""
    for ending in _MARKER_FILES:
        if pack.with_suffix(ending).exists():
            for name in names:
                pack.parent.joinpath(f"pack-{name}{ending}").touch()


def _rewrite_commit_graph(location: RepositoryLocation) -> None:
    """Rewrite the commit-graph, which still names the removed commits."""
    info = location.common_dir / "objects" / "info"
    if (info / "commit-graph").exists() or (info / "commit-graphs").exists():
        run_git(["commit-graph", "write", "--reachable"], git_dir=location.git_dir)


def _present(location: RepositoryLocation, oids: Iterable[str]) -> set[str]:
    stdin = "".join(f"{oid}\n" for oid in oids).encode("ascii")
    output = run_git(["cat-file", "--batch-check", "--buffer"], git_dir=location.git_dir, stdin=stdin).stdout
    lines = (line.split() for line in output.decode("ascii").splitlines())
    return {fields[0] for fields in lines if fields[1] != "missing"}
