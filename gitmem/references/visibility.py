"""Which definitions of a name a file sees: those that are private are known in their own file, class or module alone.

A name may have hundreds of private definitions, one in each file, so they are kept by file.
"""

import posixpath
from collections.abc import Hashable, Iterable, Sequence

from gitmem.named_tuple import NamedTuple
from gitmem.references.file_names import CLASS, Definition, FileNames
from gitmem.references.rust_paths import is_below
from gitmem.references.tree_names import Names


class _Divided(NamedTuple):
    """Definitions that all files see, and the private ones by file."""

    shared: list[Definition]
    private: dict[int, list[Definition]]


class Visibility:
    """Private definitions in some trees, for one query. Keys name lists of definitions."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._divided: dict[Hashable, _Divided] = {}
        self._seen: dict[tuple[Hashable, int], list[Definition]] = {}

    def has_private(self, key: Hashable, definitions: Sequence[Definition]) -> bool:
        """Return whether some definitions are private, so that files see different ones."""
        return bool(self._divide(key, definitions).private)

    def seen(self, file: FileNames, key: Hashable, definitions: list[Definition]) -> list[Definition]:
        """Return those of some definitions that a file sees, in their order."""
        divided = self._divide(key, definitions)
        if not divided.private:
            return definitions
        own = key, file.entry
        if own not in self._seen:
            entries = self._entries(file, divided.private)
            private = [each for entry in entries for each in divided.private[entry]]
            self._seen[own] = sorted([*divided.shared, *private]) if private else divided.shared
        return self._seen[own]

    def _divide(self, key: Hashable, definitions: Sequence[Definition]) -> _Divided:
        if key not in self._divided:
            divided = self._divided[key] = _Divided([], {})
            for each in definitions:
                is_private = self._names.file(each.entry).is_private(each)
                (divided.private.setdefault(each.entry, []) if is_private else divided.shared).append(each)
        return self._divided[key]

    def _entries(self, file: FileNames, private: dict[int, list[Definition]]) -> Iterable[int]:
        """Return the files whose private definitions another one sees."""
        if file.family == "rust":
            return [entry for entry in private if is_below(file.path, self._names.file(entry).path)]
        if file.family == "csharp":
            return [entry for entry in private if entry == file.entry or _shares_class(file, private[entry])]
        own = [file.entry] if file.entry in private else []
        sources = file.included_sources
        if not sources:
            return own
        return own + [
            entry
            for entry in private
            if entry != file.entry and posixpath.basename(self._names.file(entry).path) in sources
        ]


def _shares_class(file: FileNames, definitions: Iterable[Definition]) -> bool:
    """Return whether a file has a part of the class that some definitions are members of."""
    names = {name for each in definitions for name in each.container[-1:]}
    return any(each.kind == CLASS for name in names for each in file.definitions(name))
