"""Names in the files of one tree: which files define or mention a name, and what each file says about it."""

import posixpath
import re
from collections.abc import Callable, Iterator, Set
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from gitmem.arrays import NDArray, is_among
from gitmem.named_tuple import NamedTuple
from gitmem.references.file_graph import FileGraph, build_graph
from gitmem.references.languages import (
    COMPONENT_ENDINGS,
    CONSTRUCTED,
    EXTENDING,
    FIELD_READING,
    FLAT,
    HEADERS,
    METHOD_CALLING,
    PRIVATE_BY_NAME,
    PRIVATE_OUTSIDE_OF_CLASSES,
    QUALIFIED_IN_FOLDER,
    family_of,
)
from gitmem.references.module_paths import component_of, names_file
from gitmem.references.scopes import Scopes, read_scopes
from gitmem.store.occurrences import DEFINED, IMPORTED, Occurrences
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.types import DEFINING, EXPORTS, OCCURRENCE_KINDS, PRIVATE_MARK, Occurrence

MAX_DEFINING_FILES: Final = 400
"""Files whose definitions of one name are read. A name with more of them says nothing about which is meant."""

MAX_CACHED_FILES: Final = 4_000
MAX_CACHED_NAMES: Final = 20_000
"""Files and names that a process which stays keeps in memory: some 100 MB at most."""

CODES: Final = {kind: code for code, kind in enumerate(OCCURRENCE_KINDS)}
FUNCTION, CLASS, VALUE = 0, 1, 2
_IMPORT, _ALIAS, _BOUND = (CODES[kind] for kind in ("import", "alias", "bound"))
_SHARED: Final = EXPORTS | {b"window", b"global", b"globalThis", b"self", b"root", b"this"}
"""Objects of JavaScript whose members are also known without them."""

_NO_OBJECTS: Final = _SHARED | {b"", PRIVATE_MARK}

_COMPONENT_ENDINGS: Final = tuple(ending.encode() for ending in COMPONENT_ENDINGS)
_MODULE_PARTS: Final = re.compile(r"[./\\:]+")
_PARTS: Final = re.compile(r"\.|::|->|\\|:")


class Definition(NamedTuple):
    """Definition of a name. `container` are the names of the classes and functions around it, outermost first."""

    entry: int
    line: int
    kind: int
    name: str
    container: tuple[str, ...]

    @property
    def symbol(self) -> str:
        return ".".join((*self.container, self.name))


class Binding(NamedTuple):
    """Import that gives a file a name: the module as written, and the name there; "" for the module itself."""

    module: str
    original: str


