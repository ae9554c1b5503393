"""Views that combine the entries of several others."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from gitmem.arrays import NDArray
from gitmem.store.view_file import View


class ComposedView(View):
    """View of entries from several parts. Its base and its file are those of the first one.

    A subclass says which part an entry comes from, and gathers the columns of its parts.
    """

    _parts: Sequence[View]

    @abstractmethod
    def _locate(self, entry: int) -> tuple[View, int]:
        """Return the part that an entry comes from, and its number there."""

    @property
    def base(self) -> View:
        return self._parts[0].base

    @property
    def file(self) -> Path:
        return self._parts[0].file

    def check(self) -> None:
        for part in self._parts:
            part.check()

    def require_as_opened(self) -> None:
        for part in self._parts:
            part.require_as_opened()

    @cached_property
    def oids(self) -> NDArray[np.uint8]:
        return self.gather(lambda part: part.oids)

    @cached_property
    def reasons(self) -> NDArray[np.uint8]:
        return self.gather(lambda part: part.reasons)

    def path(self, entry: int) -> bytes:
        part, place = self._locate(entry)
        return part.path(place)

    def oid(self, entry: int) -> str:
        part, place = self._locate(entry)
        return part.oid(place)

    def language(self, entry: int) -> str:
        part, place = self._locate(entry)
        return part.language(place)

    def reason(self, entry: int) -> int:
        part, place = self._locate(entry)
        return part.reason(place)
