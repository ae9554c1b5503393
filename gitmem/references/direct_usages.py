"""Find the places that refer to definitions directly: read the files in which their name occurs, and resolve it there.

A query reads at most MAX_FILES files and resolves at most MAX_REFERENCES references. The steps of one query share these
bounds, and what was left out is counted.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from gitmem.display import count
from gitmem.references.definitions_by_name import Resolution
from gitmem.references.file_importers import is_import_of, module_word
from gitmem.references.file_names import CLASS, Binding, Definition, FileNames
from gitmem.references.languages import CONSTRUCTORS, RENAMING
from gitmem.references.module_exports import MAIN_EXPORTS
from gitmem.references.resolution import Resolver
from gitmem.references.tree_names import Names
from gitmem.references.usage import DEFAULT_BOUNDS, MAX_IN_FILE, Bounds, Usage, unique_lines
from gitmem.store.occurrences import IMPORTED, INHERITED, REFERRED
from gitmem.types import OCCURRENCE_KINDS, Occurrence

_RELATION_OF: Final = {
    "call": "callers", "decorator": "callers", "base": "subclasses", "import": "importers", "alias": "importers",
    "type": "mentions", "read": "mentions", "name": "mentions",
}  # fmt: skip
"""Relation to a definition by the kind of a reference."""

_AT_RUN_TIME: Final = frozenset({"callers", "mentions"})
"""Relations to a member by way of one that it overrides."""

_MAX_OVERRIDING: Final = 50
"""Members whose overridden ones are looked for."""


class DirectUsages:
    """Direct usages in one tree, or in several, for one query.

    `library` are the names before a name that libraries define, with which its imports must end.
    """

    def __init__(
        self, names: Names, resolver: Resolver, check: Callable[[], None], bounds: Bounds = DEFAULT_BOUNDS
    ) -> None:
        self.library: tuple[str, ...] = ()
        self._names = names
        self._resolver = resolver
        self._check = check
        self._bounds = bounds
        self._read = 0
        self._omitted = 0
        self._resolved = 0
        self._crowded: set[int] = set()
        self._known: dict[tuple[tuple[Definition, ...], str], dict[str, list[Usage]]] = {}

    def find(self, targets: Sequence[Definition], name: str, depth: int = 1) -> dict[str, list[Usage]]:
        """Return the usages of definitions by relation, as found in all files that mention their name."""
        # Several relations begin with the same references, which count against the bounds once.
        key = tuple(targets), name
        if key not in self._known:
            grouped = self._find(targets, name, depth)
            for tag in self._tags(targets):
                for relation, usages in self._find([tag], tag.name, depth).items():
                    grouped[relation] = unique_lines([*grouped.get(relation, ()), *usages])
            for target in targets:
                for relation, usages in self._find_default_imports(target, depth).items():
                    grouped[relation] = unique_lines([*grouped.get(relation, ()), *usages])
            # Such calls name the class, so nothing refers to the constructor itself.
            for class_ in self._created(targets):
                created = self._find([class_], class_.name, depth).get("callers", ())
                grouped["callers"] = unique_lines([*grouped.get("callers", ()), *created])
            self._known[key] = grouped
        return self._known[key]

    def _created(self, targets: Sequence[Definition]) -> Iterable[Definition]:
        """Yield the classes of which some members are constructors: code that creates an object calls these."""
        for target in targets:
            file = self._names.file(target.entry)
            if target.container and target.name in CONSTRUCTORS.get(file.family, ()):
                *above, name = target.container
                classes = [each for each in file.definitions(name) if each.container == tuple(above)]
                yield from (each for each in classes if each.kind == CLASS)

    def _find_default_imports(self, target: Definition, depth: int) -> dict[str, list[Usage]]:
        """Return the usages of the default export of a module of JavaScript in files that call it otherwise.

        Those that load it lazily give it no name. They are found by the path of the module, since they lack the name.
        """
        own = self._names.file(target.entry)
        if own.family not in RENAMING or target.container or not _is_default_export(own, target.name):
            return {}
        grouped: dict[str, list[Usage]] = {}
        resolution = Resolution((target,), "import")
        word = module_word(own.path)
        # The word alone, `index` or a folder, may be in thousands of files; few of them import a default export.
        importers = frozenset(self._names.entries("default", IMPORTED).tolist()) - {target.entry}
        with_word = [entry for entry, _ in self._names.word_counts(word) if entry in importers]
        for entry in with_word[: self._bounds.files]:
            self._check()
            file = self._names.file(entry)
            if file.family != own.family:
                continue
            modules = self._modules_of(own, word, file)
            names = [name for name, of in file.bindings.items() if any(_is_default(each, modules) for each in of)]
            for name in sorted({"default", *names} - {target.name}) if modules else ():
                for each in file.occurrences.at(file.occurrences.find(name.encode()).tolist()):
                    kind, receiver = OCCURRENCE_KINDS[each.kind], each.receiver.decode("utf-8", "replace")
                    is_import = kind in ("import", "alias") and receiver.removesuffix(":default") in modules
                    if is_import or (name != "default" and not receiver and kind in _RELATION_OF):
                        usage = self.usage(file, each.line, kind, resolution, depth)
                        grouped.setdefault(_RELATION_OF[kind], []).append(usage)
        return grouped

    def _modules_of(self, exporting: FileNames, word: str, file: FileNames) -> frozenset[str]:
        """Return the modules that are a file, as another one writes those whose default export it imports."""
        path, tree = exporting.path, exporting.tree
        modules = file.default_modules
        return frozenset(each for each in modules if is_import_of(self._names, file, each, "default", path, tree, word))

    def _tags(self, targets: Sequence[Definition]) -> Iterable[Definition]:
        """Yield the elements of pages that some classes define, by a selector or `customElements.define("a-b", A)`."""
        for target in targets:
            file = self._names.file(target.entry)
            if target.kind != CLASS or file.family not in RENAMING:
                continue
            inside = (*target.container, target.name)
            tags = [each for each in file.all_definitions() if "-" in each.name]
            lines = {each.line for each in file.occurrences.at(file.occurrences.find(target.name.encode()).tolist())}
            yield from (each for each in tags if each.container == inside or each.line in lines)

    def cuts(self) -> Iterable[str]:
        """Yield a note about each cut."""
        if self._omitted:
            yield f"{self._omitted:,} of {self._omitted + self._read:,} files with such names were not read"
        if self._crowded:
            files = count(len(self._crowded), "file")
            yield f"only the first {MAX_IN_FILE:,} references were read in {files} with more of them"

    def _find(self, targets: Sequence[Definition], name: str, depth: int) -> dict[str, list[Usage]]:
        meaning = frozenset(targets)
        members = self._overridden(targets, name)
        grouped: dict[str, list[Usage]] = {}
        for file in self.files(name, REFERRED | IMPORTED | INHERITED, targets):
            for occurrence, resolution in self.references(file, name):
                kind = OCCURRENCE_KINDS[occurrence.kind]
                through = None
                if not self._is_meant(file, occurrence, resolution, meaning):
                    if _RELATION_OF[kind] in _AT_RUN_TIME:
                        through = self._meant_base(file, occurrence, resolution, members)
                    if through is None:
                        continue
                usage = self.usage(file, occurrence.line, kind, resolution, depth)._replace(through=through)
                grouped.setdefault(_RELATION_OF[kind], []).append(usage)
        return {relation: unique_lines(usages) for relation, usages in grouped.items()}

    def references(self, file: FileNames, name: str) -> Iterable[tuple[Occurrence, Resolution]]:
        """Yield the first references to a name in a file, and count those files that have more."""
        for number, reference in enumerate(self._all_references(file, name)):
            if number == MAX_IN_FILE:
                self._crowded.add(file.entry)
                return
            self._resolved += 1
            yield reference

    def _is_meant(
        self, file: FileNames, occurrence: Occurrence, resolution: Resolution, wanted: frozenset[Definition]
    ) -> bool:
        if wanted:
            return not wanted.isdisjoint(resolution.definitions)
        if resolution.definitions or not self.library:
            return not resolution.definitions
        path = file.imported_path(occurrence)
        return path[:-1][-len(self.library) :] == self.library

    def _overridden(self, targets: Sequence[Definition], name: str) -> dict[Definition, Definition]:
        """Return what some definitions override without being among them, each with the one that overrides it."""
        meaning = frozenset(targets)
        # All definitions of a name have all calls of it themselves, and may be thousands.
        if meaning.issuperset(self._names.definitions(name)):
            return {}
        first = targets[:_MAX_OVERRIDING]
        return {
            base: each for each in first for base in self._resolver.overrides.overridden(each) if base not in meaning
        }

    def _meant_base(
        self,
        file: FileNames,
        occurrence: Occurrence,
        resolution: Resolution,
        members: Mapping[Definition, Definition],
    ) -> Definition | None:
        """Return the key of `members` that a reference means, if the member that overrides it may run instead."""
        for base in resolution.definitions:
            member = members.get(base)
            if member is not None and self._resolver.overrides.may_run(member, base, file, occurrence):
                return base
        return None

    def files(self, name: str, roles: int, targets: Sequence[Definition]) -> Iterable[FileNames]:
        """Yield the files in which a name has one of some roles, up to the limit; those near the definitions first."""
        entries = self._names.entries(name, roles).tolist()
        allowed = max(0, self._bounds.files - self._read)
        near = {each.entry for each in targets}
        entries.sort(key=lambda entry: (entry not in near, entry))
        if len(entries) > allowed:
            self._omitted += len(entries) - allowed
        for place, entry in enumerate(entries[:allowed]):
            self._check()
            if self._resolved > self._bounds.references:
                self._omitted += min(allowed, len(entries)) - place
                return
            self._read += 1
            yield self._names.file(entry)

    def _all_references(self, file: FileNames, name: str) -> Iterable[tuple[Occurrence, Resolution]]:
        """Yield the references to a name in a file, also under another name that the file gives it."""
        occurrences = file.occurrences
        for each in occurrences.at(occurrences.find(name.encode()).tolist()):
            kind = OCCURRENCE_KINDS[each.kind]
            if kind not in _RELATION_OF:
                continue
            receiver = each.receiver.decode("utf-8", "replace")
            if kind == "alias":
                module, _, original = receiver.rpartition(":")
                if original in MAIN_EXPORTS and file.family in RENAMING:
                    yield each, self._resolver.resolve_import(file, name, module)
            elif kind == "import":
                if not receiver.endswith(":"):
                    yield each, self._resolver.resolve_import(file, name, receiver)
            else:
                is_type = kind in ("type", "base")
                resolution = self._resolver.resolve(file, name, receiver, each.line, is_type=is_type)
                if kind == "read" and receiver and file.reads_fields:
                    resolution = resolution.without_functions()
                elif kind == "call" and receiver and file.calls_methods:
                    resolution = resolution.without_values()
                yield each, resolution
        for alias in self._aliases(file, name):
            for each in occurrences.at(occurrences.find(alias.encode()).tolist()):
                if OCCURRENCE_KINDS[each.kind] in _RELATION_OF and not each.receiver:
                    yield each, self._resolver.resolve(file, alias, "", each.line)

    def _aliases(self, file: FileNames, name: str) -> list[str]:
        """Return the other names under which a file imports a name."""
        end = f":{name}".encode()
        if not any(string.endswith(end) for string in file.occurrences.strings):
            return []
        return [
            bound
            for bound, bindings in file.bindings.items()
            if bound != name and any(name == binding.original for binding in bindings)
        ]

    def usage(self, file: FileNames, line: int, kind: str, resolution: Resolution, depth: int) -> Usage:
        """Return the line of a resolved reference as a usage."""
        symbol = ".".join(file.scopes.at(line))
        return Usage(
            file.entry, line, kind, symbol, resolution.rule, resolution.meanings, resolution.open, depth,
            resolution.target,
        )  # fmt: skip


def _is_default(binding: Binding, modules: Container[str]) -> bool:
    return binding.original == "default" and binding.module in modules


def _is_default_export(file: FileNames, name: str) -> bool:
    """Return whether a name of a file is that of its default export; a component is that of its file."""
    exports = file.bindings.get("default", ())
    return name == file.component or any(not each.module and each.original == name for each in exports)
