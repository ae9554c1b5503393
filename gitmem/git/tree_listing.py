"""Listing of a large tree as columns: reading it takes neither an object per entry nor a step of Python per byte."""

import itertools

import numpy as np

from gitmem.arrays import NDArray
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.named_tuple import NamedTuple

_MODE_DIGITS = 6


class TreeListing(NamedTuple):
    """Entries of a tree in the order of their paths; `oids` is [entries, 20 or 32]."""

    paths: list[bytes]
    modes: NDArray[np.uint32]
    oids: NDArray[np.uint8]


def list_tree(location: RepositoryLocation, tree: str) -> TreeListing:
    """Return every entry below a tree; folders are not listed, submodules not entered. Raises: GitFailed."""
    args = ["--no-replace-objects", "ls-tree", "-r", "-z", "--full-tree", tree]
    return parse_listing(
        run_git(args, git_dir=location.git_dir).stdout, 64 if location.object_format == "sha256" else 40
    )


def parse_listing(output: bytes, digits: int) -> TreeListing:
    """Parse the output of `git ls-tree -r -z`, whose ids have some hexadecimal digits. Format: git-ls-tree(1)."""
    data = np.frombuffer(output, np.uint8)
    ends = np.flatnonzero(data == 0)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    # Mode, type, id and path; the length of the type ("blob" or "commit") is the only one that varies before the path.
    is_commit = data[starts + _MODE_DIGITS + 1] == ord("c")
    id_starts = starts + _MODE_DIGITS + 1 + np.where(is_commit, len("commit "), len("blob "))
    oids = _unhex(data[id_starts[:, None] + np.arange(digits)])
    mode_digits = data[starts[:, None] + np.arange(_MODE_DIGITS)].astype(np.uint32) - ord("0")
    modes = (mode_digits << (3 * np.arange(_MODE_DIGITS - 1, -1, -1, dtype=np.uint32))).sum(axis=1, dtype=np.uint32)
    spans = zip((id_starts + digits + 1).tolist(), ends.tolist(), strict=True)
    paths = [output[start:end] for start, end in spans]
    if all(before < after for before, after in itertools.pairwise(paths)):
        return TreeListing(paths, modes, oids)
    order = sorted(range(len(paths)), key=paths.__getitem__)  # a malformed tree
    return TreeListing([paths[place] for place in order], modes[order], oids[order])


def _unhex(digits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Decode lower-case hexadecimal digits, [entries, digits] to [entries, digits / 2]."""
    values = np.where(digits >= ord("a"), digits - (ord("a") - 10), digits - ord("0")).astype(np.uint8)
    decoded: NDArray[np.uint8] = values[:, 0::2] * np.uint8(16) + values[:, 1::2]
    return decoded
