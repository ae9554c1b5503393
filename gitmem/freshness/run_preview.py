"""Report what an index run would do, without a lock and without writing anything."""

from gitmem.errors import DamagedFile
from gitmem.freshness.file_details import read_details
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.index_tree import count_view
from gitmem.freshness.tree_selection import STAGED_TREE, WORKING_TREE, TreeReader
from gitmem.freshness.tree_view import open_tree
from gitmem.git.trees import empty_tree
from gitmem.indexing.fingerprint import current_fingerprint, differs_in_model_only, is_made_with
from gitmem.indexing.missing_blobs import find_missing_blobs
from gitmem.indexing.overlay import Overlay
from gitmem.indexing.run import empty_manifest
from gitmem.indexing.views import peek_view
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace, find_index


def preview_run(
    workspace: Workspace, tree: str | None, *, staged: bool, uncommitted: bool, full: bool, list_files: bool
) -> IndexReport:
    """Return the report of a run that has not happened. Its blobs are those that the run would embed.

    The parameters are those of `refresh`. Raises: UnsafeIndex, NewerFormat, GitFailed.
    """
    location = workspace.location
    manifest, rebuilt = _starting_point(workspace, full=full)
    tree = tree or empty_tree(location)
    uncommitted = uncommitted or location.plain
    overlays = _overlays(workspace, manifest, staged=staged, uncommitted=uncommitted)
    views = [peek_view(location, workspace.paths, tree), *(overlay.view for overlay in overlays)]
    snapshot = Snapshot(workspace.paths, manifest)
    # Records are left out: they are few, and every run indexes them.
    missing = {item for view in views for item in find_missing_blobs(view, snapshot, retry=True)}
    report = IndexReport(tree, up_to_date=not missing, dry_run=True, rebuilt=rebuilt)
    count_view(report, views[-1], snapshot)
    report.embedded = len(missing)
    report.chunks_before = report.chunks = manifest.rows
    report.index_bytes = manifest.bytes
    if list_files:
        files = {oid: path for overlay in overlays for oid, path in overlay.files.items()}
        report.details = read_details(workspace, views[-1], snapshot, files)
    return report


def _starting_point(workspace: Workspace, *, full: bool) -> tuple[Manifest, str]:
    """Return the manifest that the run would extend, and why it would rebuild the index, "" if it would not."""
    fingerprint = current_fingerprint(workspace.settings)
    try:
        old = find_index(workspace)
    except DamagedFile as problem:
        return empty_manifest(None, fingerprint), problem.message
    if old is None:
        return empty_manifest(None, fingerprint), ""
    # An interrupted full run, which the next one continues, is not looked at: the figure is then an upper bound.
    if full:
        return empty_manifest(None, fingerprint), "requested by --full"
    # Nothing is asked of a provider here, so only a part of the fingerprint is known: not the dimensions.
    if not is_made_with(old.fingerprint, workspace.settings):
        cause = "the format, the chunker, a setting of it or the model has changed"
        if differs_in_model_only(old.fingerprint, fingerprint):
            cause = "the selected model has changed"
        return empty_manifest(None, fingerprint), cause
    return old, ""


def _overlays(workspace: Workspace, manifest: Manifest, *, staged: bool, uncommitted: bool) -> list[Overlay]:
    """Open the uncommitted trees that the run would index, as `index_tree` does."""
    if workspace.location.worktree is None or not (staged or uncommitted):
        return []
    overlays = []
    for selection in (STAGED_TREE, WORKING_TREE) if uncommitted else (STAGED_TREE,):
        with TreeReader(workspace.location, selection) as reader:
            tree = reader.read()
        overlays.append(open_tree(workspace._replace(location=tree.location), tree, manifest, write=False))
    return overlays
