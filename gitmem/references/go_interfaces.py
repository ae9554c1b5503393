"""Find which types of Go implement which interfaces: those that have all of the methods, without naming them.

Methods are compared by their names and by the names of types in their heads. The names of built-in types are not known,
so `Len() int` and `Len() string` are the same.
"""

import re
from bisect import bisect_right
from itertools import chain, islice
from typing import Final

import numpy as np

from gitmem.references.class_members import ClassMembers
from gitmem.references.file_names import CLASS, CODES, FUNCTION, Definition, FileNames
from gitmem.references.module_exports import unique
from gitmem.references.tree_names import Names

FAMILY: Final = "go"
_MAX_INTERFACES: Final = 60
"""Interfaces with a method of one name that are looked at."""

_MAX_HEAD: Final = 12
"""Lines of the head of a method."""

_TYPE: Final = CODES["type"]
_TYPE_PARAMETER: Final = re.compile(r"[A-Z][0-9]?$")


class GoInterfaces:
    """Finds implementations of interfaces in one tree, or in several, for one query."""

    def __init__(self, names: Names, classes: ClassMembers) -> None:
        self._names = names
        self._classes = classes
        self._methods: dict[Definition, list[Definition]] = {}
        self._implemented: dict[tuple[Definition, Definition], bool] = {}

    def implementing(self, interface: Definition) -> list[Definition]:
        """Return the types that implement an interface; those that only embed such a type are left out."""
        if interface.kind != CLASS or self._names.file(interface.entry).family != FAMILY:
            return []
        names = {method.name: None for method in self._methods_of(interface)}
        # A type may have some of the methods from one that it embeds.
        members = chain.from_iterable(self._methods_named(name, is_declared=False) for name in names)
        types = unique(class_ for member in members for class_ in self._classes.classes_of(member))
        return [each for each in types if self._implements(each, interface)]

    def methods_above(self, method: Definition) -> list[Definition]:
        """Return the methods of interfaces that a method implements."""
        if method.kind != FUNCTION or self._is_declared(method):
            return []
        types = self._classes.classes_of(method)
        return [
            each
            for each in islice(self._methods_named(method.name, is_declared=True), _MAX_INTERFACES)
            if any(self._implements(type_, on) for type_ in types for on in self._classes.classes_of(each))
        ]

    def _methods_named(self, name: str, *, is_declared: bool) -> list[Definition]:
        """Return the methods of a name that have a body, or those of interfaces, which have none."""
        return [
            each
            for each in self._names.definitions(name)
            if each.kind == FUNCTION and each.container and self._names.file(each.entry).family == FAMILY
            and self._is_declared(each) == is_declared
        ]  # fmt: skip

    def _is_declared(self, method: Definition) -> bool:
        """Return whether a method is one of an interface: without a body it has no scope of its own."""
        return self._names.file(method.entry).scopes.at(method.line) == method.container

    def _implements(self, type_: Definition, interface: Definition) -> bool:
        key = type_, interface
        if key not in self._implemented:
            methods = self._methods_of(interface)
            self._implemented[key] = bool(methods) and all(self._has_method(type_, method) for method in methods)
        return self._implemented[key]

    def _methods_of(self, interface: Definition) -> list[Definition]:
        """Return the methods of an interface and of those that it embeds."""
        if interface not in self._methods:
            methods: list[Definition] = []
            for each in self._classes.with_bases([interface]):
                whole = (*each.container, each.name)
                inside = (on for on in self._names.file(each.entry).all_definitions() if on.container == whole)
                methods += (on for on in inside if on.kind == FUNCTION and self._is_declared(on))
            self._methods[interface] = methods
        return self._methods[interface]

    def _has_method(self, type_: Definition, needed: Definition) -> bool:
        return any(
            self._is_declared(method) or self._may_be(method, needed)
            for method in self._classes.members(type_, needed.name)
        )

    def _may_be(self, method: Definition, needed: Definition) -> bool:
        """Return whether a method may have the parameters and results of one of an interface."""
        own, other = self._names.file(method.entry), self._names.file(needed.entry)
        types = _types(other, needed.line, _next_line(other, needed.line))
        if not types <= _types(own, method.line, _next_line(own, method.line)):
            return False
        # If the whole method is on one line, some types may be those of its body.
        is_one_line = own.scopes.at(method.line + 1) != own.scopes.at(method.line)
        return is_one_line or _types(own, method.line, method.line + 1) - {method.container[-1]} <= types


def _next_line(file: FileNames, line: int) -> int:
    """Return the line of the definition behind the one at a line, or that behind its head."""
    lines = [each.line for each in file.all_definitions()]
    following = bisect_right(lines, line)
    return min(lines[following] if following < len(lines) else line + _MAX_HEAD, line + _MAX_HEAD)


def _types(file: FileNames, first: int, end: int) -> set[str]:
    """Return the names of types on some lines, parameters of types excepted."""
    occurrences = file.occurrences
    on_lines = (occurrences.lines >= first) & (occurrences.lines < end) & (occurrences.kinds == _TYPE)
    names = (each.name.decode("utf-8", "replace") for each in occurrences.at(np.flatnonzero(on_lines).tolist()))
    return {name for name in names if not _TYPE_PARAMETER.match(name)}
