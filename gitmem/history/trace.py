"""What a trace consists of: the changes of an element, each with its commit."""

from collections.abc import Iterable

from gitmem.history.changes import FILE_MOVE
from gitmem.history.origins import Source
from gitmem.named_tuple import NamedTuple


class Change(NamedTuple):
    """Commit that changed an element: the kinds of the change, and the element's place before and after.

    `sources` are elements from which it was split off, or which were merged into it.
    """

    commit: str
    kinds: tuple[str, ...]
    path: bytes
    symbol: str
    old_path: bytes = b""
    old_symbol: str = ""
    sources: tuple[Source, ...] = ()


class Trace(NamedTuple):
    """Changes of an element, newest first. `cut` are commits whose former version is unknown.

    A shallow clone ends there, or git cannot read an object that they need.
    """

    changes: list[Change]
    cut: list[str]


def last_change(changes: Iterable[Change]) -> Change | None:
    """Return the newest of some changes, newest first, that is more than a move of the whole file."""
    return next((change for change in changes if change.kinds != (FILE_MOVE,)), None)
