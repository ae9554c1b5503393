"""Blobs of the versions of files, and their elements. A blob that cannot be parsed has none."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from gitmem.chunking.element import NO_ELEMENTS, FileElements, text_with_elements
from gitmem.chunking.languages import language_of
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text
from gitmem.history.trace_cache import TraceCache
from gitmem.history.version import FileVersion
from gitmem.words import utf8_text

_AHEAD: Final = 24
"""Blobs read at once from those that will be needed next."""

_CACHED: Final = 8
"""Files whose elements are kept: a version is compared with its parents, then becomes the version to compare."""


class ElementReader:
    """Blobs of one repository and their elements. The caller closes `blobs` and the parser.

    `check` is called before each blob is used, and may raise. `cache` has the elements of blobs parsed earlier.
    `is_complete` is whether all blobs could be read and parsed so far; `missing` are those that could not be read.
    """

    def __init__(
        self,
        blobs: ObjectReader,
        parse: Callable[[bytes, str], FileElements | None],
        check: Callable[[], None] | None = None,
        cache: TraceCache | None = None,
    ) -> None:
        self._blobs = blobs
        self._parse = parse
        self._check = check
        self._cache = cache
        self.is_complete = True
        self.missing: set[str] = set()
        self._data: dict[str, bytes] = {}
        self._expected: dict[str, int] = {}
        self._order: list[str] = []
        self._tokens: dict[bytes, bytes] = {}
        self._elements: dict[tuple[str, str], FileElements] = {}

    def expect(self, oids: Sequence[str]) -> None:
        """Announce blobs that will be read, in this order."""
        self._order = [oid for oid in dict.fromkeys(oids) if oid]
        self._expected = {oid: place for place, oid in enumerate(self._order)}

    def note_missing(self, oids: Iterable[str]) -> None:
        """Add blobs that git itself could not read."""
        self.missing.update(oids)
        self.is_complete = self.is_complete and not self.missing

    def read(self, oid: str) -> bytes:
        """Return the text of a blob in UTF-8; nothing if it is "", missing or damaged."""
        if not oid:
            return b""
        if self._check is not None:
            self._check()
        if oid not in self._data:
            place = self._expected.get(oid)
            wanted = self._order[place : place + _AHEAD] if place is not None else [oid]
            recent = dict(list(self._data.items())[-_CACHED:])
            contents = dict(self._blobs.read_many(wanted))
            self.note_missing(name for name, content in contents.items() if content is None)
            self._data = recent | {name: utf8_text(content or b"") for name, content in contents.items()}
        return self._data[oid]

    def version(self, path: bytes, oid: str) -> FileVersion:
        """Return a blob as the file at a path, which determines its language."""
        language = language_of(path_text(path))
        parse = partial(self._find_elements, path, oid, language)
        return FileVersion(path, oid, text_with_elements(self.read(oid), language), parse, self._tokens)

    def keep(self, file: FileVersion) -> None:
        """Add the elements of a file to the cache."""
        language = language_of(path_text(file.path))
        if self._cache is not None and self._cache.find_elements(file.path, file.oid, language) is None:
            elements = file.file
            if self.is_complete:
                self._cache.add_elements(file.path, file.oid, language, elements)

    def _find_elements(self, path: bytes, oid: str, language: str) -> FileElements:
        found = self._elements.get((oid, language))
        if found is None and self._cache is not None:
            found = self._cache.find_elements(path, oid, language)
        if found is None:
            data = self.read(oid)
            found = self._parse(data, language) if data else NO_ELEMENTS
            if found is None:
                self.is_complete, found = False, NO_ELEMENTS
            self._elements = {**dict(list(self._elements.items())[-_CACHED:]), (oid, language): found}
        return found