class FileNames:
    """Names in one file of a tree; `tree` is its number, if a query looks in several."""

    def __init__(
        self, entry: int, path: str, language: str, occurrences: Occurrences, snapshot: Snapshot, blob: int, tree: int
    ) -> None:
        self.entry = entry
        self.tree = tree
        self.path = path
        self.family = family_of(language)
        self.reads_fields = language in FIELD_READING
        self.calls_methods = language in METHOD_CALLING
        self.extends_types = language in EXTENDING
        self.component = component_of(path)
        self.occurrences = occurrences
        self._snapshot = snapshot
        self._blob = blob

    @cached_property
    def scopes(self) -> Scopes:
        return read_scopes(self._snapshot, self._blob)

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """Imports by the name that they give the file."""
        bindings: dict[str, list[Binding]] = {}
        aliased: set[tuple[int, str]] = set()
        imports = self.occurrences.at(
            np.flatnonzero(is_among(self.occurrences.kinds, np.array((_IMPORT, _ALIAS)))).tolist()
        )
        for each in imports:
            if each.kind == _ALIAS:
                module, _, original = each.receiver.decode("utf-8", "replace").rpartition(":")
                bindings.setdefault(_text(each.name), []).append(Binding(module, original))
                aliased.add((each.line, original or module))
        for each in imports:
            receiver = _text(each.receiver)
            whole = receiver.endswith(":")
            module, original = (receiver[:-1], "") if whole else (receiver, _text(each.name))
            if each.kind == _IMPORT and (each.line, original or module) not in aliased:
                bindings.setdefault(self._bound_name(each.name, module, whole=whole), []).append(
                    Binding(module, original)
                )
        return bindings

    def _bound_name(self, name: bytes, module: str, *, whole: bool) -> str:
        # `import a.b` gives a Python file the name `a`, and `use A::B` a file of Perl the whole.
        if whole and self.family == "python":
            return module.partition(".")[0]
        return module if whole and self.family == "perl" else _text(name)

    @cached_property
    def stars(self) -> list[str]:
        """Modules of which everything is imported."""
        return [binding.module for binding in self.bindings.get("*", ())]

    @cached_property
    def included_sources(self) -> frozenset[str]:
        """Names of the files of the language C, other than headers, that the file includes: `#include "sort.c"`."""
        if self.family != "c":
            return frozenset()
        names = (posixpath.basename(each.module) for bindings in self.bindings.values() for each in bindings)
        return frozenset(name for name in names if not name.endswith(HEADERS))

    def imported_path(self, occurrence: Occurrence) -> tuple[str, ...]:
        """Return the names of a reference from its module on, as the imports of the file complete them."""
        receiver = _text(occurrence.receiver)
        names = [*split_parts(receiver), _text(occurrence.name)]
        if occurrence.kind == _IMPORT:
            return tuple(names)
        for binding in self.bindings.get(names[0], ()):
            is_written = not binding.original and binding.module.partition(".")[0] == names[0]
            inside = [binding.original, *names[1:]] if binding.original else names[1:]
            return tuple(names) if is_written else (*split_module(binding.module), *inside)
        return tuple(names)

    def definitions(self, name: str) -> list[Definition]:
        """Return the definitions of a name in this file."""
        return self._by_name.get(name, [])

    @cached_property
    def _by_name(self) -> dict[str, list[Definition]]:
        by_name: dict[str, list[Definition]] = {}
        for each in self.all_definitions():
            by_name.setdefault(each.name, []).append(each)
        return by_name

    def all_definitions(self) -> list[Definition]:
        """Return the definitions of all names, in the order of lines."""
        return self._definitions

    @cached_property
    def _defining(self) -> list[Occurrence]:
        """Occurrences that define a name."""
        return list(self.occurrences.at(np.flatnonzero(self.occurrences.kinds < DEFINING).tolist()))

    @cached_property
    def _definitions(self) -> list[Definition]:
        named = [(each, _text(each.name)) for each in self._defining]
        definitions = [
            Definition(self.entry, each.line, each.kind, name, self._container(each, name)) for each, name in named
        ]
        if self.component:
            definitions.insert(0, Definition(self.entry, 1, CLASS, self.component, ()))
        if self.family in CONSTRUCTED:
            classes = {each.symbol for each in definitions if each.kind == CLASS}
            definitions = [each for each in definitions if not self._is_constructor(each, classes)]
        return definitions

    def _container(self, definition: Occurrence, name: str) -> tuple[str, ...]:
        if self.family in QUALIFIED_IN_FOLDER:
            return tuple(split_parts(_text(definition.receiver)))
        if self.family in FLAT:
            return ()
        return self.scopes.container(name, definition.line)

    def is_assigned(self, definition: Definition) -> bool:
        """Return whether a definition is written behind another name: `a.b = () => ...`, `fun Buffer.copy()`.

        It defines no bare `b`, and no member that a class in another file has by itself.
        """
        return (definition.line, definition.name) in self._assigned

    @cached_property
    def _assigned(self) -> frozenset[tuple[int, str]]:
        others = (each for each in self._defining if each.receiver not in _NO_OBJECTS)
        return frozenset((each.line, _text(each.name)) for each in others)

    def is_private(self, definition: Definition) -> bool:
        """Return whether a definition is known in its class, file or module alone."""
        if self.family in PRIVATE_BY_NAME:
            return definition.name.startswith("_")
        if self.family in PRIVATE_OUTSIDE_OF_CLASSES and (definition.container or self.path.endswith(HEADERS)):
            return False
        return (definition.line, definition.name) in self._private

    @cached_property
    def _private(self) -> frozenset[tuple[int, str]]:
        marked = (each for each in self._defining if each.receiver.startswith(PRIVATE_MARK))
        return frozenset((each.line, _text(each.name)) for each in marked)

    def _is_constructor(self, definition: Definition, classes: Set[str]) -> bool:
        """Return whether a definition is a constructor: whoever calls it means the class, which has the same name."""
        if definition.kind == CLASS:
            return False
        # A constructor of Dart may have no body, and so no chunk that shows its class.
        is_unnamed = self.family == "dart" and definition.symbol in classes
        return is_unnamed or definition.container[-1:] == (definition.name,)

    @cached_property
    def _bound(self) -> dict[str, list[tuple[int, str]]]:
        bound: dict[str, list[tuple[int, str]]] = {}
        for each in self.occurrences.at(np.flatnonzero(self.occurrences.kinds == _BOUND).tolist()):
            bound.setdefault(_text(each.name), []).append((each.line, _text(each.receiver)))
        return bound

    def type_of(self, name: str, line: int) -> str:
        """Return the type of a variable at a line, as its file shows it; "" if it does not."""
        best = ""
        around = self.scopes.at(line) if name in self._bound else ()
        for bound, type_ in self._bound.get(name, ()):
            scope = self.scopes.at(bound)
            if bound <= line and scope == around[: len(scope)]:
                best = type_
        return best

    def attribute_type(self, name: str, container: tuple[str, ...]) -> str:
        """Return the type of an attribute of a class, if all statements of the class agree; else ""."""
        types = {
            type_ for bound, type_ in self._bound.get(name, ()) if self.scopes.at(bound)[: len(container)] == container
        }
        return types.pop() if len(types) == 1 else ""


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

    def graph(self, weight_of: Callable[[str], float], check: Callable[[], None]) -> FileGraph:
        """Return the graph of the files, made by the first call; `weight_of` says how likely a path has plain code.

        `check` raises to cancel. Raises DamagedFile.
        """
        if self._graph is None:
            paths = (path.decode("utf-8", "surrogateescape") for path in self.view.paths)
            weights = np.fromiter(map(weight_of, paths), np.float64, len(self.view))
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
        if not blobs:
            return np.zeros(0, np.int64)
        order, sorted_blobs = self._by_blob
        wanted = np.concatenate(blobs)
        starts, ends = np.searchsorted(sorted_blobs, wanted), np.searchsorted(sorted_blobs, wanted, "right")
        picked = [order[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return np.sort(np.concatenate(picked)) + self.first if picked else np.zeros(0, np.int64)

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
            if name[:1].isupper():
                entries = sorted({*entries, *self._components.get(name, ())})
            entries = entries[:MAX_DEFINING_FILES]
            definitions = [each for entry in entries for each in self.file(entry).definitions(name)]
            if len(self._definitions) >= MAX_CACHED_NAMES:
                self._definitions = {}
            self._definitions[name] = definitions
        return definitions

    @cached_property
    def _components(self) -> dict[str, list[int]]:
        """Files of components by the name that they define."""
        components: dict[str, list[int]] = {}
        for place, path in enumerate(self.view.paths):
            name = component_of(path.decode("utf-8", "replace")) if path.endswith(_COMPONENT_ENDINGS) else ""
            if name and self.has_names(self.first + place):
                components.setdefault(name, []).append(self.first + place)
        return components

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

    def has_path(self, path: str) -> bool:
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


def split_parts(text: str) -> list[str]:
    """Return the names in a receiver or type as written: `a.b`, `a::b`, `a->b`, `a\\b`."""
    return [part for part in _PARTS.split(text) if part]


def split_module(module: str) -> list[str]:
    """Return the components of a module as written: a dotted name or a path."""
    return [part for part in _MODULE_PARTS.split(module) if part]


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
