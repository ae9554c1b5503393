"""Find the definitions that a reference may mean: by import, class, type of the variable, file, package, else by name.

The rules use only what files say about themselves. They follow imports through re-exports, members through base
classes, and variables to the types next to them. They infer no types of expressions: such references are resolved by
name, and the result says so. A reference to a library has no definition in the tree.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final

from gitmem.package_names import KEYWORDS, is_in_package
from gitmem.references.class_members import ClassMembers
from gitmem.references.definitions_by_name import DefinitionsByName, Resolution, package_of, package_of_path
from gitmem.references.file_names import CLASS, Definition, FileNames, split_parts
from gitmem.references.languages import (
    ABOVE,
    ALIASING,
    BARE_MEMBERS,
    CAPITALISED,
    DECLARING,
    EXTENDED,
    HELPED,
    IMPORTING,
    KOTLIN_ENDINGS,
    NAMESPACED,
    PACKAGED,
    QUALIFIED_IN_FOLDER,
    RENAMING,
    is_self,
)
from gitmem.references.library_members import FUNCTIONS, GLOBALS, POINTERS
from gitmem.references.module_exports import MAIN_EXPORTS, ModuleExports, unique
from gitmem.references.module_paths import names_part
from gitmem.references.overrides import Overrides
from gitmem.references.tree_names import Names
from gitmem.types import UNKNOWN_RECEIVER

_TYPE_PARAMETER: Final = re.compile(r"[A-Z][0-9]?$")


NOTHING: Final = Resolution((), "")


class Resolver:
    """Resolves references in the files of one tree, or of several that import each other."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._by_name = DefinitionsByName(names)
        self.classes = ClassMembers(names, self._by_name, self.resolve)
        self.overrides = Overrides(names, self.classes)
        self._exports = ModuleExports(names, self._by_name)

    def resolve(self, file: FileNames, name: str, receiver: str, line: int, *, is_type: bool = False) -> Resolution:
        """Return the definitions that a name with its receiver may mean at a line of a file.

        A name that `is_type` is none of the members of a class around it: `struct prompt *prompt;`.
        """
        if is_type and not receiver:
            return self._with_declared(file, self._resolve_bare(file, name, line, is_type=True))
        return self._with_declared(file, self._resolve(file, name, receiver, line))

    def _with_declared(self, file: FileNames, resolution: Resolution) -> Resolution:
        if file.family not in DECLARING:
            return resolution
        return resolution._replace(declared=self._by_name.declared(resolution.definitions))

    def _resolve(self, file: FileNames, name: str, receiver: str, line: int) -> Resolution:
        if file.family in QUALIFIED_IN_FOLDER:
            return self._resolve_qualified(file, name, tuple(split_parts(receiver)))
        if not receiver:
            return self._resolve_bare(file, name, line)
        if receiver == UNKNOWN_RECEIVER.decode():
            return self._by_name.members(file, name)
        parts = split_parts(receiver)
        if file.family == "rust" and parts and parts[0] in KEYWORDS and not receiver.startswith("self."):
            return self._resolve_in_crate(file, name, parts, line)
        if parts and is_self(parts[0], file.family):
            if parts[0] in ABOVE:
                return _resolution(self.classes.members_above(file, name, line), "class")
            return self._resolve_own(file, name, parts[1:], line)
        if not parts and file.family in NAMESPACED:
            # `\Error` is in the root namespace, in which few trees define anything.
            return NOTHING
        if not parts:
            return self._resolve_bare(file, name, line)
        return self._resolve_path(file, name, parts, line)

    def _resolve_in_crate(self, file: FileNames, name: str, parts: Sequence[str], line: int) -> Resolution:
        """Resolve a name of Rust behind a word for a module: `super::super::name`. `self` is the own object as well."""
        own = self._resolve_own(file, name, parts[1:], line) if parts[0] == "self" else NOTHING
        if own.definitions and own.rule != "name":
            return own
        size = sum(part in KEYWORDS for part in parts)
        matches = self._walk(file, ".".join(parts[:size]), [*parts[size:], name])
        if matches:
            return _resolution(matches, "import")
        return own if parts[0] == "self" else self._by_name.members(file, name).opened()

    def _resolve_qualified(self, file: FileNames, name: str, container: tuple[str, ...]) -> Resolution:
        """Return the definitions of a name in the folder of a file that have exactly the names before it."""
        matches = [
            each
            for each in self._by_name.of_family(file, name)
            if each.container == container and package_of(self._names.file(each.entry)) == package_of(file)
        ]
        return _resolution(matches, "package")

    def resolve_import(self, file: FileNames, name: str, module: str) -> Resolution:
        """Return the definitions that an import of a name from a module means."""
        return self._with_declared(file, _resolution(self._exports.exported(file, module, name), "import"))

    # A bare name.

    def _resolve_bare(self, file: FileNames, name: str, line: int, *, is_type: bool = False) -> Resolution:
        own = self._in_file(file, name, line)
        if is_type:
            own = [each for each in own if each.kind == CLASS or not each.container]
        if own and own[0].container and file.family in EXTENDED & BARE_MEMBERS:
            # A header may declare it, and other files may have overloads.
            own = unique([*own, *self.classes.own_members(file, name, line)])
        imported = self._exports.imported(file, name)
        if own or imported is not None:
            matches = unique([*own, *(imported or ())])
            return _resolution(matches, "file" if own else "import")
        if file.family in BARE_MEMBERS:
            members = self.classes.own_members(file, name, line)
            # A field may have the name of its type.
            if is_type:
                members = [each for each in members if each.kind == CLASS]
            if members:
                return _resolution(members, "class")
        for module in file.stars:
            matches = self._exports.exported(file, module, name)
            if matches:
                return _resolution(matches, "import")
        return self._resolve_global(file, name) if file.family in IMPORTING else self._resolve_unimported(file, name)

    def _resolve_unimported(self, file: FileNames, name: str) -> Resolution:
        """Resolve a bare name that a file neither defines nor imports, in languages in which it may be from others."""
        if file.family in HELPED:
            helpers = self._by_name.helpers(file, name)
            if helpers:
                return _resolution(helpers, "class")
        if file.family in PACKAGED:
            near = self._by_name.in_package(file, name)
            if near or file.family == "go":
                return _resolution(near, "package")
        if file.path.endswith(KOTLIN_ENDINGS) and not name[:1].isupper():
            # Functions of other packages are imported. But a block, `module { get() }`, has the members of an object.
            members = self._by_name.members(file, name).definitions
            matches = [each for each in members if self._is_known_in(file, each)]
            return _resolution(matches, "name").opened() if matches else self._by_name.all(file, name).opened()
        resolution = self._by_name.all(file, name)
        return resolution.opened() if name in FUNCTIONS.get(file.family, ()) else resolution

    def _resolve_global(self, file: FileNames, name: str) -> Resolution:
        """Resolve a bare name that a file neither defines nor imports, in languages that import all others."""
        if file.beside or "-" in name:
            return _resolution(self._by_name.beside(file, name), "class")
        if file.family == "python":
            return _resolution(self._by_name.fixtures(file, name), "package")
        if file.component:
            # Tools import the components that a file names by themselves.
            components = [each for each in self._by_name.of_family(file, name) if self._is_component(each)]
            if components:
                return _resolution(components, "name").opened()
        if file.bindings or any(name in library.get(file.family, ()) for library in (FUNCTIONS, GLOBALS)):
            return NOTHING
        # A script without any import may use the globals of others, but no members of an object.
        globals_ = self._by_name.all(file, name)
        return NOTHING if globals_.open else globals_

    def _is_known_in(self, file: FileNames, member: Definition) -> bool:
        """Return whether a file knows a member without an import: not one that another package adds to a class."""
        other = self._names.file(member.entry)
        return not other.is_assigned(member) or package_of(other) == package_of(file)

    def _is_component(self, definition: Definition) -> bool:
        return self._names.file(definition.entry).component == definition.name

    def _in_file(self, file: FileNames, name: str, line: int) -> list[Definition]:
        """Return the definitions in the same file that a bare name can reach."""
        if not file.occurrences.has(name.encode()):
            return []
        defined = file.definitions(name)
        if file.family in RENAMING:
            defined = [each for each in defined if not file.is_assigned(each)]
        if not defined:
            return []
        around = file.scopes.at(line)
        # The innermost scope that defines it. A class does not scope the bodies of its methods in most languages.
        reached = [
            each
            for each in defined
            if each.container == around[: len(each.container)]
            and (not each.container or each.line == line or not self._is_method(file, each, around))
        ]
        depth = max((len(each.container) for each in reached), default=0)
        return [each for each in reached if len(each.container) == depth]

    def _is_method(self, file: FileNames, definition: Definition, around: tuple[str, ...]) -> bool:
        """Return whether a definition is a member of a class, seen from a scope inside of a method of that class."""
        if file.family in BARE_MEMBERS:
            return False
        name, above = definition.container[-1], definition.container[:-1]
        around_it = file.definitions(name)
        # A function of JavaScript scopes what is in it, be it a component or constructor, or a test with a description.
        is_class = any(each.kind == CLASS and each.container == above for each in around_it)
        is_unknown = not around_it and file.family not in RENAMING
        return (is_class or is_unknown) and around != definition.container

    # A name behind a receiver.

    def _resolve_own(self, file: FileNames, name: str, attributes: Sequence[str], line: int) -> Resolution:
        """Resolve a member of the own object, or of one of its attributes."""
        if not attributes:
            members = self.classes.own_members(file, name, line)
            return _resolution(members, "class") if members else self._by_name.members(file, name)
        for class_ in self.classes.innermost(file, line):
            type_ = file.attribute_type(attributes[0], (*class_.container, class_.name))
            if type_:
                return self._of_type(file, type_, [*attributes[1:], name], line)
        return self._by_name.members(file, name)

    def _resolve_path(self, file: FileNames, name: str, parts: Sequence[str], line: int) -> Resolution:
        """Resolve a name behind a path of names that begins with an import, a class or a variable."""
        head = parts[0]
        type_ = file.type_of(head, line)
        if type_:
            return self._of_type(file, type_, [*parts[1:], name], line)
        bindings = file.bindings.get(head)
        if bindings is not None:
            return self._behind_import(file, name, parts)
        # `Object.freeze` is a library's, whatever class has a member of that name. In Rust a tree may add to a number.
        if head in GLOBALS.get(file.family, ()) and not file.definitions(head):
            return _resolution(self._by_name.extensions(file, head, name) if file.family == "rust" else [], "type")
        holders = self._resolve_bare(file, head, line)
        if holders.definitions and holders.rule != "name":
            matches = self._behind(holders.definitions, [*parts[1:], name])
            if matches:
                return _resolution(matches, "class")
        if file.family not in IMPORTING:
            matches = self._by_path(file, name, parts)
            if matches:
                return _resolution(matches, "class" if len(matches) == 1 else "name")
            if self._by_name.has_class(file, parts[-1]):
                # A known class without such a member: a constructor, a variant, or a member from a library.
                return self._by_name.members(file, name).opened()
        members = self._by_name.members(file, name)
        return members.opened() if self._is_foreign(file, parts[-1]) else members

    def _is_foreign(self, file: FileNames, name: str) -> bool:
        """Return whether a name before a member may be that of a class or module which the tree does not define."""
        return file.family in CAPITALISED and name[:1].isupper() and not self._by_name.has_class(file, name)

    def _behind_import(self, file: FileNames, name: str, parts: Sequence[str]) -> Resolution:
        matches: list[Definition] = []
        known = False
        for binding in file.bindings[parts[0]]:
            path = [binding.original, *parts[1:]] if binding.original else list(parts[1:])
            if not binding.original and file.family == "python" and not _is_alias(parts[0], binding.module):
                # `import a.b` makes `a.b.c` reachable as it is written.
                module, path = parts[0], list(parts[1:])
            else:
                module = binding.module
            here = self._walk(file, module, [*path, name])
            if not here and binding.original in MAIN_EXPORTS and file.family in RENAMING:
                here = self._of_main_export(file, module, [*parts[1:], name])
            matches += here
            known = known or bool(binding.original and self._walk(file, module, path))
        if not matches and file.family in ALIASING:
            matches = self._by_path(file, name, parts)
        if matches:
            return _resolution(unique(matches), "import")
        # An object of the tree whose type is not known; anything else is a library's.
        return self._by_name.members(file, name) if known else NOTHING

    def _of_main_export(self, file: FileNames, module: str, path: Sequence[str]) -> list[Definition]:
        """Return the definitions at a path that begins in the main export of a module: `export default { f }`, `A.f`.

        Which object that is stays unknown. It is one that the module makes, or has assigned members to.
        """
        exported = self._walk(file, module, path)
        if exported or len(path) > 1:
            return exported
        return self._exports.assigned(file, module, path[0])

    def _walk(self, file: FileNames, module: str, path: Sequence[str]) -> list[Definition]:
        """Return the definitions at a path of names that begins in a module."""
        if not path:
            return []
        if len(path) == 1:
            return self._exports.exported(file, module, path[0])
        inner = _join_module(module, path[:-1], file.family)
        matches = self._exports.exported(file, inner, path[-1]) if inner else []
        matches = matches or self._behind(self._walk(file, module, path[:-1]), path[-1:])
        if not matches and file.family in RENAMING:
            # `export * as errors from "./errors"`
            within = self._exports.namespaces(file, module, path[0])
            matches = unique(each for other, inner in within for each in self._walk(other, inner, path[1:]))
        return matches

    def _behind(self, holders: Iterable[Definition], path: Sequence[str]) -> list[Definition]:
        """Return the members at a path that begins with classes or typed values."""
        matches = list(holders)
        for name in path:
            matches = unique(each for holder in matches for each in self._members_of(holder, name))
        return matches

    def _members_of(self, holder: Definition, name: str) -> list[Definition]:
        file = self._names.file(holder.entry)
        members = (
            self.classes.members(holder, name) if self._by_name.is_class(holder) or file.family in RENAMING else []
        )
        if members or holder.kind == CLASS:
            return members
        type_ = file.type_of(holder.name, holder.line)
        return list(self._of_type(file, type_, [name], holder.line).definitions) if type_ else []

    def _of_type(self, file: FileNames, type_: str, path: Sequence[str], line: int) -> Resolution:
        """Resolve a member of a type that a file names, or of a parameter of Rust, `T: Load`."""
        trait = file.type_of(type_, line) if file.family == "rust" else ""
        if trait:
            known = self._of_known_type(file, trait, path, line)
            if known.rule == "type" and not known.open:
                return known
        if trait or (file.family == "rust" and _TYPE_PARAMETER.match(type_)):
            return self._by_name.members(file, path[-1])
        return self._of_known_type(file, type_, path, line)

    def _of_known_type(self, file: FileNames, type_: str, path: Sequence[str], line: int) -> Resolution:
        """Resolve a member of a type. A type outside of the tree has none in it."""
        parts = split_parts(type_)
        if not parts:
            return NOTHING
        # The receiver of a type is a module or a class, never a variable; so this cannot run in circles.
        if is_self(parts[-1], file.family):
            known: Sequence[Definition] = self.classes.innermost(file, line)
        elif len(parts) > 1 and parts[0] in file.bindings:
            known = self._behind_import(file, parts[-1], parts[:-1]).definitions
        else:
            known = self._resolve_bare(file, parts[-1], line).definitions
        classes = tuple(each for each in known if self._by_name.is_class(each))
        matches = self._behind(classes, path)
        if not matches and len(path) == 1 and (classes or not known):
            matches = self._by_name.extensions(file, parts[-1], path[0])
        if matches:
            return _resolution(matches, "type")
        # An attribute of a known type whose own type is not known, or a pointer to an object of unknown type.
        is_pointer = parts[-1] in POINTERS.get(file.family, ()) or _TYPE_PARAMETER.match(parts[-1]) is not None
        # `New()` in `router := New()` is a function, as is `config.New()` behind a variable: of any type.
        is_result = file.family == "go" and len(parts) > 1 and parts[0] not in file.bindings
        if (classes and len(path) > 1) or (not classes and (is_pointer or known or is_result)):
            return self._by_name.members(file, path[-1])
        # A class without such a member has it from a library, or the type is that of the first call of a chain.
        if classes and file.family not in IMPORTING:
            return self._by_name.members(file, path[-1]).opened()
        # Code may give types of libraries further functions. One with the name of a library's is rarely meant.
        members = self._by_name.members(file, path[-1]) if file.extends_types else NOTHING
        return NOTHING if members.open else members.without_fields().opened()

    # Only the name is known.

    def _by_path(self, file: FileNames, name: str, parts: Sequence[str]) -> list[Definition]:
        """Return the definitions whose class, module or folder has the name of the last part of a receiver.

        Those whose folders have all of its parts come first.
        """
        last = parts[-1]
        matches = self._by_name.of_family(file, name)
        inside = [each for each in matches if each.container[-1:] == (last,)]
        if inside:
            return inside
        free = [each for each in matches if not each.container and names_part(last, self._names.file(each.entry).path)]
        paths = [self._names.file(each.entry).path for each in free]
        exact = [package_of_path(path, file.family) == "/".join(parts) for path in paths]
        whole = exact if any(exact) else [is_in_package(path, (name,), (*parts, name)) for path in paths]
        return list(compress(free, whole)) or free


def _resolution(matches: Iterable[Definition], rule: str) -> Resolution:
    definitions = tuple(matches)
    return Resolution(definitions, rule) if definitions else NOTHING


def _is_alias(name: str, module: str) -> bool:
    return name != module.partition(".")[0]


def _join_module(module: str, names: Sequence[str], family: str) -> str:
    """Return a module inside another one, "" if the language has none."""
    if family == "python":
        return module + ("" if module.endswith(".") else ".") + ".".join(names)
    if family in ("rust", "java", "csharp", "kotlin"):
        return ".".join((module, *names))
    if family == "php":
        return "\\".join((module, *names))
    return ""
