"""Names in the files of one tree: which files define or mention a name."""

import posixpath
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from gitmem.arrays import NDArray, distinct, is_among
from gitmem.references.file_graph import FileGraph, build_graph
from gitmem.references.file_names import Definition, FileNames, find_tests
from gitmem.references.languages import COMPONENT_ENDINGS, TEMPLATE_ENDINGS
from gitmem.references.module_paths import component_of, main_export_of, names_file
from gitmem.store.occurrences import DEFINED, IMPORTED
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.types import MAIN_EXPORT
from gitmem.words import find_identifiers, split_terms

MAX_DEFINING_FILES: Final = 400
"""Files whose definitions of one name are read. A name with more of them says nothing about which is meant."""

MAX_CACHED_FILES: Final = 4_000
MAX_CACHED_NAMES: Final = 20_000
"""Files and names that a process which stays keeps in memory: some 100 MB at most."""

_NO_ROWS: Final = np.zeros(0, np.int64), np.zeros(0, np.uint8)
_COMPONENT_ENDINGS: Final = tuple(ending.encode() for ending in (*COMPONENT_ENDINGS, *TEMPLATE_ENDINGS))


class Names(Protocol):
    """Names in one tree or in several, as a query about usages reads them."""

    def file(self, entry: int) -> FileNames:
        """Return the names of a file. Raises DamagedFile."""

    def entries(self, name: str, roles: int) -> NDArray[np.int64]:
        """Return the files in which a name has one of some roles, ascending."""

    def definitions(self, name: str) -> list[Definition]:
        """Return the definitions of a name in all files."""

    def importers(self, name: str) -> list[int]:
        """Return the files that import a name."""

    def reach(self, file: FileNames) -> frozenset[int]:
        """Return the numbers of the trees whose definitions a file can mean."""

    def names_module(self, module: str, file: FileNames, other: FileNames) -> bool:
        """Return whether a module, as a file writes it, is another file or the package that this is in."""

    def names_path(self, module: str, file: FileNames, path: str, tree: int) -> bool:
        """Return the same for a path of a tree, at which there need not be a file."""

    def has_path(self, path: str, tree: int) -> bool:
        """Return whether a tree has a file at a path."""

    def word_counts(self, text: str) -> list[tuple[int, int]]:
        """Return the files whose chunks have all words of a text, and how often each has its rarest word."""


