"""Streams, terminal and environment of the current command: those of this process, or of a client of a server.

A server runs commands of several clients in threads. All commands that it may run (`ask_server.SERVED`) therefore read
and print through this module only.
"""

import os
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

from gitmem.named_tuple import NamedTuple

if TYPE_CHECKING:
    from gitmem.resident.open_answers import OpenAnswers


class Console(NamedTuple):
    """Streams, terminal and environment of a client.

    `columns` returns the width of its terminal, None without one. `start_pager` sends further output into a pager.
    `read_stdin` is None if standard input is closed. `answers` come from a repository that is held open.
    """

    stdout: TextIO
    stderr: TextIO
    environment: MutableMapping[str, str]
    folder: str
    columns: Callable[[], int | None]
    start_pager: Callable[[str], None]
    read_stdin: Callable[[int], bytes] | None
    answers: "OpenAnswers"


_current: ContextVar[Console | None] = ContextVar("console", default=None)


@contextmanager
def use_console(console: Console) -> Iterator[None]:
    """Run the block, in this thread, on the console of a client."""
    token = _current.set(console)
    try:
        yield
    finally:
        _current.reset(token)


def client_console() -> Console | None:
    """Return the console of a client, None if this process runs the command for itself."""
    return _current.get()


def stdout() -> TextIO:
    """Return standard output."""
    console = _current.get()
    return sys.stdout if console is None else console.stdout


def stderr() -> TextIO:
    """Return standard error."""
    console = _current.get()
    return sys.stderr if console is None else console.stderr


def environment() -> MutableMapping[str, str]:
    """Return the environment."""
    console = _current.get()
    return os.environ if console is None else console.environment


def absolute(folder: str) -> str:
    """Return a folder of the command line so that this process finds it."""
    console = _current.get()
    return folder if console is None else os.path.join(console.folder, folder)  # noqa: PTH118 (not normalised)


def put(text: str, *, flush: bool = False) -> None:
    """Write a text and a line feed to standard output."""
    print(text, file=stdout(), flush=flush)


def read_stdin(limit: int) -> bytes | None:
    """Return at most so many bytes of standard input, None if it is closed. Raises OSError."""
    console = _current.get()
    if console is not None:
        return None if console.read_stdin is None else console.read_stdin(limit)
    return None if sys.stdin is None or sys.stdin.closed else sys.stdin.buffer.read(limit)


def terminal_columns() -> int | None:
    """Return the width of the terminal at standard output or standard error, None if neither is one."""
    console = _current.get()
    if console is not None:
        return console.columns()
    for stream in (sys.stdout, sys.stderr):
        try:
            return os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            continue
    return None
