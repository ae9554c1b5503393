"""Patterns arranged for speed: by file, so that a path meets only those that could match it, and by folder."""

import re
from collections.abc import Iterable, Mapping

from gitmem.git.wildmatch import SPECIAL, Glob

Chain = tuple[tuple[int, bytes, "GlobTable"], ...]


class GlobTable:
    """The patterns of one file, arranged so that a path is compared only with those that could match it."""

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
        """Numbers of the patterns that match, in the order they were given. `path` is relative to their file."""
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
    """The tables of a tree, each valid below its folder."""

    def __init__(self, tables: Mapping[bytes, GlobTable]) -> None:
        self._tables = tables
        root = tables.get(b"")
        self._chains: dict[bytes, Chain] = {b"": ((0, b"", root),) if root else ()}

    def __bool__(self) -> bool:
        return bool(self._tables)

    def chain(self, folder: bytes) -> Chain:
        """The tables that hold in a folder, nearest first: length of their own folder's prefix, that folder, table."""
        for below in unknown_folders(folder, self._chains):
            above = self._chains[below.rpartition(b"/")[0]]
            table = self._tables.get(below)
            self._chains[below] = ((len(below) + 1, below, table), *above) if table else above
        return self._chains[folder]


def unknown_folders(folder: bytes, known: Mapping[bytes, object]) -> list[bytes]:
    """A folder and those above it up to the first known one (the root is), the outermost first."""
    unknown = []
    while folder not in known:
        unknown.append(folder)
        folder = folder.rpartition(b"/")[0]
    return unknown[::-1]
