"""What a trace needs: blobs with a process that parses them, the cache in the index folder, and a limit of time."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from gitmem.display import count
from gitmem.git.locate import RepositoryLocation
from gitmem.git.objects import open_reader
from gitmem.git.promisor import is_partial
from gitmem.history.element_parser import ElementParser
from gitmem.history.element_reader import ElementReader
from gitmem.history.trace_cache import TraceCache
from gitmem.workspace import Workspace, is_our_index, is_writable


@contextmanager
def open_element_reader(
    location: RepositoryLocation,
    check: Callable[[], None] | None = None,
    cache: TraceCache | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Iterator[ElementReader]:
    """Open the blobs of a repository, with a child process that parses them.

    `files` maps the ids of blobs that exist only as files of the working tree to their paths.
    """
    with open_reader(location, bulk=False, files=files) as blobs, ElementParser() as parser:
        yield ElementReader(blobs, parser, check, cache)


def open_trace_cache(workspace: Workspace) -> TraceCache | None:
    """Return the cache of histories in the index folder; None without an index that can be written.

    Nor is there one if the history can change: a shallow or partial clone can be completed, grafts can be edited.
    """
    location, state = workspace.location, workspace.paths.state
    if location.shallow or is_partial(location) or (location.common_dir / "info" / "grafts").exists():
        return None
    return TraceCache(state) if is_our_index(workspace) and state.is_dir() and is_writable(state) else None


class OutOfTimeError(Exception):
    """The time for traces is over."""


def limit_time(seconds: float) -> Callable[[], None]:
    """Return a function that raises OutOfTimeError once some seconds have passed."""
    deadline = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > deadline:
            raise OutOfTimeError

    return check


def note_untraced(results: int) -> list[str]:
    """Return the note about results that were not traced in time. The next query goes on: traces are cached."""
    return [f"the commits of {count(results, 'result')} are not traced yet: ask again"] if results else []
