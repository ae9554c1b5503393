"""Index of patterns: by file name, suffix or folder within one pattern file, and by folder over a tree.

A path is then compared with the patterns that could match it, instead of with all of them.
"""

import re
from collections.abc import Iterable, Mapping

from gitmem.patterns.wildmatch import SPECIAL, Glob

Chain = tuple[tuple[int, bytes, "GlobTable"], ...]


class GlobTable:
    """Patterns of one file, in buckets by a literal part that every matching path must have.

    Most patterns of real ignore files are a name (`node_modules/`), a suffix (`*.log`) or begin with a folder
    (`/docs/*.tmp`), so that the buckets leave few candidates.
    """

    def __init__(self, globs: Iterable[Glob | None]) -> None:
        self.globs = list(globs)
        self._by_name: dict[bytes, list[int]] = {}
        self._by_suffix: dict[bytes, list[int]] = {}
        self._by_folder: dict[bytes, list[int]] = {}
        self._others: list[int] = []
        for number, glob in enumerate(self.globs):
            if glob is not None:
                self._place(number, glob)

    def matching(self, path: bytes, name: bytes, *, folder: bool = False) -> list[int]:
        """Return the numbers of the patterns that match, ascending.

        `path` is relative to the folder of the pattern file, `name` its last component; `folder` if it is a folder.
        """
        dot = name.rfind(b".")
        candidates = list(self._others)
        if self._by_name:
            candidates += self._by_name.get(name, ())
        if self._by_suffix and dot >= 0:
            candidates += self._by_suffix.get(name[dot:], ())
        if self._by_folder:
            candidates += self._by_folder.get(path.partition(b"/")[0], ())
        if not candidates:
            return candidates
        return sorted(number for number in candidates if self._matches(number, path, name, folder))

    def _matches(self, number: int, path: bytes, name: bytes, folder: bool) -> bool:
        glob = self.globs[number]
        if glob is None or (glob.folders_only and not folder):
            return False
        return bool(glob.match(name if glob.name_only else path))

    def _place(self, number: int, glob: Glob) -> None:
        """Put a pattern into the bucket of its first folder, whole name or suffix, as far as these are literal."""
        special = SPECIAL.search(glob.source)
        head = glob.source[: special.start()] if special else glob.source
        tail = re.split(rb"[*?\[\]\\/]", glob.source)[-1]
        if glob.literal and glob.name_only:
            self._by_name.setdefault(glob.source, []).append(number)
        elif not glob.name_only and b"/" in head:
            self._by_folder.setdefault(head.partition(b"/")[0], []).append(number)
        elif b"." in tail:
            self._by_suffix.setdefault(tail[tail.rindex(b".") :], []).append(number)
        else:
            self._others.append(number)


class NestedTables:
    """Tables of the pattern files of a tree, each in force below the folder of its file."""

    def __init__(self, tables: Mapping[bytes, GlobTable]) -> None:
        self._tables = tables
        root = tables.get(b"")
        self._chains: dict[bytes, Chain] = {b"": ((0, b"", root),) if root else ()}

    def __bool__(self) -> bool:
        return bool(self._tables)

    def chain(self, folder: bytes) -> Chain:
        """Return the tables in force in a folder, nearest first.

        Each comes with the length of its own folder's prefix (with slash) and with that folder.
        """
        for below in uncached_folders(folder, self._chains):
            above = self._chains[below.rpartition(b"/")[0]]
            table = self._tables.get(below)
            self._chains[below] = ((len(below) + 1, below, table), *above) if table else above
        return self._chains[folder]


def uncached_folders(folder: bytes, cache: Mapping[bytes, object]) -> list[bytes]:
    """Return a folder and its parents up to the first cached one, outermost first. The root must be cached."""
    folders = []
    while folder not in cache:
        folders.append(folder)
        folder = folder.rpartition(b"/")[0]
    return folders[::-1]
