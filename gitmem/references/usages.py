"""Follow relations between definitions: who calls, imports, extends or mentions one, and what it calls.

A query reads the files in which a name occurs, at most MAX_FILES of them, and says how many it left out. `read` is a
mutable count that the steps of one query share.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from gitmem.display import count
from gitmem.references.definitions_by_name import Resolution
from gitmem.references.resolution import Resolver
from gitmem.references.tree_names import CLASS, CODES, Definition, FileNames, Names
from gitmem.store.occurrences import IMPORTED, INHERITED, REFERRED
from gitmem.types import MAX_USAGE_DEPTH, OCCURRENCE_KINDS, USAGE_RELATIONS, Occurrence

MAX_FILES: Final = 2_000
"""Files that are read for one query. A name in more of them (`get`) cannot be resolved in a moment."""

MAX_REFERENCES: Final = 20_000
"""References that are resolved for one query; the files after them are left out."""

MAX_IN_FILE: Final = 2_000
"""References that are resolved in one file: a generated one has more than all others together."""

MAX_FOLLOWED: Final = 200
"""Definitions that one step to the next depth follows."""

_RELATION_OF: Final = {
    "call": "callers", "decorator": "callers", "base": "subclasses", "import": "importers",
    "type": "mentions", "read": "mentions", "name": "mentions",
}  # fmt: skip
_CALLS: Final = (CODES["call"], CODES["decorator"])
_ALIAS: Final = CODES["alias"]


class Usage(NamedTuple):
    """Line that refers to a definition, or a definition itself. `symbol` is the function or class around the line.

    `rule` says how it was resolved and `candidates` to how many definitions; both are empty for a definition. `open`
    says that it may also mean something outside of the tree. `depth` counts the steps from the definition. `target` is
    the definition that is meant, if it is the only one.
    """

    entry: int
    line: int
    kind: str
    symbol: str
    rule: str = ""
    candidates: int = 0
    open: bool = False
    depth: int = 1
    target: Definition | None = None


class Found(NamedTuple):
    """Usages of each relation, the best first, and what was left out because there was too much."""

    relations: dict[str, list[Usage]]
    cuts: list[str]


class Bounds(NamedTuple):
    """Files that are read for one query, and references that are resolved in them."""

    files: int = MAX_FILES
    references: int = MAX_REFERENCES


DEFAULT_BOUNDS: Final = Bounds()


class UsageFinder:
    """Finds the usages of definitions in one tree, or in several, for one query."""

    def __init__(
        self,
        names: Names,
        is_test: Callable[[str], bool],
        check: Callable[[], None] = lambda: None,
        bounds: Bounds = DEFAULT_BOUNDS,
        resolver: Resolver | None = None,
    ) -> None:
        """`is_test` says of a path whether it is a test; `check` is called for every file and raises to cancel.

        Queries about one tree can share a resolver.
        """
        self._names = names
        self._bounds = bounds
        self._resolver = resolver or Resolver(names)
        self._is_test = is_test
        self._check = check
        self._library: tuple[str, ...] = ()
        self._read = 0
        self._omitted = 0
        self._resolved = 0
        self._crowded: set[int] = set()
        self._direct: dict[tuple[tuple[Definition, ...], str], dict[str, list[Usage]]] = {}

    def find(
        self,
        targets: Sequence[Definition],
        name: str,
        relations: Sequence[str],
        depth: int = 1,
        library: Sequence[str] = (),
    ) -> Found:
        """Return the usages of definitions of one name; without any, those of a name that libraries define.

        `library` are the names before that name, with which its imports must end.
        """
        self._library = tuple(library)
        usages: dict[str, list[Usage]] = {}
        if "definitions" in relations:
            usages["definitions"] = [self._definition(each) for each in targets]
        direct = {"callers", "mentions", "subclasses", "importers"}.intersection(relations)
        if direct:
            grouped = self._referring(targets, name)
            usages |= {relation: grouped.get(relation, []) for relation in USAGE_RELATIONS if relation in direct}
        if depth > 1 and "callers" in direct:
            usages["callers"] = self._callers(targets, name, depth)
        if "subclasses" in relations and depth > 1:
            usages["subclasses"] = self._subclasses(targets, depth)
        if "implementers" in relations:
            usages["implementers"] = self._implementers(targets)
        if "callees" in relations:
            usages["callees"] = self._callees(targets, depth)
        if "tests" in relations:
            callers = self._callers(targets, name, max(depth, 1))
            mentions = self._referring(targets, name).get("mentions", [])
            usages["tests"] = _unique_lines(each for each in [*callers, *mentions] if self._in_test(each))
        ordered = {relation: usages[relation] for relation in USAGE_RELATIONS if relation in usages}
        return Found(
            {relation: self._ranked(targets, usages) for relation, usages in ordered.items()}, list(self._cuts())
        )

    def _cuts(self) -> Iterable[str]:
        if self._omitted:
            yield f"{self._omitted:,} of {self._omitted + self._read:,} files with such names were not read"
        if self._crowded:
            files = count(len(self._crowded), "file")
            yield f"only the first {MAX_IN_FILE:,} references were read in {files} with more of them"

    def _definition(self, definition: Definition) -> Usage:
        return Usage(definition.entry, definition.line, OCCURRENCE_KINDS[definition.kind], definition.symbol, depth=0)

    def _referring(self, targets: Sequence[Definition], name: str, depth: int = 1) -> dict[str, list[Usage]]:
        """Return the usages of definitions by relation, as found in all files that mention their name."""
        # Several relations begin with the same references, which count against the bounds once.
        key = tuple(targets), name
        if key not in self._direct:
            self._direct[key] = self._find_referring(targets, name, depth)
        return self._direct[key]

    def _find_referring(self, targets: Sequence[Definition], name: str, depth: int) -> dict[str, list[Usage]]:
        meaning = frozenset(targets)
        grouped: dict[str, list[Usage]] = {}
        for file in self._files(name, REFERRED | IMPORTED | INHERITED, targets):
            for occurrence, resolution in self._bounded(file, name):
                if not self._is_meant(file, occurrence, resolution, meaning):
                    continue
                kind = OCCURRENCE_KINDS[occurrence.kind]
                usage = self._usage(file, occurrence.line, kind, resolution, depth)
                grouped.setdefault(_RELATION_OF[kind], []).append(usage)
        return {relation: _unique_lines(usages) for relation, usages in grouped.items()}

    def _bounded(self, file: FileNames, name: str) -> Iterable[tuple[Occurrence, Resolution]]:
        """Yield the first references to a name in a file, and count those files that have more."""
        for number, reference in enumerate(self._references(file, name)):
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
        if resolution.definitions or not self._library:
            return not resolution.definitions
        path = file.imported_path(occurrence)
        return path[:-1][-len(self._library) :] == self._library

    def _files(self, name: str, roles: int, targets: Sequence[Definition]) -> Iterable[FileNames]:
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

    def _references(self, file: FileNames, name: str) -> Iterable[tuple[Occurrence, Resolution]]:
        """Yield the references to a name in a file, also under another name that the file gives it."""
        occurrences = file.occurrences
        for each in occurrences.at(occurrences.find(name.encode()).tolist()):
            kind = OCCURRENCE_KINDS[each.kind]
            if kind not in _RELATION_OF:
                continue
            receiver = each.receiver.decode("utf-8", "replace")
            if kind == "import":
                if not receiver.endswith(":"):
                    yield each, self._resolver.resolve_import(file, name, receiver)
            else:
                resolution = self._resolver.resolve(file, name, receiver, each.line)
                is_field = kind == "read" and receiver and file.reads_fields
                yield each, resolution.without_functions() if is_field else resolution
        for alias in self._aliases(file, name):
            for each in occurrences.at(occurrences.find(alias.encode()).tolist()):
                if OCCURRENCE_KINDS[each.kind] in _RELATION_OF and not each.receiver:
                    yield each, self._resolver.resolve(file, alias, "", each.line)

    def _aliases(self, file: FileNames, name: str) -> list[str]:
        """Return the other names under which a file imports a name."""
        suffix = f":{name}".encode()
        if not any(string.endswith(suffix) for string in file.occurrences.strings):
            return []
        return [
            bound
            for bound, bindings in file.bindings.items()
            if bound != name and any(binding.original == name for binding in bindings)
        ]

    def _usage(self, file: FileNames, line: int, kind: str, resolution: Resolution, depth: int) -> Usage:
        symbol = ".".join(file.scopes.at(line))
        definitions = resolution.definitions
        target = definitions[0] if len(definitions) == 1 else None
        return Usage(file.entry, line, kind, symbol, resolution.rule, len(definitions), resolution.open, depth, target)

    # Several steps.

    def _callers(self, targets: Sequence[Definition], name: str, depth: int) -> list[Usage]:
        """Return the callers of definitions, and up to a depth the callers of those."""
        usages: dict[tuple[int, int], Usage] = {}
        seen = set(targets)
        step: dict[str, list[Definition]] = {name: list(targets)}
        for level in range(1, depth + 1):
            calls = [
                each
                for of_name, definitions in step.items()
                if definitions or level == 1
                for each in self._referring(definitions, of_name, level).get("callers", ())
            ]
            step = {}
            for each in calls:
                usages.setdefault((each.entry, each.line), each)
                # A guess is shown, but not followed: its callers would be guesses of guesses.
                caller = self._surrounding(each) if each.candidates == 1 or level == 1 else None
                if caller is not None and caller not in seen and len(seen) < MAX_FOLLOWED:
                    seen.add(caller)
                    step.setdefault(caller.name, []).append(caller)
        return list(usages.values())

    def _surrounding(self, usage: Usage) -> Definition | None:
        """Return the function around a usage, None at the top level of a file."""
        file = self._names.file(usage.entry)
        around = file.scopes.at(usage.line)
        if not around:
            return None
        own = [each for each in file.definitions(around[-1]) if each.container == around[:-1]]
        before = [each for each in own if each.line <= usage.line] or own
        return before[-1] if before else None

    def _subclasses(self, targets: Sequence[Definition], depth: int) -> list[Usage]:
        """Return the classes that extend some classes, and up to a depth those that extend them."""
        usages: dict[tuple[int, int], Usage] = {}
        seen = set(targets)
        step = [each for each in targets if each.kind == CLASS]
        for level in range(1, depth + 1):
            following: list[Definition] = []
            for target in step[:MAX_FOLLOWED]:
                for usage, class_ in self._extending(target, level):
                    usages.setdefault((usage.entry, usage.line), usage)
                    if class_ not in seen:
                        seen.add(class_)
                        following.append(class_)
            step = following
        return list(usages.values())

    def _extending(self, target: Definition, depth: int) -> Iterable[tuple[Usage, Definition]]:
        for file in self._files(target.name, INHERITED, [target]):
            for occurrence, resolution in self._bounded(file, target.name):
                if OCCURRENCE_KINDS[occurrence.kind] == "base" and target in resolution.definitions:
                    class_ = self._resolver.class_of_base(file, occurrence.line)
                    if class_ is not None:
                        yield self._usage(file, occurrence.line, "base", resolution, depth), class_

    def _implementers(self, targets: Sequence[Definition]) -> list[Usage]:
        """Return the classes below some classes, and for members the definitions of that name in these."""
        below = self._subclasses(targets, MAX_USAGE_DEPTH)
        for target in targets:
            if target.kind == CLASS or not target.container:
                continue
            holders = [
                each
                for each in self._names.file(target.entry).definitions(target.container[-1])
                if each.kind == CLASS and each.container == target.container[:-1]
            ]
            classes = {class_ for holder in holders for class_ in self._classes_below(holder)}
            for other in self._names.definitions(target.name):
                file = self._names.file(other.entry)
                if any(
                    each in classes
                    for each in file.definitions(other.container[-1] if other.container else "")
                    if each.container == other.container[:-1]
                ):
                    below.append(self._definition(other)._replace(rule="class", candidates=1, depth=1))
        return _unique_lines(below)

    def _classes_below(self, holder: Definition) -> list[Definition]:
        seen = [holder]
        for level, class_ in enumerate(seen):
            if level >= MAX_FOLLOWED:
                break
            seen += [below for _, below in self._extending(class_, 1) if below not in seen]
        return seen[1:]

    def _callees(self, targets: Sequence[Definition], depth: int) -> list[Usage]:
        """Return the definitions that the bodies of some definitions call, and up to a depth those that these call."""
        callees: dict[Definition, Usage] = {}
        step = list(targets)
        for level in range(1, depth + 1):
            following: list[Definition] = []
            for target in step[:MAX_FOLLOWED]:
                for resolution in self._called(target):
                    for each in resolution.definitions:
                        if each not in callees and each not in targets:
                            following += [each] if resolution.is_sure else []
                            callees[each] = self._definition(each)._replace(
                                rule=resolution.rule, candidates=len(resolution.definitions),
                                open=resolution.open, depth=level,
                            )  # fmt: skip
            step = following
        return list(callees.values())

    def _called(self, target: Definition) -> Iterable[Resolution]:
        """Yield the resolutions of the calls in the body of a definition, those of a library excepted."""
        file = self._names.file(target.entry)
        occurrences = file.occurrences
        for place in np.flatnonzero(np.isin(occurrences.kinds, _CALLS)).tolist():
            line = int(occurrences.lines[place])
            whole = (*target.container, target.name)
            if line < target.line or file.scopes.at(line)[: len(whole)] != whole:
                continue
            (each,) = occurrences.at([place])
            name, receiver = each.name.decode("utf-8", "replace"), each.receiver.decode("utf-8", "replace")
            resolution = self._resolver.resolve(file, name, receiver, line)
            if resolution.definitions:
                yield resolution

    # The order of an answer.

    def _in_test(self, usage: Usage) -> bool:
        return self._is_test(self._names.file(usage.entry).path)

    def _ranked(self, targets: Sequence[Definition], usages: list[Usage]) -> list[Usage]:
        """Sort usages: fewer steps, sure ones, those outside of tests, and near the definition first."""
        files = [self._names.file(each.entry) for each in targets[:8]]
        folders = [(file.tree, file.path.split("/")[:-1]) for file in files]

        def key(usage: Usage) -> tuple[int, int, bool, int, int, str, int]:
            file = self._names.file(usage.entry)
            path = file.path
            # A file of the same tree is nearer than any of another one.
            near = max(
                (1 + _shared(path.split("/"), folder) for tree, folder in folders if tree == file.tree), default=0
            )
            doubt = min(usage.candidates + usage.open, 8)
            return usage.depth, doubt, self._is_test(path), -near, file.tree, path, usage.line

        return sorted(usages, key=key)


def _unique_lines(usages: Iterable[Usage]) -> list[Usage]:
    """Return one usage of each line, the surest."""
    best: dict[tuple[int, int], Usage] = {}
    for usage in usages:
        place = usage.entry, usage.line
        if place not in best or (usage.candidates, usage.open) < (best[place].candidates, best[place].open):
            best[place] = usage
    return list(best.values())


def _shared(path: Sequence[str], folder: Sequence[str]) -> int:
    """Return how many folders two paths share from the root."""
    count = 0
    for own, other in zip(path, folder, strict=False):
        if own != other:
            break
        count += 1
    return count
