"""Parser of old versions of files, in a child process."""

import sys
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Final

from gitmem.chunking.element import Element, FileElements
from gitmem.closeable import Closeable

if TYPE_CHECKING:
    from gitmem.processes.child import ChildProcess

COMMAND: Final = (sys.executable, "-P", "-m", "gitmem.history.element_worker")

_SECONDS: Final = 60.0
"""Wall time after which the child counts as stuck. A parse ends itself after a second of processor time."""


class ElementParser(Closeable):
    """Child process that finds elements. It is started when first needed, and again after a blob crashed it."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None

    def __call__(self, data: bytes, language: str) -> FileElements | None:
        """Return the elements of a blob, None if it crashed the process. Raises WorkersFailed if that cannot start."""
        from gitmem.processes.frames import write_frame

        if self._child is None:
            self._child = _start()
        return self._child.ask(partial(write_frame, value=(language, data)), _read_answer, _SECONDS)

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.end()
            child.close()


def _start() -> "ChildProcess":
    """Return the child. Cached histories need none, so its modules are imported here."""
    from gitmem.history.element_worker import main
    from gitmem.processes.child import ChildProcess
    from gitmem.processes.fork import can_fork

    child = ChildProcess(COMMAND, "parser of old versions")
    if can_fork():
        child.fork(main)
    return child


def _read_answer(stream: BinaryIO) -> FileElements:
    from gitmem.processes.frames import read_frame

    elements, comments = read_frame(stream)
    return FileElements([Element(*fields) for fields in elements], [(start, end) for start, end in comments])