class TreeNames:
    """Names in a tree, for any number of queries. Files are read when they are first needed.

    Among several trees it has a number, and its entries are counted from `first`.
    """

    def __init__(
        self, snapshot: Snapshot, view: View, blob_of: NDArray[np.int64], first: int = 0, number: int = 0
    ) -> None:
        self.view = view
        self.first = first
        self._reach = frozenset({number})
        self._number = number
        self._snapshot = snapshot
        self._blob_of = blob_of
        self._files: dict[int, FileNames] = {}
        self._definitions: dict[str, list[Definition]] = {}
        self._paths: dict[str, bool] = {}
        self._packages: dict[tuple[str, str], tuple[str, ...]] = {}
        self._graph: FileGraph | None = None

    def graph(self, weight_of: Callable[[str, bool], float], check: Callable[[], None]) -> FileGraph:
        """Return the graph of the files, made by the first call.

        `weight_of` says how likely a file has plain code, by its path and whether it may contain tests. `check` raises
        to cancel. Raises DamagedFile.
        """
        if self._graph is None:
            paths = (path.decode("utf-8", "surrogateescape") for path in self.view.paths)
            may_test = find_tests(self._snapshot, self._blob_of).tolist()
            weights = np.fromiter(map(weight_of, paths, may_test), np.float64, len(self.view))
            numbers: dict[bytes, int] = {}
            folders = (numbers.setdefault(path.rpartition(b"/")[0], len(numbers)) for path in self.view.paths)
            folder_of = np.fromiter(folders, np.int64, len(self.view))
            self._graph = build_graph(self._snapshot, self._blob_of, weights, folder_of, check)
        return self._graph

    def file(self, entry: int) -> FileNames:
        """Return the names of a file. Raises DamagedFile."""
        file = self._files.get(entry)
        if file is None:
            blob = int(self._blob_of[entry - self.first])
            segment, number = self._snapshot.blob(blob)
            path = self.view.path(entry - self.first).decode("utf-8", "surrogateescape")
            language = segment.languages[segment.blob_languages[number]]
            file = FileNames(entry, path, language, segment.occurrences(number), self._snapshot, blob, self._number)
            if len(self._files) >= MAX_CACHED_FILES:
                self._files = {}  # other threads may still use the old one
            self._files[entry] = file
        return file

    def has_names(self, entry: int) -> bool:
        """Return whether the index has the content of a file."""
        return int(self._blob_of[entry - self.first]) >= 0

    def entries(self, name: str, roles: int) -> NDArray[np.int64]:
        """Return the files in which a name has one of some roles, ascending."""
        blobs = [base + numbers[(sets & roles) != 0].astype(np.int64) for base, (numbers, sets) in self._postings(name)]
        picked = self._entries_of(np.concatenate(blobs)) if blobs else []
        return np.sort(np.concatenate(picked)) if picked else np.zeros(0, np.int64)

    def word_counts(self, text: str) -> list[tuple[int, int]]:
        """Return the files whose chunks have all words of a text, and how often each has its rarest word."""
        terms = {term for identifier in find_identifiers(text) for term in split_terms(identifier)}
        rarest, *others = sorted(map(self._rows, terms), key=lambda of_term: len(of_term[0])) or [_NO_ROWS]
        rows, counts = rarest
        # A chunk that has all words of a name need not have the name, which its lines show.
        for other, _ in others:
            is_in = is_among(rows, other)
            rows, counts = rows[is_in], counts[is_in]
        of_row = np.searchsorted(self._snapshot.blob_first, rows, "right") - 1
        blobs, sums = distinct(of_row), np.bincount(of_row, counts).astype(np.int64)
        of_blob = zip(self._entries_of(blobs), sums[blobs].tolist(), strict=True)
        return sorted((entry, most) for entries, most in of_blob for entry in entries.tolist())

    def _rows(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the rows whose text has a term, and how often each does."""
        bases = self._snapshot.bases.tolist()
        packed = [each.find_packed_postings("text", term.encode()) for each in self._snapshot.segments]
        parts = [(base, *each.unpack()) for base, each in zip(bases, packed, strict=False) if each is not None]
        if not parts:
            return _NO_ROWS
        return (
            np.concatenate([base + rows.astype(np.int64) for base, rows, _ in parts]),
            np.concatenate([counts for *_, counts in parts]),
        )

    def _entries_of(self, blobs: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the files of each of some blobs."""
        order, sorted_blobs = self._by_blob
        starts, ends = np.searchsorted(sorted_blobs, blobs), np.searchsorted(sorted_blobs, blobs, "right")
        return [order[start:end] + self.first for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def _postings(self, name: str) -> Iterator[tuple[int, tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]]]]:
        for segment, base in zip(self._snapshot.segments, self._snapshot.blob_bases.tolist(), strict=False):
            postings = segment.find_name(name.encode())
            if postings is not None:
                yield base, postings

    @cached_property
    def _by_blob(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Entries ordered by their blob, and these blobs."""
        order = np.argsort(self._blob_of, kind="stable")
        return order, self._blob_of[order]

    def definitions(self, name: str) -> list[Definition]:
        """Return the definitions of a name in all files, in the order of paths and lines."""
        definitions = self._definitions.get(name)
        if definitions is None:
            entries = self.entries(name, DEFINED).tolist()
            if name[:1].isupper() or name.startswith("/"):
                entries = sorted({*entries, *self._components.get(name, ())})
            if name in self._main_exports:
                entries = sorted({*entries, *self._main_exports[name]})
            entries = entries[:MAX_DEFINING_FILES]
            definitions = [each for entry in entries for each in self.file(entry).definitions(name)]
            if len(self._definitions) >= MAX_CACHED_NAMES:
                self._definitions = {}
            self._definitions[name] = definitions
        return definitions

    @cached_property
    def _components(self) -> dict[str, list[int]]:
        """Files of components and templates by the name that they define."""
        components: dict[str, list[int]] = {}
        for place, path in enumerate(self.view.paths):
            name = component_of(path.decode("utf-8", "replace")) if path.endswith(_COMPONENT_ENDINGS) else ""
            if name and self.has_names(self.first + place):
                components.setdefault(name, []).append(self.first + place)
        return components

    @cached_property
    def _main_exports(self) -> dict[str, list[int]]:
        """Files of modules with a main export without a name by the names that they may give it."""
        exports: dict[str, list[int]] = {}
        for entry in self.entries(MAIN_EXPORT.decode(), DEFINED).tolist():
            path = self.view.path(entry - self.first).decode("utf-8", "replace")
            for name in {main_export_of(path, is_class=is_class) for is_class in (False, True)}:
                exports.setdefault(name, []).append(entry)
        return exports

    def importers(self, name: str) -> list[int]:
        """Return the files that import a name."""
        entries: list[int] = self.entries(name, IMPORTED)[:MAX_DEFINING_FILES].tolist()
        return entries

    def reach(self, _file: FileNames) -> frozenset[int]:
        """Return the numbers of the trees whose definitions a file can mean: this one."""
        return self._reach

    def names_module(self, module: str, file: FileNames, other: FileNames) -> bool:
        """Return whether a module, as a file writes it, is another file of the tree or the package that this is in."""
        return self.names_path(module, file, other.path, other.tree)

    def names_path(self, module: str, file: FileNames, path: str, _tree: int) -> bool:
        """Return the same for a path of the tree, at which there need not be a file."""
        return names_file(module, path, file.path, file.family, self)

    def has_path(self, path: str, _tree: int = 0) -> bool:
        """Return whether the tree has a file at a path."""
        known = self._paths.get(path)
        if known is None:
            known = self._paths[path] = self.view.find(path.encode("utf-8", "surrogateescape")) is not None
        return known

    def package_folders(self, name: str, manifest: str) -> tuple[str, ...]:
        """Return the folders of the manifests, files of that name, that define a package; "" is the root."""
        key = name, manifest
        if key not in self._packages:
            # Thousands of files may define the name, so only their paths are read.
            places = (self.entries(name, DEFINED) - self.first).tolist()
            paths = (posixpath.split(self.view.path(place).decode("utf-8", "surrogateescape")) for place in places)
            self._packages[key] = tuple(folder for folder, file in paths if file == manifest)
        return self._packages[key]
