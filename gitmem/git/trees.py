"""Trees as flat lists of entries, and the difference of two trees. The git program reads them: pygit2 is slower at it.

A tree is what its id says: replacements (`git replace`) of trees and blobs are not followed, those of commits are,
when the revision is resolved.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from gitmem.git.locate import Location
from gitmem.git.path_encoding import path_text
from gitmem.git.program import run_git

FILE: Final = 0o100644
SYMLINK: Final = 0o120000
GITLINK: Final = 0o160000

_EMPTY_TREES: Final = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


class TreeEntry(NamedTuple):
    """A file, symbolic link or submodule of a tree."""

    path: bytes
    mode: int
    oid: str


class TreeChange(NamedTuple):
    """A path that differs between two trees: what it is in the newer one, None where it was deleted."""

    path: bytes
    mode: int | None
    oid: str | None


def empty_tree(location: Location) -> str:
    """The id of the tree without entries, which git knows without having it."""
    return _EMPTY_TREES[location.object_format]


def read_tree(location: Location, tree: str) -> list[TreeEntry]:
    """List every entry below a tree, in git's order; folders themselves are not listed, submodules not entered."""
    args = ["--no-replace-objects", "ls-tree", "-r", "-z", "--full-tree", tree]
    listing = run_git(args, git_dir=location.git_dir).stdout
    modes: dict[bytes, int] = {}
    entries = []
    for record in listing.split(b"\0")[:-1]:
        head, _, path = record.partition(b"\t")
        mode, _, oid = head.split(b" ")
        number = modes.get(mode)
        if number is None:
            number = modes[mode] = int(mode, 8)
        entries.append(TreeEntry(path, number, oid.decode("ascii")))
    return entries


def find_paths(location: Location, tree: str, paths: Iterable[str]) -> set[str]:
    """Those of some paths, of files or folders, that a tree has."""
    args = ["--no-replace-objects", "--literal-pathspecs", "ls-tree", "-z", "--name-only", "--full-tree", tree, "--"]
    listing = run_git([*args, *paths], git_dir=location.git_dir).stdout
    return set(map(path_text, listing.split(b"\0")[:-1]))


def diff_trees(location: Location, old: str, new: str) -> list[TreeChange]:
    """List the paths that differ; a rename is a deletion and an addition."""
    args = ["--no-replace-objects", "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]
    raw = run_git([*args, "--ignore-submodules=none", old, new], git_dir=location.git_dir).stdout
    fields = raw.split(b"\0")
    return [_parse_change(fields[at], fields[at + 1]) for at in range(0, len(fields) - 1, 2)]


def _parse_change(head: bytes, path: bytes) -> TreeChange:
    _, mode, _, oid, status = head.split(b" ")
    return TreeChange(path, None, None) if status == b"D" else TreeChange(path, int(mode, 8), oid.decode("ascii"))
