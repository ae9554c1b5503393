"""The background process: index every working tree that is marked as changed.

One process works at a time. Any other process leaves its mark and exits. The worker looks at the marks again after it
has released the lock, so no mark is lost between the last look and the release. A mark is renamed while it is processed
and removed afterwards; if the process dies, the next one finds the renamed mark.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import Busy, GitmemError, NoIndex, NotARepository
from gitmem.freshness.background import find_dirty_tree, mark_dirty
from gitmem.freshness.commit_index import find_history
from gitmem.freshness.past_index import find_past, past_fingerprint
from gitmem.freshness.run_log import DEFERRED, DONE, FAILED, add_entry
from gitmem.fsio import remove_file, rename_file
from gitmem.git.locate import describe_head
from gitmem.git.pending_operation import find_operation
from gitmem.locks import is_locked, writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.paths import DIRTY, STARTING, IndexPaths
from gitmem.settings import BUNDLED
from gitmem.workspace import Workspace, is_our_index, open_workspace

_TAKEN: Final = "taken-"
_POLL_SECONDS: Final = 0.1
_QUIET_SECONDS: Final = 0.3
"""Debounce: commits that follow each other faster than this are indexed together."""

_MAX_DEBOUNCE_SECONDS: Final = 30.0
"""Upper limit of the debounce in an endless series of commits. Queries heal what they need in the meantime."""

_OPERATION_SECONDS: Final = 5.0
"""How long to wait for the end of a rebase: git calls its last hook before it removes the rebase's state."""


class _Job(NamedTuple):
    """Parameters of a run, see `catch_up`."""

    event: str
    environment: Mapping[str, str]
    operation_seconds: float


class _Mark(NamedTuple):
    """Marked working tree. `version` (inode, modification time in ns) changes whenever the mark is written again."""

    file: Path
    version: tuple[int, int]


def catch_up(
    workspace: Workspace,
    event: str,
    environment: Mapping[str, str],
    *,
    operation_seconds: float = _OPERATION_SECONDS,
) -> None:
    """Mark this working tree, then index all marked ones unless another process already does.

    Without an index nothing happens: a hook refreshes an index but never creates one. Failures of single working trees
    go to the run log. A working tree in a git operation that does not end within `operation_seconds` stays marked.

    Raises: UnsafeIndex, and StorageFailed if nothing can be written at all.
    """
    if not is_our_index(workspace):
        return
    mark_dirty(workspace)
    if is_locked(workspace.paths.background_lock):  # most hooks in a series of commits exit here, so keep it cheap
        return
    job = _Job(event, environment, operation_seconds)
    deferred: list[_Mark] = []
    while _list_marks(workspace.paths) != deferred:
        try:
            with writer_lock(workspace.paths.background_lock, wait=False):
                deferred = _process_marks(workspace, job)
        except Busy:
            return
    _compact(workspace, event)


def _compact(workspace: Workspace, event: str) -> None:
    """Merge segments, now that every query finds an index that is up to date."""
    from gitmem.freshness.compaction import compact_in_background

    started = time.monotonic()
    try:
        compact_in_background(workspace)
    except Exception as problem:  # as above, nobody else will see the problem; the next process tries again
        log_failure(workspace, event, problem, time.monotonic() - started)


def log_failure(workspace: Workspace, event: str, problem: Exception, seconds: float) -> None:
    """Log the failure of background work that belongs to no marked working tree, if there is an index of ours."""
    if is_our_index(workspace):
        folder = workspace.location.worktree or workspace.location.git_dir
        with writer_lock(workspace.paths.background_lock, wait=True):
            add_entry(workspace.paths, event, folder, FAILED, _describe(problem), seconds)


def _process_marks(workspace: Workspace, job: _Job) -> list[_Mark]:
    """Process marks until no new ones appear. Return the deferred ones, for example of a tree in a rebase."""
    paths = workspace.paths
    for abandoned in paths.state.glob(f"{_TAKEN}*"):
        rename_file(abandoned, abandoned.with_name(DIRTY + abandoned.name.removeprefix(_TAKEN)))
    deferred: list[_Mark] = []
    while _list_marks(paths) != deferred:
        # Wait first, not afterwards: an index of the first of several commits serves nobody.
        _debounce(paths, workspace.location.git_dir / STARTING)
        deferred = [mark for mark in _list_marks(paths) if not _process_mark(paths, mark, job)]
    return deferred


def _list_marks(paths: IndexPaths) -> list[_Mark]:
    marks = []
    for file in sorted(paths.state.glob(f"{DIRTY}*")):
        try:
            stat = file.lstat()
        except FileNotFoundError:
            continue
        marks.append(_Mark(file, (stat.st_ino, stat.st_mtime_ns)))
    return marks


