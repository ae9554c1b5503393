"""Bring the index up to date with a tree: return at once if it is current, else take the lock and index it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitmem.freshness.cancellation import RESUME, signals_as_exceptions
from gitmem.freshness.currency import holds_tree
from gitmem.freshness.index_model import with_model_of
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.tree_selection import STAGED_TREE, WORKING_TREE, TreeSelection
from gitmem.git.status import read_staged
from gitmem.git.trees import empty_tree
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.indexing.index_writer import open_index_writer, read_manifest_for_writing
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, create_index

if TYPE_CHECKING:
    from gitmem.indexing.remote_pool import OpenEngine
    from gitmem.indexing.run import Progress


@dataclass(frozen=True, slots=True)
class RefreshSettings:
    """Selection of the files that a run indexes, and the way it does so.

    `staged`: index the staged files as well. `uncommitted`: index all changed files as well. The tree must then be
    HEAD's. `full`: embed everything again, continuing an interrupted full run. `check`: verify every checksum first,
    and replace damaged files. `details`: count everything for the report even if there is nothing to do. `list_files`:
    report the details of files. `wait`: wait for another process that writes. `switches_model`: let the selected
    provider replace the one that made the index. `resume`: command that continues the run if it is stopped. `event`:
    cause of the run, for its log.
    """

    staged: bool = False
    uncommitted: bool = False
    full: bool = False
    check: bool = False
    details: bool = False
    list_files: bool = False
    wait: bool = True
    switches_model: bool = False
    resume: str = RESUME
    event: str = "index"

    @property
    def is_plain(self) -> bool:
        """Return whether a run with nothing to embed has nothing to do."""
        return not (self.uncommitted or self.full or self.check or self.details or self.list_files)


def refresh(
    workspace: Workspace,
    tree: str | None,
    settings: RefreshSettings = RefreshSettings(),
    *,
    report: "Callable[[Progress], None]" = lambda _: None,
    on_wait: Callable[[], None] = lambda: None,
    announce: Callable[[str], None] = lambda _: None,
    open_engine: "OpenEngine | None" = None,
) -> IndexReport:
    """Index every blob of a tree that the index lacks. A repository without commits gets an empty index.

    `on_wait` is called before the run waits for another process, `announce` with what a provider will get, before it
    gets anything. `open_engine` connects to an engine whose machines index the files; records are then left out.

    Raises: Busy if another process writes and the settings do not allow to wait, Cancelled, StorageFailed,
    UnsafeIndex, NewerFormat, ProviderFailed, WorkersFailed.
    """
    started = time.monotonic()
    create_index(workspace, wait=settings.wait, on_wait=on_wait)
    if not settings.switches_model:
        workspace = with_model_of(workspace, read_manifest_for_writing(workspace.paths, replace_newer=settings.full))
    if workspace.location.plain:  # nothing is ever committed there
        settings = replace(settings, uncommitted=True)
    selections = _uncommitted_trees(workspace, settings)
    if tree is None and not selections:
        return _refresh_empty(workspace, wait=settings.wait)
    tree_or_empty = tree or empty_tree(workspace.location)
    if settings.is_plain and _is_current(workspace, tree_or_empty, staged=bool(selections)):
        return IndexReport(tree or "", up_to_date=True, seconds=time.monotonic() - started)
    # Imports numpy, the worker pool and the views, which a run with nothing to do must not pay for.
    from gitmem.freshness.index_tree import Job, index_tree

    job = Job(
        tree_or_empty, selections, settings.full, settings.check, settings.resume, settings.event, settings.list_files,
        open_engine=open_engine,
    )  # fmt: skip
    with (
        signals_as_exceptions(),
        open_index_writer(workspace.paths, wait=settings.wait, on_wait=on_wait, replace_newer=settings.full) as writer,
    ):
        result = index_tree(workspace, writer, job, report, announce)
    if tree is None and not result.files:
        result.tree = ""
    result.seconds = time.monotonic() - started
    return result


def _uncommitted_trees(workspace: Workspace, settings: RefreshSettings) -> tuple[TreeSelection, ...]:
    """Return the trees to index besides HEAD's; none if the repository has no working tree."""
    if workspace.location.worktree is None or not (settings.staged or settings.uncommitted):
        return ()
    return (STAGED_TREE, WORKING_TREE) if settings.uncommitted else (STAGED_TREE,)


def _is_current(workspace: Workspace, tree: str, *, staged: bool) -> bool:
    """Return whether there is nothing to do. `create_index` has just checked that the index is ours.

    With `staged`, files that are staged count as something to do.
    """
    manifest = read_manifest_for_writing(workspace.paths)
    if manifest is None or not holds_tree(workspace, manifest, tree):
        return False
    return not (staged and read_staged(workspace.location))


def _refresh_empty(workspace: Workspace, *, wait: bool) -> IndexReport:
    """Publish an index without segments for a repository without commits, so that the next query finds one."""
    with open_index_writer(workspace.paths, wait=wait) as writer:
        if writer.manifest is None:
            fingerprint = current_fingerprint(workspace.settings)
            writer.publish(Manifest(fingerprint, complete=True))
    return IndexReport("", up_to_date=True)
