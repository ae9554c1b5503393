"""Names in the trees of several repositories that import each other by the names of packages.

A file sees its own tree, and those that provide a package which it imports. So a name that an unrelated repository has
as well makes no place less certain.
"""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from gitmem.arrays import NDArray
from gitmem.references.file_names import Definition, FileNames
from gitmem.references.provided_packages import ProvidedPackages, is_beside
from gitmem.references.tree_names import TreeNames
from gitmem.store.occurrences import DEFINED


class JoinedNames:
    """Names in some trees, for one query. The entries of each tree begin where those of the one before it end."""

    def __init__(self, trees: Sequence[TreeNames], provided: Sequence[ProvidedPackages]) -> None:
        """`provided` are the packages of each tree."""
        self._trees = trees
        self._provided = provided
        self._first = [tree.first for tree in trees]
        self._reached: dict[int, frozenset[int]] = {}
        self._providers: dict[tuple[int, str], frozenset[int]] = {}

    def tree_of(self, entry: int) -> int:
        """Return the number of the tree that an entry is in."""
        return bisect_right(self._first, entry) - 1

    def file(self, entry: int) -> FileNames:
        """Return the names of a file. Raises DamagedFile."""
        return self._trees[self.tree_of(entry)].file(entry)

    def has_names(self, entry: int) -> bool:
        """Return whether the index has the content of a file."""
        return self._trees[self.tree_of(entry)].has_names(entry)

    def imports_others(self, tree: int) -> bool:
        """Return whether another tree provides packages, so that the files of a tree may import them."""
        return any(packages.families for number, packages in enumerate(self._provided) if number != tree)

    def defining(self, name: str, tree: int) -> NDArray[np.int64]:
        """Return the files of a tree that define a name."""
        return self._trees[tree].entries(name, DEFINED)

    def entries(self, name: str, roles: int) -> NDArray[np.int64]:
        """Return the files in which a name has one of some roles, ascending."""
        return np.concatenate([tree.entries(name, roles) for tree in self._trees])

    def definitions(self, name: str) -> list[Definition]:
        """Return the definitions of a name in all files, in the order of trees, paths and lines."""
        return [definition for tree in self._trees for definition in tree.definitions(name)]

    def word_counts(self, text: str) -> list[tuple[int, int]]:
        """Return the files whose chunks have all words of a text, and how often each has its rarest word."""
        return [of_file for tree in self._trees for of_file in tree.word_counts(text)]

    def importers(self, name: str) -> list[int]:
        """Return the files that import a name."""
        return [entry for tree in self._trees for entry in tree.importers(name)]

    def reach(self, file: FileNames) -> frozenset[int]:
        """Return the trees that a file sees: its own, and those of which it imports a package."""
        reached = self._reached.get(file.entry)
        if reached is None:
            modules = {binding.module for bindings in file.bindings.values() for binding in bindings}
            reached = frozenset({file.tree}).union(*(self._trees_of(file, module) for module in modules))
            self._reached[file.entry] = reached
        return reached

    def names_module(self, module: str, file: FileNames, other: FileNames) -> bool:
        """Return whether a module, as a file writes it, is another file or the package that this is in."""
        return self.names_path(module, file, other.path, other.tree)

    def names_path(self, module: str, file: FileNames, path: str, tree: int) -> bool:
        """Return the same for a path of a tree, at which there need not be a file."""
        providers = self._trees_of(file, module)
        if tree != file.tree:
            return tree in providers and self._provided[tree].names_file(module, path, file.family)
        # An import goes to one place: a folder of the same name in the own tree is another.
        own = self._trees[tree]
        return (not providers or tree in providers) and own.names_path(module, file, path, tree)

    def has_path(self, path: str, tree: int) -> bool:
        """Return whether a tree has a file at a path."""
        return self._trees[tree].has_path(path)

    def _trees_of(self, file: FileNames, module: str) -> frozenset[int]:
        """Return the trees that provide a module: the own one alone if it does."""
        key = file.entry, module
        providers = self._providers.get(key)
        if providers is None:
            own = file.tree
            if self._provided[own].provides(module, file.family) or is_beside(
                module, file.path, file.family, self._trees[own].has_path
            ):
                providers = frozenset({own})
            else:
                providers = frozenset(
                    number for number, packages in enumerate(self._provided) if packages.provides(module, file.family)
                )
            self._providers[key] = providers
        return providers