def _process_mark(paths: IndexPaths, mark: _Mark, job: _Job) -> bool:
    """Index one working tree; return False if git is in the middle of an operation there."""
    started = time.monotonic()
    tree = find_dirty_tree(mark.file)
    if tree is None:
        return True
    folder = tree.folder
    claim = mark.file.with_name(_TAKEN + mark.file.name.removeprefix(DIRTY))
    try:
        operation = _await_operation(folder, paths, job)
        if operation:
            add_entry(paths, job.event, folder, DEFERRED, f"{operation} in progress", time.monotonic() - started)
            return False
        with writer_lock(paths.lock, wait=True):
            pass  # the mark stays visible while another process writes
        rename_file(mark.file, claim)
        outcome, message = DONE, _refresh(folder, job, uncommitted=tree.files)
    except NotARepository:  # the working tree was removed, or its folder belongs to another repository now
        remove_file(mark.file)
        remove_file(claim)
        return True
    except Exception as problem:  # a worker loop: the log is the only place where anybody will see the problem
        rename_file(mark.file, claim)
        outcome, message = FAILED, _describe(problem)
    else:
        remove_file(claim)
    add_entry(paths, job.event, folder, outcome, message, time.monotonic() - started)
    return True


def _await_operation(folder: Path, paths: IndexPaths, job: _Job) -> str | None:
    """Wait a while for a git operation to end; return its name if it does not. Raises NotARepository."""
    workspace = open_workspace(folder, job.environment)
    if workspace.paths.root != paths.root:
        raise NotARepository(f"{folder} belongs to another repository")
    deadline = time.monotonic() + job.operation_seconds
    while (operation := find_operation(workspace.location)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return operation


def _debounce(paths: IndexPaths, starting: Path) -> None:
    """Wait until no mark has appeared for a while and no hook is starting, up to a limit."""
    started = changed = time.monotonic()
    marks = _list_marks(paths)
    while (now := time.monotonic()) - changed < _QUIET_SECONDS and now - started < _MAX_DEBOUNCE_SECONDS:
        time.sleep(_POLL_SECONDS)
        if (current := _list_marks(paths)) != marks or starting.exists():
            marks, changed = current, time.monotonic()


def _refresh(folder: Path, job: _Job, *, uncommitted: bool) -> str:
    """Index HEAD and the staged files, with `uncommitted` also the changed files; return a sentence for the log."""
    # Imported here because a hook with nothing to do must not pay for it.
    from gitmem.freshness.graph_build import start_if_behind
    from gitmem.freshness.refresh import RefreshSettings, refresh

    workspace = open_workspace(folder, job.environment)
    if not is_our_index(workspace):  # removed by `gitmem uninstall` in the meantime: do not create it again
        raise NoIndex(f"{workspace.paths.root} no longer exists")
    settings = RefreshSettings(staged=True, uncommitted=uncommitted, event=job.event)
    report = refresh(workspace, workspace.location.head_tree, settings)
    name = describe_head(workspace.location)
    commits = "; ".join(filter(None, (_refresh_commits(workspace), _refresh_past(workspace))))
    if report.up_to_date:
        return f"{name}: {commits or 'nothing to do'}"
    start_if_behind(workspace)
    return "; ".join(
        [
            f"{name}: {report.embedded} blobs embedded, {report.reused} reused",
            *([commits] if commits else []),
            *report.problems[:1],
            *report.worker_losses[:1],
        ]
    )


def _refresh_commits(workspace: Workspace) -> str:
    """Index the messages of new commits, if messages are indexed; return what was done, "" for nothing."""
    if find_history(workspace) is None or workspace.settings.provider != BUNDLED:
        return ""
    from gitmem.freshness.commit_run import index_commits  # few repositories index messages

    report = index_commits(workspace)
    return f"{report.indexed} commit messages" if report.indexed else ""


def _refresh_past(workspace: Workspace) -> str:
    """Index the code of new commits, if the past is indexed; return the number of versions in words, "" for none."""
    manifest = find_past(workspace)
    # A stopped run, or one that begins again after an update, takes long; the user starts it.
    if manifest is None or not manifest.complete or manifest.fingerprint != past_fingerprint(workspace.settings):
        return ""
    from gitmem.freshness.past_run import index_past  # few repositories index the past

    report = index_past(workspace)
    return f"{report.indexed} former versions" if report.indexed else ""


def _describe(problem: Exception) -> str:
    return problem.message if isinstance(problem, GitmemError) else f"{type(problem).__name__}: {problem}"
