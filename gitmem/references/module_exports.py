"""Find the definitions that modules export: their own, and those that they import and export again."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitmem.references.definitions_by_name import DefinitionsByName
from gitmem.references.file_names import Binding, Definition, FileNames, split_module
from gitmem.references.languages import IMPORTING, REEXPORTING, RENAMING
from gitmem.references.module_paths import main_export_of, may_re_export, module_base
from gitmem.references.rust_paths import closeness, is_above, module_files
from gitmem.references.tree_names import Names
from gitmem.types import EXPORTS

MAIN_EXPORTS: Final = ("", "default")
"""Names of the main export of a module, which `import a from` and `a = require()` take."""

_MAX_HOPS: Final = 8
"""Imports that are followed one after the other. In Rust `use super::*` leads from each file to every other."""


class ModuleExports:
    """Exports of the modules in the trees that a file can mean, for one query."""

    def __init__(self, names: Names, by_name: DefinitionsByName) -> None:
        self._names = names
        self._by_name = by_name
        self._known: dict[tuple[int, str, str], tuple[int, list[Definition]]] = {}
        """Exports by file, module and name, with the imports that led there."""

        self._importers: dict[str, list[int]] = {}
        self._importing: dict[tuple[str, int, str, str, str], list[int]] = {}
        self._hops = 0

    def imported(self, file: FileNames, name: str) -> list[Definition] | None:
        """Return what an import of a name brings into a file; None if none does."""
        bindings = file.bindings.get(name)
        if bindings is None:
            return None
        return unique(
            each
            for binding in bindings
            if binding.original or file.family in RENAMING
            for each in self._brought(file, binding, name)
        )

    def _brought(self, file: FileNames, binding: Binding, name: str) -> list[Definition]:
        """Return what an import brings as `name`: a main export by that name, or by that of its file."""
        matches = self.exported(file, binding.module, _original(binding, name))
        if matches or binding.original not in MAIN_EXPORTS or file.family not in RENAMING:
            return matches
        candidates = [main_export_of(binding.module, is_class=is_class) for is_class in (False, True)]
        matches = unique(each for own in candidates for each in self.exported(file, binding.module, own))
        return matches or self.exported(file, binding.module, "default")

    def exported(self, file: FileNames, module: str, name: str) -> list[Definition]:
        """Return the definitions that a module, as a file writes it, has under a name: its own or re-exported ones."""
        key = file.entry, module, name
        hops, matches = self._known.get(key, (_MAX_HOPS, []))
        # What was reached by a longer way has been followed less far.
        if matches or hops <= self._hops:
            return matches
        self._known[key] = self._hops, []  # until they are known: modules can import each other
        self._hops += 1
        own = self._defined_in(file, module, name)
        if file.family == "rust" and len(own) > 1:
            own = self._closest(file, module, own)
        re_exports = not own and file.family in REEXPORTING and self._is_known(file, name)
        matches = own or (self._re_exported(file, module, name) if re_exports else [])
        self._hops -= 1
        self._known[key] = self._hops, matches
        return matches

    def _is_known(self, file: FileNames, name: str) -> bool:
        """Return whether any file can export a name: one that none defines, or imports under it, is a library's."""
        return bool(self._by_name.of_family(file, name) or self._importers_of(name))

    def _importers_of(self, name: str) -> list[int]:
        """Return the files that import a name, or all names of a module with `*`."""
        if name not in self._importers:
            self._importers[name] = self._names.importers(name)
        return self._importers[name]

    def _defined_in(self, file: FileNames, module: str, name: str) -> list[Definition]:
        """Return the definitions of a name in the files of a module, as a file writes it."""
        if not module and file.family in RENAMING:
            own = [each for each in file.definitions(name) if not each.container]
            return own or self.imported(file, name) or []
        return [
            each
            for each in self._by_name.of_family(file, name)
            if self._is_exported(file, module, each)
            and self._names.names_module(module, file, self._names.file(each.entry))
        ]

    def namespaces(self, file: FileNames, module: str, name: str) -> Iterator[tuple[FileNames, str]]:
        """Yield the modules that a module exports as a whole under a name, each with the file that writes it so."""
        for other, binding in self._imports_of(file, module, name):
            if binding.module and not binding.original:
                yield other, binding.module

    def _closest(self, file: FileNames, module: str, definitions: Sequence[Definition]) -> list[Definition]:
        """Return the definitions in the files to which a module of Rust fits best."""
        ranks = [closeness(module, self._names.file(each.entry).path, file.path) for each in definitions]
        return [each for each, rank in zip(definitions, ranks, strict=True) if rank == min(ranks)]

    def _is_exported(self, file: FileNames, module: str, definition: Definition) -> bool:
        """Return whether an import of a module can bring a definition: a member only from its class."""
        if not definition.container:
            return True
        if file.family in IMPORTING:
            # `module.exports = { load() {} }`
            return file.family in RENAMING and ".".join(definition.container).encode() in EXPORTS
        if split_module(module)[-1:] == [definition.container[-1]] or not self._by_name.is_member(file, definition):
            return True
        # Kotlin writes a function that extends a class behind its name, and imports it by its own.
        return file.family == "java" and self._names.file(definition.entry).is_assigned(definition)

    def _re_exported(self, file: FileNames, module: str, name: str) -> list[Definition]:
        """Return the definitions that a module imports under a name, or else those that it imports with all others."""
        for imported in (name, "*"):
            matches = [
                each
                for other, binding in self._imports_of(file, module, imported)
                for each in (
                    self.exported(other, binding.module, name)
                    if imported == "*"
                    else self._brought(other, binding, name)
                )
            ]
            if matches:
                return unique(matches)
        return self._behind_re_exported(file, module, name) if file.family == "rust" else []

    def _behind_re_exported(self, file: FileNames, module: str, name: str) -> list[Definition]:
        """Return the definitions in a module that its parent re-exports: `pub use a::*` makes `a::b` known as `b`."""
        parent, _, last = module.replace("::", ".").rpartition(".")
        if not parent or self._has_file(file, module):
            return []
        return unique(
            each
            for imported in (last, "*")
            for other, binding in self._imports_of(file, parent, imported)
            if imported == last or self._may_hold(other, binding.module, last)
            for each in self.exported(other, _inside(binding, last), name)
        )

    def _may_hold(self, file: FileNames, module: str, inner: str) -> bool:
        """Return whether a module of Rust may have another one inside: one of the own crate has a file for it.

        Most names behind a module are those of types, and a crate may import everything of each of its modules.
        """
        first = module.replace("::", ".").partition(".")[0]
        is_own = is_above(first) or self._has_file(file, first)
        return not is_own or self._has_file(file, f"{module}.{inner}")

    def _has_file(self, file: FileNames, module: str) -> bool:
        """Return whether a module of Rust, as a file writes it, is a file."""
        return any(self._names.has_path(path, file.tree) for path in module_files(module, file.path))

    def _imports_of(self, file: FileNames, module: str, imported: str) -> Iterator[tuple[FileNames, Binding]]:
        """Yield the imports of a name, or of all with `*`, in the files of a module that may export them again."""
        for entry in self._entries_importing(file, module, imported):
            if entry == file.entry:
                continue
            other = self._names.file(entry)
            bindings = other.bindings.get(imported, ())
            # A file that says which of its definitions is the default export exports no other one.
            for binding in [each for each in bindings if not each.module] or bindings:
                # `use super::*` is for the file alone, or for the tests in it. It would lead to every other file.
                if imported != "*" or other.family != "rust" or not is_above(binding.module):
                    yield other, binding

    def _entries_importing(self, file: FileNames, module: str, imported: str) -> list[int]:
        """Return the files of a module that import a name; hundreds of files in a folder may ask for the same one."""
        key = file.family, file.tree, module_base(module, file.path, file.family), module, imported
        if key not in self._importing:
            others = map(self._names.file, self._importers_of(imported))
            self._importing[key] = [
                other.entry
                for other in others
                if other.family == file.family
                and may_re_export(module, other.path, other.family)
                and self._names.names_module(module, file, other)
            ]
        return self._importing[key]

    def assigned(self, file: FileNames, module: str, name: str) -> list[Definition]:
        """Return the definitions of a name in a module that are assigned to a member of one of its objects."""
        return [
            each
            for each in self._by_name.of_family(file, name)
            if len(each.container) == 1
            and (other := self._names.file(each.entry)).is_assigned(each)
            and self._names.names_module(module, file, other)
        ]


def unique(matches: Iterable[Definition]) -> list[Definition]:
    """Return definitions in their order, each once."""
    return list(dict.fromkeys(matches))


def _inside(binding: Binding, module: str) -> str:
    """Return the module that an import brings under a name; that of all names brings it from inside of another."""
    if not binding.original:
        return binding.module
    return f"{binding.module}.{module if binding.original == '*' else binding.original}"


def _original(binding: Binding, name: str) -> str:
    """Return the name that an import brings into a file as `name`: for the main export of a module the same."""
    return name if binding.original in MAIN_EXPORTS else binding.original
