"""`gitmem watch`: keep the index up to date with a working tree until the process ends.

Events of the operating system only trigger a comparison earlier. Each comparison covers the whole difference between
tree and index, as git reports it, so a lost event costs only time: HEAD is polled every two seconds, and the files are
compared every minute, whatever the system reports.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from gitmem.errors import GitmemError, NotARepository, ObserverFailed, UsageError
from gitmem.folder_observer import FolderObserver
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.git.locate import describe_head, locate
from gitmem.git.pending_operation import find_operation
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import open_workspace, require_index

_DEBOUNCE_SECONDS: Final = 0.3
"""Changes that follow each other faster than this are indexed together."""

_MAX_DEBOUNCE_SECONDS: Final = 5.0
"""Upper limit of the debounce during endless changes, for example a long build."""

_POLL_SECONDS: Final = 2.0
_FULL_POLL_SECONDS: Final = 60.0
"""Interval at which the files are compared even without an event."""

_REST: Final = 4.0
"""Pause after a comparison, in multiples of its duration: watching costs at most a fifth of a core."""


class WatchEvent(NamedTuple):
    """A comparison worth a line: the name of the working tree, and the report or the problem."""

    name: str
    report: IndexReport | None
    problem: str


def watch(
    folder: Path,
    environment: Mapping[str, str],
    report: Callable[[WatchEvent], None],
    stop: threading.Event,
    changed: threading.Event | None = None,
    full_poll_seconds: float = _FULL_POLL_SECONDS,
) -> None:
    """Index the working tree of a folder at each change until `stop` is set.

    Set `changed` as well to end at once. A failure is reported, and the next change tries again.

    Raises: NotARepository, also if the repository is removed meanwhile; UsageError without a working tree; NoIndex,
    UnsafeIndex.
    """
    workspace = open_workspace(folder, environment)
    require_index(workspace)
    if workspace.location.worktree is None:
        raise UsageError("a bare repository has no working tree to watch", hint="hooks follow its commits")
    changed = changed or threading.Event()
    with _observe(workspace.location.worktree, changed, report) as observing:
        last_head, last_time = None, 0.0
        changed.set()
        # The first comparison happens at once, because changed is set above.
        while not stop.is_set():
            if changed.is_set():
                _debounce(changed)
            location = locate(folder)
            due = not observing or time.monotonic() - last_time > full_poll_seconds
            # During a rebase or merge the tree is about to change again, so wait for its end.
            if (due or changed.is_set() or location.head_commit != last_head) and not find_operation(location):
                changed.clear()
                # Remember the time before the run: a change during it must trigger the next one.
                last_head, last_time = location.head_commit, time.monotonic()
                _refresh(folder, environment, report)
                stop.wait(min(_REST * (time.monotonic() - last_time), _MAX_DEBOUNCE_SECONDS))
            changed.wait(_POLL_SECONDS)


@contextmanager
def _observe(worktree: Path, changed: threading.Event, report: Callable[[WatchEvent], None]) -> Iterator[bool]:
    """Let the operating system set `changed`; yield False, after a report, if it cannot."""
    with ExitStack() as observation:
        try:
            observation.enter_context(FolderObserver(worktree, changed))
            observing = True
        except ObserverFailed as problem:
            message = f"{problem.message}; it is compared every {_POLL_SECONDS:.0f} seconds instead"
            report(WatchEvent(str(worktree), None, message))
            observing = False
        yield observing


def _debounce(changed: threading.Event) -> None:
    """Wait until nothing has changed for a moment, up to a limit. `changed` is set afterwards."""
    deadline = time.monotonic() + _MAX_DEBOUNCE_SECONDS
    while time.monotonic() < deadline:
        changed.clear()
        if not changed.wait(_DEBOUNCE_SECONDS):
            break
    changed.set()


def _refresh(folder: Path, environment: Mapping[str, str], report: Callable[[WatchEvent], None]) -> None:
    """Compare and index; report a run that indexed something or had a problem."""
    workspace = open_workspace(folder, environment)
    name = describe_head(workspace.location)
    try:
        run = refresh(workspace, workspace.location.head_tree, RefreshSettings(uncommitted=True, event="watch"))
    except NotARepository:
        raise
    except GitmemError as problem:
        report(WatchEvent(name, None, problem.message))
        return
    if run.embedded or run.problems:
        report(WatchEvent(name, run, ""))
