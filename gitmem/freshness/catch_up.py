"""The background process: brings the index up to date with every working tree that is marked as changed.

One process does it at a time; another that comes meanwhile leaves its mark and ends. Whoever did it looks at the marks
once more after it has freed the lock, so that none is left lying. A mark has another name while it is worked on and is
removed afterwards: one whose process died is found by the next.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.errors import Busy, GitmemError, NoIndex, NotARepository
from gitmem.freshness.background import mark_dirty
from gitmem.freshness.run_log import DEFERRED, DONE, FAILED, add_entry
from gitmem.fsio import read_file, remove_file, rename_file
from gitmem.git.locate import describe_head
from gitmem.git.pending_operation import find_operation
from gitmem.locks import is_locked, writer_lock
from gitmem.paths import DIRTY, STARTING, IndexPaths
from gitmem.workspace import Workspace, is_our_index, open_workspace

_TAKEN: Final = "taken-"
_POLL_SECONDS: Final = 0.1
_QUIET_SECONDS: Final = 0.3
"""Commits that follow each other faster than this are taken up together."""

_ROW_SECONDS: Final = 30.0
"""Where they never end, this is how long they are waited out. Meanwhile each question makes up for what it needs."""

_PATIENCE_SECONDS: Final = 5.0
"""How long the end of a rebase is waited for: git calls its last hook before it has tidied up."""


class _Mark(NamedTuple):
    """A marked working tree; `written` tells one writing of the mark from the next."""

    file: Path
    written: tuple[int, int]


def catch_up(workspace: Workspace, event: str, environment: Mapping[str, str]) -> None:
    """Mark this working tree, then take up all that are marked, unless another process is at it.

    Nothing happens where there is no index: a hook keeps one up to date and never makes one. What goes wrong with a
    working tree is told in the log. Raises UnsafeIndex; StorageFailed where nothing can be written at all.
    """
    if not is_our_index(workspace):
        return
    mark_dirty(workspace)
    if is_locked(workspace.paths.background_lock):  # most hooks of a busy minute end here, so it must cost little
        return
    left: list[_Mark] = []
    while _find_marks(workspace.paths) != left:
        try:
            with writer_lock(workspace.paths.background_lock, wait=False):
                left = _work_off(workspace, event, environment)
        except Busy:
            return


def _work_off(workspace: Workspace, event: str, environment: Mapping[str, str]) -> list[_Mark]:
    """Take up marks until there are no new ones; returns those left for later, in the middle of a rebase say."""
    paths = workspace.paths
    for abandoned in paths.state.glob(f"{_TAKEN}*"):
        rename_file(abandoned, abandoned.with_name(DIRTY + abandoned.name.removeprefix(_TAKEN)))
    left: list[_Mark] = []
    while (marks := _find_marks(paths)) != left:
        left = [mark for mark in marks if not _take_up(paths, mark, event, environment)]
        _await_quiet(paths, workspace.location.git_dir / STARTING)
    return left


def _find_marks(paths: IndexPaths) -> list[_Mark]:
    marks = []
    for file in sorted(paths.state.glob(f"{DIRTY}*")):
        try:
            found = file.lstat()
        except FileNotFoundError:
            continue
        marks.append(_Mark(file, (found.st_ino, found.st_mtime_ns)))
    return marks


def _take_up(paths: IndexPaths, mark: _Mark, event: str, environment: Mapping[str, str]) -> bool:
    """Bring the index up to date with one working tree; False where git is in the middle of something there."""
    started = time.monotonic()
    written = read_file(mark.file)
    if written is None:
        return True
    place = Path(os.fsdecode(written))
    taken = mark.file.with_name(_TAKEN + mark.file.name.removeprefix(DIRTY))
    try:
        operation = _await_operation(place, paths, environment)
        if operation:
            add_entry(paths, event, place, DEFERRED, f"{operation} in progress", time.monotonic() - started)
            return False
        with writer_lock(paths.lock, wait=True):
            pass  # while another process writes, the mark stays for all to see
        rename_file(mark.file, taken)
        outcome, told = DONE, _refresh(place, environment)
    except NotARepository:  # removed since, or another repository's by now
        remove_file(mark.file)
        remove_file(taken)
        return True
    except Exception as problem:  # whatever it is, the log is the only place where somebody will see it
        rename_file(mark.file, taken)
        outcome, told = FAILED, _describe(problem)
    else:
        remove_file(taken)
    add_entry(paths, event, place, outcome, told, time.monotonic() - started)
    return True


def _await_operation(place: Path, paths: IndexPaths, environment: Mapping[str, str]) -> str | None:
    """Give an operation of git some time to end; name it where it does not. Raises NotARepository."""
    workspace = open_workspace(place, environment)
    if workspace.paths.root != paths.root:
        raise NotARepository(f"{place} belongs to another repository")
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (operation := find_operation(workspace.location)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return operation


def _await_quiet(paths: IndexPaths, starting: Path) -> None:
    """Wait until nothing has been marked for a while and no hook is about to mark, but not for ever."""
    started = changed = time.monotonic()
    seen = _find_marks(paths)
    while (now := time.monotonic()) - changed < _QUIET_SECONDS and now - started < _ROW_SECONDS:
        time.sleep(_POLL_SECONDS)
        if (found := _find_marks(paths)) != seen or starting.exists():
            seen, changed = found, time.monotonic()


def _refresh(place: Path, environment: Mapping[str, str]) -> str:
    """Index what stands there now; returns what was done in words."""
    from gitmem.freshness.refresh import refresh

    workspace = open_workspace(place, environment)
    if not is_our_index(workspace):  # uninstalled meanwhile, and not to be made again
        raise NoIndex(f"{workspace.paths.root} is gone")
    made = refresh(workspace, workspace.location.head_tree, uncommitted=True)
    name = describe_head(workspace.location)
    if made.up_to_date:
        return f"{name}: nothing to do"
    from gitmem.freshness.graph_build import start_if_behind

    start_if_behind(workspace)
    return "; ".join([f"{name}: {made.embedded} blobs embedded, {made.reused} reused", *made.problems[:1]])


def _describe(problem: Exception) -> str:
    return problem.message if isinstance(problem, GitmemError) else f"{type(problem).__name__}: {problem}"
