"""Find the members of classes that override each other: a call of one may run the other.

A class overrides members of the classes and traits that it names; types of Go, methods of interfaces that they do not
name. Calls are decided by the object when the program runs, so private members do not count.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Final

from gitmem.references.class_members import ClassMembers
from gitmem.references.file_names import CLASS, Definition, FileNames, split_parts
from gitmem.references.go_interfaces import FAMILY, GoInterfaces
from gitmem.references.languages import ABOVE, BARE_MEMBERS, is_self
from gitmem.references.module_exports import unique
from gitmem.references.tree_names import Names
from gitmem.types import Occurrence

_TRAITS: Final = "rust"
"""Family in which the name of a trait before a function, `Load::load(x)`, says nothing about the type."""


class Overrides:
    """Finds overridden members in one tree, or in several, for one query."""

    def __init__(self, names: Names, classes: ClassMembers) -> None:
        self._names = names
        self._classes = classes
        self._interfaces = GoInterfaces(names, classes)
        self._overridden: dict[Definition, list[Definition]] = {}

    def overridden(self, member: Definition) -> list[Definition]:
        """Return the members that one overrides or implements, nearest first; none for other definitions."""
        if member not in self._overridden:
            self._overridden[member] = self._find_overridden(member)
        return self._overridden[member]

    def overriding(self, members: Iterable[Definition]) -> dict[Definition, Definition]:
        """Return the members that override or implement some members, each with the nearest one."""
        targets = {each for each in members if each.kind != CLASS and each.container}
        others = (each for name in {each.name: None for each in targets} for each in self._names.definitions(name))
        return {each: bases[0] for each in others if (bases := [on for on in self.overridden(each) if on in targets])}

    def implementing(self, interfaces: Iterable[Definition]) -> dict[Definition, Definition]:
        """Return the types that have all methods of some interfaces without naming them, each with its interface."""
        return {type_: interface for interface in interfaces for type_ in self._interfaces.implementing(interface)}

    def may_run(self, member: Definition, base: Definition, file: FileNames, call: Occurrence) -> bool:
        """Return whether a call or use of an overridden member, `base`, may mean the one that overrides it."""
        receiver = split_parts(call.receiver.decode("utf-8", "replace"))
        if receiver and (receiver[-1] in ABOVE or (receiver[-1] == base.container[-1] and file.family != _TRAITS)):
            return False  # exactly that one: `super.load()`, `Base.load(self)`
        is_own = len(receiver) == 1 and is_self(receiver[0], file.family)
        if not is_own and (receiver or file.family not in BARE_MEMBERS):
            return True
        # The own object may be one of the member's class only in that class and in those above it.
        around = self._classes.innermost(file, call.line)
        above = {*self._classes.classes_of(member), *self._above(member)}
        return not around or any(class_ in above for class_ in around)

    def _find_overridden(self, member: Definition) -> list[Definition]:
        file = self._names.file(member.entry)
        if member.kind == CLASS or not member.container:
            return []
        if file.family == FAMILY:
            return self._interfaces.methods_above(member)
        members = chain.from_iterable(self._classes.declared(each, member.name) for each in self._above(member))
        return [
            each for each in unique(members) if each.kind != CLASS and each != member and not self._is_private(each)
        ]

    def _is_private(self, member: Definition) -> bool:
        return self._names.file(member.entry).is_private(member)

    def _above(self, member: Definition) -> list[Definition]:
        """Return the classes above that of a member, nearest first."""
        return self._classes.with_bases(self._classes.bases_of_member(member))
