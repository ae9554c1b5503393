"""Whether a reference without a definition may mean one that was removed from the tree.

Its name fits many of a library's as well, so the imports of its file must lead to the file of the removed definition,
or to a package above it.
"""

import posixpath
from collections.abc import Iterator, Sequence

from gitmem.chunking.languages import language_of
from gitmem.named_tuple import NamedTuple
from gitmem.references.definitions_by_name import package_of_path
from gitmem.references.file_names import FileNames, split_parts
from gitmem.references.languages import IMPORTING, PACKAGED, family_of, is_self
from gitmem.references.library_members import GLOBALS, OTHER_MEMBERS
from gitmem.references.tree_names import Names
from gitmem.types import DEFINING, OCCURRENCE_KINDS, UNKNOWN_RECEIVER, Occurrence

_PACKAGE_FILES = {"python": "__init__.py", "javascript": "index.js"}
"""File that represents a folder, by family of languages."""


class RemovedDefinition(NamedTuple):
    """Definition that the file at a path of a tree had. `container` are the names of the classes around it.

    Without an extension, the path says nothing about the language, and any file may mean it.
    """

    name: str
    container: Sequence[str]
    path: str
    tree: int = 0


def may_mean_removed(names: Names, entry: int, line: int, removed: RemovedDefinition) -> bool:
    """Return whether a name at a line of a file may mean a removed definition."""
    file = names.file(entry)
    if file.family != family_of(language_of(removed.path) or file.family):
        return False  # a heading of a document, or a function of another language
    if removed.tree not in names.reach(file):
        return False
    occurrences = file.occurrences
    return any(
        _fits(names, file, each, removed)
        for each in occurrences.at(occurrences.find(removed.name.encode()).tolist())
        if each.line == line and each.kind >= DEFINING
    )


def _fits(names: Names, file: FileNames, occurrence: Occurrence, removed: RemovedDefinition) -> bool:
    receiver = occurrence.receiver.decode("utf-8", "replace")
    if OCCURRENCE_KINDS[occurrence.kind] in ("import", "alias"):
        return _leads_to(names, file, receiver.partition(":")[0], removed)
    parts = split_parts(receiver)
    container = removed.container
    if container and removed.name in OTHER_MEMBERS.get(file.family, ()) and container[-1] not in parts:
        return False  # nearly always a member of a type of the language
    head = parts[0] if parts else removed.name
    # The first name of the receiver, or the name itself, comes from an import, or the file defines it.
    bindings = file.bindings.get(head)
    if bindings is not None and occurrence.receiver != UNKNOWN_RECEIVER:
        return any(_leads_to(names, file, binding.module, removed) for binding in bindings)
    if parts and head in GLOBALS.get(file.family, ()):
        return False
    if receiver:
        # Of an object nothing but the member's name is known.
        return bool(container) or (file.family not in IMPORTING and not is_self(head, file.family))
    is_own = file.tree == removed.tree
    if is_own and file.path == removed.path:
        return True
    if any(_leads_to(names, file, module, removed) for module in file.stars):
        return True
    if file.family in PACKAGED:
        return is_own and package_of_path(file.path, file.family) == package_of_path(removed.path, file.family)
    return file.family not in IMPORTING


def _leads_to(names: Names, file: FileNames, module: str, removed: RemovedDefinition) -> bool:
    """Return whether a module is a file, or a package above it that may have exported its definitions."""
    return any(
        names.names_path(module, file, target, removed.tree)
        for target in (removed.path, *_packages(removed.path, file.family))
    )


def _packages(path: str, family: str) -> Iterator[str]:
    """Yield the files that represent the folders above a path."""
    # `from package import name` stays written like this when the name moves inside of the package.
    folder = posixpath.dirname(path)
    while folder and family in _PACKAGE_FILES:
        yield posixpath.join(folder, _PACKAGE_FILES[family])
        folder = posixpath.dirname(folder)
