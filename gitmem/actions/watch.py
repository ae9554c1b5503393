"""Keep the index up to date with a working tree for as long as the process lives.

Word of the operating system only makes it look sooner. What there is to see is always the whole difference between the
tree and the index, as git tells it, so that events lost on the way cost nothing but time: HEAD is looked at every few
seconds whatever the system says, and the files every minute.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.errors import GitmemError, NotARepository, ObserverFailed, UsageError
from gitmem.folder_observer import Observation
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import refresh
from gitmem.git.locate import describe_head, locate
from gitmem.git.pending_operation import find_operation
from gitmem.workspace import open_workspace, require_index

_CALM_SECONDS: Final = 0.3
"""Changes that follow each other faster than this are taken up together."""

_PATIENCE_SECONDS: Final = 5.0
"""Where they never end, as in a long build, this is how long they are waited for."""

_LOOK_SECONDS: Final = 2.0
_LOOK_ANYWAY_SECONDS: Final = 60.0
_REST: Final = 4.0
"""Times as long as a look has taken nothing is looked at again, so that it never costs more than a fifth of a core."""


class Looked(NamedTuple):
    """One look that found something: the working tree by name, and what was done or what went wrong."""

    name: str
    report: IndexReport | None
    problem: str


def watch(
    folder: Path,
    environment: Mapping[str, str],
    tell: Callable[[Looked], None],
    stop: threading.Event,
    changed: threading.Event | None = None,
) -> None:
    """Follow the working tree of a folder until `stop` is set (and, to be noticed at once, `changed`).

    What goes wrong once is told and tried again at the next change. Raises: NotARepository, also where the repository
    is removed meanwhile; UsageError where there is no working tree; NoIndex, UnsafeIndex.
    """
    workspace = open_workspace(folder, environment)
    require_index(workspace)
    if workspace.location.worktree is None:
        raise UsageError("a bare repository has no working tree to watch", hint="hooks follow its commits")
    changed = changed or threading.Event()
    with _observed(workspace.location.worktree, changed, tell) as observed:
        seen, looked = None, 0.0
        changed.set()
        while not stop.is_set():
            if changed.is_set():
                _await_calm(changed)
            location = locate(folder)
            due = not observed or time.monotonic() - looked > _LOOK_ANYWAY_SECONDS
            if (due or changed.is_set() or location.head_commit != seen) and not find_operation(location):
                changed.clear()
                seen, looked = location.head_commit, time.monotonic()
                _look(folder, environment, tell)
                stop.wait(min(_REST * (time.monotonic() - looked), _PATIENCE_SECONDS))
            changed.wait(_LOOK_SECONDS)


@contextmanager
def _observed(worktree: Path, changed: threading.Event, tell: Callable[[Looked], None]) -> Iterator[bool]:
    """Let the system set `changed`; False, after a word about it, where it does not."""
    try:
        observation = Observation(worktree, changed).__enter__()
    except ObserverFailed as problem:
        tell(
            Looked(str(worktree), None, f"{problem.message}; it is compared every {_LOOK_SECONDS:.0f} seconds instead")
        )
        yield False
        return
    with observation:
        yield True


def _await_calm(changed: threading.Event) -> None:
    """Wait until nothing has changed for a moment, but not for ever; `changed` is set afterwards."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        changed.clear()
        if not changed.wait(_CALM_SECONDS):
            break
    changed.set()


def _look(folder: Path, environment: Mapping[str, str], tell: Callable[[Looked], None]) -> None:
    """Compare and index; tells only what is worth a line."""
    workspace = open_workspace(folder, environment)
    name = describe_head(workspace.location)
    try:
        made = refresh(workspace, workspace.location.head_tree, uncommitted=True)
    except NotARepository:
        raise
    except GitmemError as problem:
        tell(Looked(name, None, problem.message))
        return
    if made.embedded or made.problems:
        tell(Looked(name, made, ""))
