"""Elements of the versions of files, parsed in a child process. A blob that crashes it has none."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import BinaryIO, Final

from gitmem.chunking.elements import NO_ELEMENTS, Element, FileElements
from gitmem.chunking.languages import language_of
from gitmem.closeable import Closeable
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text
from gitmem.history.element_worker import main
from gitmem.history.version import FileVersion
from gitmem.processes.child import ChildProcess
from gitmem.processes.fork import can_fork
from gitmem.processes.frames import read_frame, write_frame

COMMAND: Final = (sys.executable, "-P", "-m", "gitmem.history.element_worker")

_SECONDS: Final = 60.0
"""Wall time after which the child counts as stuck. A parse ends itself after a second of processor time."""

_AHEAD: Final = 24
"""Blobs read at once from those that will be needed next."""

_CACHED: Final = 8
"""Files whose elements are kept: a version is compared with its parents, then becomes the version to compare."""


class ElementParser(Closeable):
    """Child process that finds elements. It is started when first needed, and again after a blob crashed it."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None

    def __call__(self, data: bytes, language: str) -> FileElements:
        """Return the elements of a blob. Raises WorkersFailed if the process cannot be started."""
        if self._child is None:
            self._child = ChildProcess(COMMAND, "parser of old versions")
            if can_fork():
                self._child.fork(main)
        answer = self._child.ask(partial(write_frame, value=(language, data)), _read_answer, _SECONDS)
        return NO_ELEMENTS if answer is None else answer

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.end()
            child.close()


class ElementReader:
    """Blobs of one repository and their elements. The caller closes `blobs` and the parser.

    `check` is called before each blob is used, and may raise.
    """

    def __init__(
        self,
        blobs: ObjectReader,
        parse: Callable[[bytes, str], FileElements],
        check: Callable[[], None] | None = None,
    ) -> None:
        self._blobs = blobs
        self._parse = parse
        self._check = check
        self._data: dict[str, bytes] = {}
        self._expected: dict[str, int] = {}
        self._order: list[str] = []
        self._elements: dict[tuple[str, str], FileElements] = {}

    def expect(self, oids: Sequence[str]) -> None:
        """Announce blobs that will be read, in this order."""
        self._order = [oid for oid in dict.fromkeys(oids) if oid]
        self._expected = {oid: place for place, oid in enumerate(self._order)}

    def read(self, oid: str) -> bytes:
        """Return the content of a blob; nothing if it is "", missing or damaged."""
        if not oid:
            return b""
        if self._check is not None:
            self._check()
        if oid not in self._data:
            place = self._expected.get(oid)
            wanted = self._order[place : place + _AHEAD] if place is not None else [oid]
            recent = dict(list(self._data.items())[-_CACHED:])
            self._data = recent | {name: content or b"" for name, content in self._blobs.read_many(wanted)}
        return self._data[oid]

    def version(self, path: bytes, oid: str) -> FileVersion:
        """Return a blob as the file at a path, which determines its language."""
        return FileVersion(path, self.read(oid), partial(self._find_elements, oid, language_of(path_text(path))))

    def _find_elements(self, oid: str, language: str) -> FileElements:
        found = self._elements.get((oid, language))
        if found is None:
            data = self.read(oid)
            found = self._parse(data, language) if data else NO_ELEMENTS
            self._elements = {**dict(list(self._elements.items())[-_CACHED:]), (oid, language): found}
        return found


def _read_answer(stream: BinaryIO) -> FileElements:
    elements, comments = read_frame(stream)
    return FileElements([Element(*fields) for fields in elements], [(start, end) for start, end in comments])
