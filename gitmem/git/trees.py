"""Flat lists of the entries of a tree, and differences of two trees, read with the git program: pygit2 is slower.

A tree is identified by its id: replacements (`git replace`) of trees and blobs are not followed. Those of commits are,
when the revision is resolved.
"""

from collections.abc import Iterable
from typing import Final

from gitmem.git.locate import RepositoryLocation
from gitmem.git.path_encoding import path_text
from gitmem.git.program import run_git
from gitmem.named_tuple import NamedTuple

FILE: Final = 0o100644
SYMLINK: Final = 0o120000
GITLINK: Final = 0o160000
_FILE_TYPE: Final = 0o170000
_REGULAR: Final = 0o100000

_EMPTY_TREES: Final = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


class TreeEntry(NamedTuple):
    """File, symbolic link or submodule of a tree."""

    path: bytes
    mode: int
    oid: str


class TreeChange(NamedTuple):
    """Path that differs between two trees, with its mode and id in the newer one; None if it was deleted."""

    path: bytes
    mode: int | None
    oid: str | None


def empty_tree(location: RepositoryLocation) -> str:
    """Return the id of the empty tree, which git knows even if it is not stored."""
    return _EMPTY_TREES[location.object_format]


def read_tree(location: RepositoryLocation, tree: str) -> list[TreeEntry]:
    """Return every entry below a tree, in git's order; folders are not listed, submodules not entered."""
    args = ["--no-replace-objects", "ls-tree", "-r", "-z", "--full-tree", tree]
    listing = run_git(args, git_dir=location.git_dir).stdout
    modes: dict[bytes, int] = {}  # a tree has few distinct modes: parse each once
    entries = []
    for record in listing.split(b"\0")[:-1]:
        head, _, path = record.partition(b"\t")
        mode, _, oid = head.split(b" ")
        number = modes.get(mode)
        if number is None:
            number = modes[mode] = int(mode, 8)
        entries.append(TreeEntry(path, number, oid.decode("ascii")))
    return entries


def find_paths(location: RepositoryLocation, tree: str, paths: Iterable[str]) -> set[str]:
    """Return those of `paths`, of files or folders, that exist in a tree."""
    args = ["--no-replace-objects", "--literal-pathspecs", "ls-tree", "-z", "--name-only", "--full-tree", tree, "--"]
    listing = run_git([*args, *paths], git_dir=location.git_dir).stdout
    return set(map(path_text, listing.split(b"\0")[:-1]))


def diff_trees(location: RepositoryLocation, old: str, new: str) -> list[TreeChange]:
    """Return the paths that differ; a rename is a deletion and an addition."""
    args = ["--no-replace-objects", "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]
    raw = run_git([*args, "--ignore-submodules=none", old, new], git_dir=location.git_dir).stdout
    fields = raw.split(b"\0")
    return [_parse_change(fields[at], fields[at + 1]) for at in range(0, len(fields) - 1, 2)]


def _parse_change(head: bytes, path: bytes) -> TreeChange:
    _, mode, _, oid, status = head.split(b" ")
    return TreeChange(path, None, None) if status == b"D" else TreeChange(path, int(mode, 8), oid.decode("ascii"))


def find_blobs(location: RepositoryLocation, tree: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the ids of those of `paths` that exist in a tree; "" for a folder, a symbolic link or a submodule."""
    args = ["--no-replace-objects", "--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--"]
    oids = {}
    for record in run_git([*args, *paths], git_dir=location.git_dir).stdout.split(b"\0")[:-1]:
        head, _, path = record.partition(b"\t")
        mode, _, oid = head.split(b" ")
        oids[path_text(path)] = oid.decode("ascii") if int(mode, 8) & _FILE_TYPE == _REGULAR else ""
    return oids
