"""The paths of several repositories as one view, for a search over all of them. Reads only what a search asks for.

A path begins with the name of its repository and a NUL byte: `flask\\0/src/app.py`. No path of git has one, so the name
neither collides with a folder nor gives its files a role, while its words count like those of a folder.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.store.view_file import View
from gitmem.types import REPOSITORY_END
from gitmem.words import count_identifiers, terms_of


class RepositoryView(NamedTuple):
    """View of a repository. The first `files` entries are files, the others records."""

    name: str
    view: View
    files: int


class CombinedView:
    """Entries of some views, one after the other."""

    def __init__(self, parts: Sequence[RepositoryView]) -> None:
        self._views = [part.view for part in parts]
        self._files = [part.files for part in parts]
        self._names = [part.name for part in parts]
        self._prefixes = [os.fsencode(name) + REPOSITORY_END + b"/" for name in self._names]
        self.bases: list[int] = np.cumsum([0] + [len(view) for view in self._views]).tolist()

    def __len__(self) -> int:
        return self.bases[-1]

    def locate(self, entry: int) -> tuple[int, int]:
        """Return the number of the part that an entry comes from, and its number there."""
        part = bisect_right(self.bases, entry) - 1
        return part, entry - self.bases[part]

    def path(self, entry: int) -> bytes:
        """Return the name of the repository of an entry, and its path there."""
        part, own = self.locate(entry)
        return self._prefixes[part] + self._views[part].path(own)

    def oid(self, entry: int) -> str:
        """Return the object id of an entry, in hex."""
        part, own = self.locate(entry)
        return self._views[part].oid(own)

    def same_blob(self, entry: int) -> list[int]:
        """Return the indexed entries of the same repository with the blob of an entry, ascending."""
        part, own = self.locate(entry)
        return [self.bases[part] + other for other in self._views[part].same_blob(own)]

    @cached_property
    def paths(self) -> list[bytes]:
        """All paths, in the order of the entries."""
        named = zip(self._prefixes, self._views, strict=True)
        return [prefix + path for prefix, view in named for path in view.paths]

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        """Return the entries whose path contains a word, ascending; None if it does not occur."""
        found = list(self._iter_postings(field, term))
        return np.concatenate(found) if found else None

    def _iter_postings(self, field: str, term: bytes) -> Iterator[NDArray[np.unsignedinteger]]:
        for part, view in enumerate(self._views):
            first = self.bases[part]
            if field == "folder" and term in self._name_terms[part]:
                # A word of the name counts for each file, as that of a folder above them would.
                yield np.arange(first, first + self._files[part], dtype=np.uint32)
                continue
            own = view.find_postings(field, term)
            if own is not None:
                yield own.astype(np.uint32) + np.uint32(first)

    @cached_property
    def _name_terms(self) -> list[frozenset[bytes]]:
        """Words of the name of each repository."""
        return [frozenset(map(str.encode, _words(name))) for name in self._names]


def _words(name: str) -> Iterator[str]:
    """Yield the words of a name as the index has them."""
    for identifier in count_identifiers(name).identifiers:
        yield from terms_of(identifier)
