"""One view over the files of a tree and the records of the memory, for queries that search both."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gitmem.arrays import NDArray
from gitmem.indexing.record_views import PREFIX, Records
from gitmem.store.composed_view import ComposedView
from gitmem.store.postings import Postings
from gitmem.store.view_file import View


class JoinedView(ComposedView):
    """View of files followed by a view of records: entries from `first_count` on are records.

    Only files are found by the terms of their paths.
    """

    def __init__(self, first: View, records: Records) -> None:
        self.tree = first.tree
        self._parts = (first, records)
        self.records = records
        self.first_count = len(first)
        self._count = len(first) + len(records)
        # Codes of the files stay valid; languages of records are appended.
        codes = {name: code for code, name in enumerate(first.languages)}
        self._second_codes = np.array([codes.setdefault(name, len(codes)) for name in records.languages], np.uint16)
        self.languages = list(codes)

    def gather(self, join: Callable[[View], NDArray[Any]]) -> NDArray[Any]:
        # An empty part is left out: it does not know the width of its ids.
        values = [part.gather(join) for part in self._parts if len(part)]
        return np.concatenate(values) if values else self._parts[0].gather(join)

    @cached_property
    def language_codes(self) -> NDArray[np.uint16]:
        first, second = self._parts
        if not len(second):
            return first.language_codes
        return np.concatenate([first.language_codes, self._second_codes[second.language_codes]])

    def _locate(self, entry: int) -> tuple[View, int]:
        first, second = self._parts
        return (first, entry) if entry < len(first) else (second, entry - len(first))

    def find_blob(self, key: int) -> list[int]:
        first, second = self._parts
        return first.find_blob(key) + [len(first) + entry for entry in second.find_blob(key)]

    def find(self, path: bytes) -> int | None:
        first, second = self._parts
        place = second.find(path) if path.startswith(PREFIX) else first.find(path)
        return place if place is None or not path.startswith(PREFIX) else place + len(first)

    @cached_property
    def paths(self) -> list[bytes]:
        return [path for part in self._parts for path in part.paths]

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        return self._parts[0].find_postings(field, term)

    def load_postings(self, field: str) -> Postings:
        return self._parts[0].load_postings(field)

    def below(self, folders: Sequence[bytes]) -> NDArray[np.bool_]:
        """Return a mask of the entries that are records below some folders, [entries]."""
        mask = np.zeros(len(self), bool)
        for folder in folders:
            entries = self.records.folder(folder)
            mask[self.first_count + entries.start : self.first_count + entries.stop] = True
        return mask
