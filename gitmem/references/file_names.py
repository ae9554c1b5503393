"""Names in one file of a tree: its definitions, imports, scopes, and the types of its variables."""

import posixpath
import re
from collections.abc import Set
from functools import cached_property
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, is_among
from gitmem.named_tuple import NamedTuple
from gitmem.references.languages import (
    CODE_BESIDE,
    CONSTRUCTED,
    EXTENDING,
    FIELD_READING,
    FLAT,
    HEADERS,
    METHOD_CALLING,
    OBJECT_ENDING,
    PRIVATE_BY_NAME,
    PRIVATE_OUTSIDE_OF_CLASSES,
    QUALIFIED_IN_FOLDER,
    RENAMING,
    family_of,
)
from gitmem.references.module_paths import component_of, main_export_of
from gitmem.references.scopes import Scopes, read_scopes
from gitmem.store.columns import TESTS_BIT
from gitmem.store.occurrences import Occurrences
from gitmem.store.snapshot import Snapshot
from gitmem.types import DEFINING, EXPORTS, MAIN_EXPORT, OCCURRENCE_KINDS, PRIVATE_MARK, Occurrence

CODES: Final = {kind: code for code, kind in enumerate(OCCURRENCE_KINDS)}
FUNCTION, CLASS, VALUE = 0, 1, 2
_IMPORT, _ALIAS, _BOUND = (CODES[kind] for kind in ("import", "alias", "bound"))
_SHARED: Final = EXPORTS | {b"window", b"global", b"globalThis", b"self", b"root", b"this"}
"""Objects of JavaScript whose members are also known without them."""

_MAIN_EXPORT: Final = MAIN_EXPORT.decode()
_MAIN_SCOPE: Final = "default"
"""What the scopes call a main export without a name."""

_NO_OBJECTS: Final = _SHARED | {b"", PRIVATE_MARK}

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


def find_tests(snapshot: Snapshot, blobs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether blobs may contain tests, [blobs]; those without rows (or -1) may. Raises DamagedFile."""
    starts, ends = snapshot.blob_first[blobs], snapshot.blob_first[blobs + 1]
    found = np.ones(len(blobs), bool)
    known = np.flatnonzero((blobs >= 0) & (starts < ends))
    kinds = snapshot.gather(("kinds",), starts[known])["kinds"].astype(np.uint32)
    found[known] = kinds & TESTS_BIT != 0
    return found


class FileNames:
    """Names in one file of a tree; `tree` is its number, if a query looks in several.

    Definitions at the top level of one that `is_object` are members of its component.
    """

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
        self.is_object = path.endswith(OBJECT_ENDING)
        self.beside = posixpath.splitext(path)[0] + CODE_BESIDE[language] if language in CODE_BESIDE else ""
        self.occurrences = occurrences
        self._snapshot = snapshot
        self._blob = blob

    @cached_property
    def may_test(self) -> bool:
        """Whether the file may contain tests."""
        return bool(find_tests(self._snapshot, np.array([self._blob]))[0])

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
            if each.name.startswith(b"/"):
                continue  # a template, which gives the file no name
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
    def default_modules(self) -> frozenset[str]:
        """Modules of which the default export is imported."""
        every = (binding for bindings in self.bindings.values() for binding in bindings)
        return frozenset(binding.module for binding in every if binding.original == "default" and binding.module)

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
            if self._is_main(each):
                by_name.setdefault(_MAIN_SCOPE, []).append(each)
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
        if self.family in RENAMING:
            definitions = [self._with_file_name(definition) for definition in definitions]
        if self.component:
            whole = Definition(self.entry, self._root_line, CLASS, self.component, ())
            # A macro at the beginning of a template is what its line defines.
            above = sum(each.line == 1 for each in definitions) if self.component.startswith("/") else 0
            definitions.insert(above, whole)
        if self.family in CONSTRUCTED:
            classes = {each.symbol for each in definitions if each.kind == CLASS}
            definitions = [each for each in definitions if not self._is_constructor(each, classes)]
        return definitions

    @property
    def _root_line(self) -> int:
        """Line at which a component begins: of an object that of its type, which comes before all others."""
        if not self.is_object:
            return 1
        types = self.occurrences.lines[self.occurrences.kinds == CODES["call"]].tolist()
        return int(types[0]) if types else 1

    def _with_file_name(self, definition: Definition) -> Definition:
        """Return the main export of a module, if it has no name, with that of the file; others as they are."""
        if definition.name != _MAIN_EXPORT:
            return definition
        return definition._replace(name=main_export_of(self.path, is_class=definition.kind == CLASS), container=())

    def _is_main(self, definition: Definition) -> bool:
        """Return whether a definition is an export that has its name from the file."""
        is_there = definition.line in self._main_lines
        return is_there and definition.name == main_export_of(self.path, is_class=definition.kind == CLASS)

    @cached_property
    def _main_lines(self) -> frozenset[int]:
        return frozenset(each.line for each in self._defining if each.name == MAIN_EXPORT)

    def scope_of(self, definition: Definition) -> tuple[str, ...]:
        """Return the name of the scope that a definition makes. That of an export without a name has none."""
        return (*definition.container, _MAIN_SCOPE if self._is_main(definition) else definition.name)

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

    def is_fixture(self, definition: Definition) -> bool:
        """Return whether a function of Python is decorated as a fixture of tests."""
        return definition.line in self._fixture_lines

    @cached_property
    def _fixture_lines(self) -> frozenset[int]:
        places = self.occurrences.find(b"fixture")
        decorators = self.occurrences.lines[places[self.occurrences.kinds[places] == CODES["decorator"]]]
        lines = np.array([each.line for each in self._defining], np.int64)
        following = np.searchsorted(lines, decorators)
        return frozenset(lines[following[following < len(lines)]].tolist())

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
        """Return whether a definition is a constructor: a call of it means the class, which has the same name."""
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


def split_parts(text: str) -> list[str]:
    """Return the names in a receiver or type as written: `a.b`, `a::b`, `a->b`, `a\\b`."""
    return [part for part in _PARTS.split(text) if part]


def split_module(module: str) -> list[str]:
    """Return the components of a module as written: a dotted name or a path."""
    return [part for part in _MODULE_PARTS.split(module) if part]


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
