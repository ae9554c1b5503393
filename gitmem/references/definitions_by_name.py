"""Definitions of a name by language and folder, for references of which nothing but the name is known.

A name may have thousands of definitions and of references, so each list is made once for a query.
"""

import posixpath
from collections.abc import Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.package_names import package_place
from gitmem.references.file_names import CLASS, FUNCTION, VALUE, Definition, FileNames
from gitmem.references.languages import (
    BEHIND_OBJECTS,
    CLASS_IMPORTING,
    DECLARING,
    DYNAMIC,
    EXTENDED,
    HEADERS,
    HELPER_FOLDER,
    IMPORTING,
    RENAMING,
    ROOTED,
    TEMPLATE_ENDINGS,
)
from gitmem.references.library_members import OTHER_MEMBERS
from gitmem.references.tree_names import Names
from gitmem.references.visibility import Visibility

_CONFTEST: Final = "conftest.py"
_MAX_DECLARED: Final = 50
"""Definitions among which declarations are looked for. With more of them nothing is certain."""

_Key = tuple[str, str, frozenset[int]]
"""Family of languages, name, and the trees that a file can mean."""


class Resolution(NamedTuple):
    """Definitions that a reference may mean, and the rule that found them: import, class, type, file, package, name.

    `open` says that it may also mean something outside of the tree. `declared` of the definitions are declarations of
    others among them, as in a header.
    """

    definitions: tuple[Definition, ...]
    rule: str
    open: bool = False
    declared: int = 0

    @property
    def is_sure(self) -> bool:
        """Whether exactly one definition is meant."""
        return self.meanings == 1 and not self.open

    @property
    def meanings(self) -> int:
        """Number of the definitions: a declaration is none, and classes of a name in one file are parts of one.

        Such parts are a class and its companion object, merged declarations, and the branches of a condition.
        """
        classes = [each for each in self.definitions if each.kind == CLASS]
        parts = len(classes) - len({(each.entry, each.symbol) for each in classes})
        return len(self.definitions) - self.declared - parts

    @property
    def target(self) -> Definition | None:
        """The only definition or the first of its parts, None if there are others, be it a declaration."""
        return self.definitions[0] if self.meanings == 1 and not self.declared else None

    def opened(self) -> "Resolution":
        """Return the same definitions as ones that may not be meant."""
        return self._replace(open=bool(self.definitions))

    def without_functions(self) -> "Resolution":
        """Return the definitions other than functions: a field that is read."""
        return self._only([each for each in self.definitions if each.kind != FUNCTION])

    def without_fields(self) -> "Resolution":
        """Return the functions alone: members that code adds to a type."""
        return self._only([each for each in self.definitions if each.kind == FUNCTION])

    def without_values(self) -> "Resolution":
        """Return the definitions other than values, if there are any: a method that is called."""
        others = [each for each in self.definitions if each.kind != VALUE]
        return self._only(others) if others else self

    def _only(self, definitions: Sequence[Definition]) -> "Resolution":
        is_whole = len(definitions) == len(self.definitions)
        return self._replace(definitions=tuple(definitions), declared=self.declared if is_whole else 0)


