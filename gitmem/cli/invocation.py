"""What the global options told the running command, and what it remembers until its end. Needs no click."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.paths import IndexPaths


class Invocation:
    """One run of a command.

    `folder` is that of `-C`; `server` permits asking a running gitmem. `paths` is the index folder that the command
    opened. `warns` makes opening a repository warn if the memory lost records.
    """

    __slots__ = ("_ends", "folder", "pager", "paths", "quiet", "server", "shows_secrets", "warns")

    def __init__(self, folder: str, *, quiet: bool = False, pager: bool = True, server: bool = True) -> None:
        self.folder = folder
        self.quiet = quiet
        self.pager = pager
        self.server = server
        self.paths: IndexPaths | None = None
        self.warns = False
        self.shows_secrets = False
        self._ends = ExitStack()

    def at_end(self, action: Callable[[], None]) -> None:
        """Run an action when the command has ended, also after an error or a failed action. The last runs first."""
        self._ends.callback(action)

    def end(self) -> None:
        """Run the actions for the end."""
        self._ends.close()


_current: ContextVar[Invocation | None] = ContextVar("invocation", default=None)


@contextmanager
def invocation_scope() -> Iterator[None]:
    """Run a command in the block: `begin` sets its invocation, which ends with the block."""
    token = _current.set(None)
    try:
        yield
    finally:
        invocation = _current.get()
        _current.reset(token)
        if invocation is not None:
            invocation.end()


def begin(invocation: Invocation) -> Invocation:
    """Make this the invocation of the command that runs in this thread."""
    _current.set(invocation)
    return invocation


def find_invocation() -> Invocation | None:
    """Return the invocation of the running command; None before the global options are known, and after the end."""
    return _current.get()


def current_invocation() -> Invocation:
    """Return the invocation of the running command. Raises LookupError outside of one."""
    invocation = _current.get()
    if invocation is None:
        raise LookupError("no command is running")
    return invocation
