"""Follow relations between definitions: who calls, imports, extends or mentions one, and what it calls."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import is_among
from gitmem.named_tuple import NamedTuple
from gitmem.references.definitions_by_name import Resolution
from gitmem.references.direct_usages import DirectUsages
from gitmem.references.file_names import CLASS, CODES, Definition, FileNames
from gitmem.references.resolution import Resolver
from gitmem.references.tree_names import Names
from gitmem.references.usage import DEFAULT_BOUNDS, Bounds, Usage, unique_lines, usage_of
from gitmem.references.usage_order import rank_usages
from gitmem.store.occurrences import INHERITED
from gitmem.types import MAX_USAGE_DEPTH, OCCURRENCE_KINDS, USAGE_RELATIONS

MAX_FOLLOWED: Final = 200
"""Definitions that one step to the next depth follows."""

_CALLS: Final = (CODES["call"], CODES["decorator"])


class Found(NamedTuple):
    """Usages of each relation, the best first, and what was left out because there was too much."""

    relations: dict[str, list[Usage]]
    cuts: list[str]


class UsageFinder:
    """Finds the usages of definitions in one tree, or in several, for one query."""

    def __init__(
        self,
        names: Names,
        is_test: Callable[[FileNames], bool],
        check: Callable[[], None] = lambda: None,
        bounds: Bounds = DEFAULT_BOUNDS,
        resolver: Resolver | None = None,
    ) -> None:
        """`is_test` says whether a file is a test; `check` is called for every file and raises to cancel.

        Queries about one tree can share a resolver.
        """
        self._names = names
        self._resolver = resolver or Resolver(names)
        self._is_test = is_test
        self._direct = DirectUsages(names, self._resolver, check, bounds)

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
        self._direct.library = tuple(library)
        usages: dict[str, list[Usage]] = {}
        if "definitions" in relations:
            usages["definitions"] = [usage_of(each) for each in targets]
        direct = {"callers", "mentions", "subclasses", "importers"}.intersection(relations)
        if direct:
            grouped = self._direct.find(targets, name)
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
            mentions = self._direct.find(targets, name).get("mentions", [])
            usages["tests"] = unique_lines(
                each for each in [*callers, *mentions] if self._is_test(self._names.file(each.entry))
            )
        ranked: dict[str, list[Usage]] = {
            relation: rank_usages(self._names, self._is_test, targets, usages[relation])
            for relation in USAGE_RELATIONS
            if relation in usages
        }
        return Found(ranked, list(self._direct.cuts()))

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
                for each in self._direct.find(definitions, of_name, level).get("callers", ())
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
        for file in self._direct.files(target.name, INHERITED, [target]):
            for occurrence, resolution in self._direct.references(file, target.name):
                if OCCURRENCE_KINDS[occurrence.kind] == "base" and target in resolution.definitions:
                    class_ = self._resolver.classes.class_of_base(file, occurrence.line)
                    if class_ is not None:
                        yield self._direct.usage(file, occurrence.line, "base", resolution, depth), class_

    def _implementers(self, targets: Sequence[Definition]) -> list[Usage]:
        """Return the classes below some classes, and the members that override some members."""
        overrides = self._resolver.overrides
        types = overrides.implementing(targets)
        members = {**overrides.overriding(targets), **types}
        others = [
            usage_of(each)._replace(rule="class", candidates=1, depth=1, target=base) for each, base in members.items()
        ]
        below = [*self._subclasses(targets, MAX_USAGE_DEPTH), *others, *self._subclasses([*types], MAX_USAGE_DEPTH)]
        return unique_lines(below)

    def _callees(self, targets: Sequence[Definition], depth: int) -> list[Usage]:
        """Return the definitions that the bodies of some definitions call, and up to a depth those that these call."""
        callees: dict[Definition, Usage] = {}
        own = frozenset(targets)
        step = list(targets)
        for level in range(1, depth + 1):
            following: list[Definition] = []
            for target in step[:MAX_FOLLOWED]:
                for resolution in self._called(target):
                    for each in resolution.definitions:
                        if each not in callees and each not in own:
                            following += [each] if resolution.is_sure else []
                            callees[each] = usage_of(each)._replace(
                                rule=resolution.rule, candidates=resolution.meanings,
                                open=resolution.open, depth=level,
                            )  # fmt: skip
            step = following
        return list(callees.values())

    def _called(self, target: Definition) -> Iterable[Resolution]:
        """Yield the resolutions of the calls in the body of a definition, those of a library excepted."""
        file = self._names.file(target.entry)
        occurrences = file.occurrences
        for place in np.flatnonzero(is_among(occurrences.kinds, np.array(_CALLS))).tolist():
            line = int(occurrences.lines[place])
            whole = file.scope_of(target)
            if line < target.line or file.scopes.at(line)[: len(whole)] != whole:
                continue
            (each,) = occurrences.at([place])
            name, receiver = each.name.decode("utf-8", "replace"), each.receiver.decode("utf-8", "replace")
            resolution = self._resolver.resolve(file, name, receiver, line)
            if resolution.definitions:
                yield resolution