class DefinitionsByName:
    """Definitions in the trees that a file can mean, for one query."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._families: dict[_Key, list[Definition]] = {}
        self._visibility = Visibility(names)
        self._packages: dict[tuple[_Key, int, tuple[str, int], str], list[Definition]] = {}
        self._all_by_name: dict[tuple[_Key, int], Resolution] = {}
        self._members_by_name: dict[tuple[_Key, int, bool], Resolution] = {}

    def members(self, file: FileNames, name: str) -> Resolution:
        """Return the members of that name of all classes: the object before the name is not known."""
        key = (*self._key(file, name), file.may_test)
        if key not in self._members_by_name:
            matches = self.of_family(file, name)
            inside = [each for each in matches if each.container or self._names.file(each.entry).is_object]
            # In other languages than JavaScript, a function inside of a function is a member of a local class at most.
            members = [each for each in inside if file.family in RENAMING or not self.is_local(each)]
            may_be_other = name in OTHER_MEMBERS.get(file.family, ()) or not members
            members = members or inside
            if not members and file.family not in IMPORTING:
                # A field that holds a function, or an extension; but rarely the function of that name.
                members, may_be_other = matches, True
            # Code does not call what its tests alone define: a mock has the members of a library's object.
            if not file.may_test and all(self._names.file(each.entry).may_test for each in members[:_MAX_DECLARED]):
                may_be_other = True
            self._members_by_name[key] = Resolution(tuple(members), "name", may_be_other and bool(members))
        resolution = self._members_by_name[key]
        if file.family in CLASS_IMPORTING and resolution.is_sure and not self._is_near(file, resolution.definitions[0]):
            return resolution.opened()
        return resolution

    def _is_near(self, file: FileNames, member: Definition) -> bool:
        """Return whether a file is next to that of a member, mentions its class, or imports it as an extension."""
        other = self._names.file(member.entry)
        if package_of(other) == package_of(file):
            return True
        if other.is_assigned(member):
            return member.name in file.bindings
        return any(file.occurrences.has(name.encode()) for name in member.container[-1:])

    def all(self, file: FileNames, name: str) -> Resolution:
        """Return the definitions of a name at the top level of files, or else all."""
        key = self._key(file, name)
        if key not in self._all_by_name:
            matches = [each for each in self.of_family(file, name) if not self.is_local(each)]
            if file.family in BEHIND_OBJECTS:
                matches = [each for each in matches if self._is_free(each)]
            top = [each for each in matches if not each.container]
            free = top or [each for each in matches if not self.is_member(file, each)]
            # A bare name reaches members of another class only by inheritance or inclusion, which may be a library's.
            resolution = Resolution(tuple(free or matches), "name")
            # `Base.push!(x::Mine)` of Julia adds a method to a function of the library.
            is_added = file.family == "julia" and any(self._names.file(each.entry).is_assigned(each) for each in free)
            self._all_by_name[key] = resolution if free and not is_added else resolution.opened()
        return self._all_by_name[key]

    def _is_free(self, definition: Definition) -> bool:
        """Return whether a definition can be called without an object or component before it."""
        file = self._names.file(definition.entry)
        return not file.is_assigned(definition) and file.component in ("", definition.name)

    def is_local(self, definition: Definition) -> bool:
        """Return whether a definition is inside of a function, and known there alone."""
        file = self._names.file(definition.entry)
        if not definition.container or file.family in DYNAMIC:
            return False
        *above, last = definition.container
        around = [each for each in file.definitions(last) if each.container == tuple(above)]
        return bool(around) and not any(self.is_class(each) or each.kind == VALUE for each in around)

    def is_class(self, definition: Definition) -> bool:
        """Return whether a definition makes objects: a class, or a constructor of old JavaScript by its capital."""
        if definition.kind != FUNCTION or not definition.name[:1].isupper():
            return definition.kind == CLASS
        return self._names.file(definition.entry).family in RENAMING

    def has_class(self, file: FileNames, name: str) -> bool:
        """Return whether a class of the tree has a name, in the family of a file."""
        return any(self.is_class(each) for each in self._all_of_family(file, name))

    def is_member(self, file: FileNames, definition: Definition) -> bool:
        """Return whether a definition is inside of a class or object, not only of a namespace or function."""
        if file.family in RENAMING and self._names.file(definition.entry).is_assigned(definition):
            return True
        # What Rust adds to a type of a library, `impl Load for str`, is in a class that the tree does not have.
        if file.family == "rust" and any(not self._all_of_family(file, name) for name in definition.container[-1:]):
            return True
        return any(self.has_class(file, name) for name in definition.container)

    def extensions(self, file: FileNames, type_: str, name: str) -> list[Definition]:
        """Return the definitions of a name that code adds to a type: of a library, or of another file."""
        return [
            each
            for each in self.of_family(file, name)
            if each.container[-1:] == (type_,)
            and (file.family in EXTENDED or self._names.file(each.entry).is_assigned(each))
        ]

    def declared(self, definitions: Sequence[Definition]) -> int:
        """Return how many of some definitions declare another one of them: in a header, or in the body of a class."""
        if not 2 <= len(definitions) <= _MAX_DECLARED:
            return 0
        here: dict[tuple[str, ...], list[int]] = {}
        for each in definitions:
            file = self._names.file(each.entry)
            is_declared = file.family in DECLARING and file.path.endswith(HEADERS) and not file.is_assigned(each)
            here.setdefault((*each.container[-1:], each.name), [0, 0])[is_declared] += 1
        return sum(min(counts) for counts in here.values())

    def of_family(self, file: FileNames, name: str) -> list[Definition]:
        """Return the definitions of a name in the family of languages of a file that the file can see."""
        matches = self._all_of_family(file, name)
        return self._visibility.seen(file, (file.family, name, self._names.reach(file)), matches)

    def _all_of_family(self, file: FileNames, name: str) -> list[Definition]:
        key = file.family, name, self._names.reach(file)
        if key not in self._families:
            definitions = self._names.definitions(name)
            # Code of any language names templates.
            family = "" if name.startswith("/") else file.family
            self._families[key] = [each for each in definitions if self._is_reached(each, family, key[2])]
        return self._families[key]

    def _key(self, file: FileNames, name: str) -> tuple[_Key, int]:
        """Return the key of a name for the lists of a file: that of all files, if they see the same definitions."""
        key = file.family, name, self._names.reach(file)
        return key, file.entry if self._visibility.has_private(key, self._all_of_family(file, name)) else -1

    def _is_reached(self, definition: Definition, family: str, reach: frozenset[int]) -> bool:
        """Return whether a definition is in one of some trees and in a family of languages, if there is one."""
        file = self._names.file(definition.entry)
        return family in ("", file.family) and file.tree in reach

    def beside(self, file: FileNames, name: str) -> list[Definition]:
        """Return the members of the class beside a template, or the elements of pages with the name of a tag."""
        matches = self.of_family(file, name)
        if "-" in name:
            return matches
        return [each for each in matches if each.container and self._names.file(each.entry).path == file.beside]

    def helpers(self, file: FileNames, name: str) -> list[Definition]:
        """Return the definitions of a name in folders of helpers, if a file is a template or such a helper."""
        if not file.path.endswith(TEMPLATE_ENDINGS) and not _is_helper(file):
            return []
        return [each for each in self.of_family(file, name) if _is_helper(self._names.file(each.entry))]

    def fixtures(self, file: FileNames, name: str) -> list[Definition]:
        """Return the definitions of a name in the `conftest.py` of the folder of a file, or else of the nearest above.

        Pytest passes them to the functions whose parameters have their names. Without one there, they are the fixtures
        of modules, which `pytest_plugins` may name.
        """
        found = [each for each in self.of_family(file, name) if not each.container]
        folders = [posixpath.dirname(self._names.file(each.entry).path) + "/" for each in found]
        above = [
            (len(folder), each)
            for folder, each in zip(folders, found, strict=True)
            if posixpath.basename(self._names.file(each.entry).path) == _CONFTEST
            and (posixpath.dirname(file.path) + "/").startswith(folder.lstrip("/"))
        ]
        if not above:
            files = [(self._names.file(each.entry), each) for each in found]
            of_modules = [(of, each) for of, each in files if posixpath.basename(of.path) != _CONFTEST]
            return [each for of, each in of_modules if of.is_fixture(each)]
        nearest = max(size for size, _ in above)
        return [each for size, each in above if size == nearest]

    def in_package(self, file: FileNames, name: str) -> list[Definition]:
        """Return the definitions of a name at the top level of the files in the package of a file.

        Modules may have the same packages, and tests that of their code, so those in the nearest folders come first.
        """
        package = package_of(file)
        key = *self._key(file, name), package, posixpath.dirname(file.path)
        if key not in self._packages:
            matches = [
                each
                for each in self.of_family(file, name)
                if not each.container and package_of(self._names.file(each.entry)) == package
            ]
            self._packages[key] = self._nearest(file, matches)
        return self._packages[key]

    def _nearest(self, file: FileNames, matches: list[Definition]) -> list[Definition]:
        """Return the definitions that share most folders with a file, if one is in its module, or else all."""
        if len(matches) < 2:
            return matches
        module = package_place(file.path).module if file.family in ROOTED else ""
        folders = (posixpath.dirname(self._names.file(each.entry).path) for each in matches)
        shared = [posixpath.commonpath((folder, posixpath.dirname(file.path))) for folder in folders]
        sizes = [len(folder) if (folder + "/").startswith(module) else 0 for folder in shared]
        return [each for each, size in zip(matches, sizes, strict=True) if size == max(sizes)]


def _is_helper(file: FileNames) -> bool:
    return f"/{HELPER_FOLDER}" in f"/{file.path}"


def package_of(file: FileNames) -> tuple[str, int]:
    """Return the package of a file as its folders name it, and the number of its tree."""
    return package_of_path(file.path, file.family), file.tree


def package_of_path(path: str, family: str) -> str:
    """Return the folder of a path, in Java and its kin from the source root on: the same for code and its tests."""
    return package_place(path).package if family in ROOTED else posixpath.dirname(path)
