"""Definitions of a name by language and folder, for references of which nothing but the name is known.

A name may have thousands of definitions and of references, so each list is made once for a query.
"""

from typing import NamedTuple

from gitmem.references.languages import IMPORTING, OTHER_MEMBERS
from gitmem.references.tree_names import Definition, FileNames, TreeNames


class Resolution(NamedTuple):
    """Definitions that a reference may mean, and the rule that found them: import, class, type, file, package, name.

    `open` says that it may also mean something outside of the tree.
    """

    definitions: tuple[Definition, ...]
    rule: str
    open: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether exactly one definition is meant."""
        return len(self.definitions) == 1 and not self.open


class DefinitionsByName:
    """Definitions in one tree, for one query."""

    def __init__(self, names: TreeNames) -> None:
        self._names = names
        self._families: dict[tuple[str, str], list[Definition]] = {}
        self._folders: dict[tuple[str, str, str], list[Definition]] = {}
        self._all_by_name: dict[tuple[str, str], Resolution] = {}
        self._members_by_name: dict[tuple[str, str], Resolution] = {}

    def members(self, file: FileNames, name: str) -> Resolution:
        """Return the members of that name of all classes: the object before the name is not known."""
        key = file.family, name
        if key not in self._members_by_name:
            matches = self.of_family(file, name)
            members = [each for each in matches if each.container]
            if file.family not in IMPORTING:
                members = members or matches
            may_be_other = name in OTHER_MEMBERS.get(file.family, ())
            self._members_by_name[key] = Resolution(tuple(members), "name", may_be_other)
        return self._members_by_name[key]

    def all(self, file: FileNames, name: str) -> Resolution:
        """Return the definitions of a name at the top level of files, or else all."""
        key = file.family, name
        if key not in self._all_by_name:
            matches = self.of_family(file, name)
            self._all_by_name[key] = Resolution(
                tuple([each for each in matches if not each.container] or matches), "name"
            )
        return self._all_by_name[key]

    def of_family(self, file: FileNames, name: str) -> list[Definition]:
        """Return the definitions of a name in the language of a file, and in those that share names with it."""
        key = file.family, name
        if key not in self._families:
            definitions = self._names.definitions(name)
            self._families[key] = [each for each in definitions if self._names.file(each.entry).family == file.family]
        return self._families[key]

    def in_folder(self, file: FileNames, name: str) -> list[Definition]:
        """Return the definitions of a name at the top level of the files in the folder of a file."""
        key = file.family, name, folder_of(file.path)
        if key not in self._folders:
            self._folders[key] = [
                each
                for each in self.of_family(file, name)
                if not each.container and folder_of(self._names.file(each.entry).path) == key[2]
            ]
        return self._folders[key]


def folder_of(path: str) -> str:
    """Return the folder of a path."""
    return path.rpartition("/")[0]
