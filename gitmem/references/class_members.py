"""Classes of a tree: those around a line, the classes above them, and their members."""

from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Final

import numpy as np

from gitmem.references.definitions_by_name import DefinitionsByName, Resolution, package_of
from gitmem.references.file_names import CLASS, CODES, Definition, FileNames
from gitmem.references.languages import EXTENDED
from gitmem.references.module_exports import unique
from gitmem.references.tree_names import Names
from gitmem.types import Occurrence

_DEPTH: Final = 6
"""Steps through base classes. Real code has fewer, and cycles end here."""

_MAX_ABOVE: Final = 60
"""Classes whose base classes are looked for, one after the other."""

_NEAREST: Final = 20
"""Classes above a line among which the one around it is looked for."""

_BASE: Final = CODES["base"]


class ClassMembers:
    """Finds classes and their members. `resolve` finds the class that a name above one means, as in any other place."""

    def __init__(
        self,
        names: Names,
        by_name: DefinitionsByName,
        resolve: Callable[[FileNames, str, str, int], Resolution],
    ) -> None:
        self._names = names
        self._by_name = by_name
        self._resolve = resolve
        self._bases: dict[Definition, list[Definition]] = {}
        self._members: dict[tuple[Definition, str], list[Definition]] = {}
        self._unfinished = 0

    def bases(self, class_: Definition) -> list[Definition]:
        """Return the classes of the tree that a class extends, as far as they are known."""
        if class_ not in self._bases:
            self._bases[class_] = []  # until they are known: wrong code can extend itself
            self._unfinished += 1
            file = self._names.file(class_.entry)
            self._bases[class_] = [
                each
                for name, receiver in self._base_names(file, class_)
                for each in self._resolve(file, name, receiver, class_.line).definitions
                if self._by_name.is_class(each) and each != class_
            ]
            self._unfinished -= 1
        return self._bases[class_]

    def with_bases(self, classes: Iterable[Definition]) -> list[Definition]:
        """Return some classes and those above them, nearest first."""
        seen = dict.fromkeys(classes)
        queue = list(seen)
        for class_ in islice(queue, _MAX_ABOVE):
            bases = [each for each in self.bases(class_) if each not in seen]
            seen.update(dict.fromkeys(bases))
            queue += bases
        return list(seen)

    def classes_of(self, member: Definition) -> list[Definition]:
        """Return the class of a member, in all its parts; none for other definitions."""
        around = self.innermost(self._names.file(member.entry), member.line)
        return [each for each in around if each.name in member.container[-1:]]

    def bases_of_member(self, member: Definition) -> list[Definition]:
        """Return the classes that the one of a member extends, be it where that class is defined or around the member.

        A type with an implementation of a trait may be a library's, or be defined in another file.
        """
        file = self._names.file(member.entry)
        classes = self.classes_of(member)
        bases = [base for class_ in classes for base in self.bases(class_)]
        if file.family in EXTENDED:
            size = len(member.container)
            for each in file.occurrences.at(np.flatnonzero(file.occurrences.kinds == _BASE).tolist()):
                if file.scopes.at(each.line)[:size] == member.container:
                    name, receiver = each.name.decode("utf-8", "replace"), each.receiver.decode("utf-8", "replace")
                    classes_above = self._resolve(file, name, receiver, each.line).definitions
                    bases += (base for base in classes_above if self._by_name.is_class(base) and base not in classes)
        return unique(bases)

    def members_above(self, file: FileNames, name: str, line: int) -> list[Definition]:
        """Return the definitions of a member in the classes above the one around a line; a library's are none."""
        classes = self.innermost(file, line)
        return unique(each for class_ in classes for base in self.bases(class_) for each in self.members(base, name))

    def own_members(self, file: FileNames, name: str, line: int) -> list[Definition]:
        """Return the definitions of a member in the class around a line, or else those above it."""
        return unique(each for class_ in self.innermost(file, line) for each in self.members(class_, name))

    def innermost(self, file: FileNames, line: int) -> list[Definition]:
        """Return the innermost class around a line; in some languages its definition is in another file."""
        around = file.scopes.at(line)
        for size in range(len(around), 0, -1):
            own = [each for each in file.definitions(around[size - 1]) if each.container == around[: size - 1]]
            classes = [each for each in own if self._by_name.is_class(each)]
            if not classes and file.family in EXTENDED:
                classes = [each for each in self._by_name.of_family(file, around[size - 1]) if each.kind == CLASS]
            if classes:
                return classes
        return []

    def members(self, class_: Definition, name: str) -> list[Definition]:
        """Return the definitions of a member of a class: its own, or else those of its base classes, nearest first."""
        key = class_, name
        if key in self._members:
            return self._members[key]
        matches = self._find_members(class_, name)
        if not self._unfinished:
            self._members[key] = matches
        return matches

    def _find_members(self, class_: Definition, name: str) -> list[Definition]:
        matches: list[Definition] = []
        seen = {class_}
        step = [class_]
        for _ in range(_DEPTH + 1):
            declared = {each: self.declared(each, name) for each in step}
            matches += chain.from_iterable(declared.values())
            above = (base for each in step if not declared[each] for base in self.bases(each))
            step = [base for base in unique(above) if base not in seen]  # two classes can share a base
            seen.update(step)
        return unique(matches)

    def declared(self, class_: Definition, name: str) -> list[Definition]:
        """Return the definitions of a member that a class has itself."""
        file = self._names.file(class_.entry)
        whole = (*class_.container, class_.name)
        if file.family not in EXTENDED:
            return [each for each in file.definitions(name) if each.container == whole]
        matches = [each for each in self._by_name.of_family(file, name) if each.container[-1:] == whole[-1:]]
        near = [each for each in matches if package_of(self._names.file(each.entry)) == package_of(file)]
        return near or matches

    def _base_names(self, file: FileNames, class_: Definition) -> list[tuple[str, str]]:
        """Return the names and receivers of the classes that a class extends, as written."""
        matches = file.occurrences.at(np.flatnonzero(file.occurrences.kinds == _BASE).tolist())
        whole = (*class_.container, class_.name)  # a class inside of a function is no scope of its own
        return [
            (each.name.decode("utf-8", "replace"), each.receiver.decode("utf-8", "replace"))
            for each in matches
            if each.line >= class_.line and file.scopes.at(each.line)[: len(whole)] in (whole, class_.container)
            and self.class_of_base(file, each.line) == class_
        ]  # fmt: skip

    def class_of_base(self, file: FileNames, line: int) -> Definition | None:
        """Return the class that extends a base class at a line: in its header, or in a statement of its body."""
        classes = file.occurrences.at(
            np.flatnonzero((file.occurrences.kinds == CLASS) & (file.occurrences.lines <= line)).tolist()
        )
        if not classes:
            return None
        # Classes that end above the line are not meant, unless the scopes know none around it.
        around = file.scopes.at(line)
        nearest = classes[: -_NEAREST - 1 : -1]
        for occurrence in nearest:
            class_ = self._class(file, occurrence)
            if (*class_.container, class_.name) == around:
                return class_
        return self._class(file, nearest[0])

    def _class(self, file: FileNames, occurrence: Occurrence) -> Definition:
        name = occurrence.name.decode("utf-8", "replace")
        return Definition(file.entry, occurrence.line, CLASS, name, file.scopes.container(name, occurrence.line))
