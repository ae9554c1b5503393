"""`gitmem verify`: check every checksum of the index, and compare the index with git."""

from collections.abc import Callable
from dataclasses import dataclass, field

from gitmem.errors import DamagedFile
from gitmem.freshness.commit_index import find_history
from gitmem.freshness.commit_run import repair_commits
from gitmem.freshness.currency import is_current
from gitmem.freshness.past_index import find_past
from gitmem.freshness.past_run import repair_past
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.fsio import remove_file
from gitmem.indexing.fingerprint import view_key
from gitmem.indexing.integrity import Fault, Findings, check_index, check_segments
from gitmem.indexing.lifetimes import find_past_view
from gitmem.indexing.tree_digest import TreeDigest, find_tree_digest, write_last_digest
from gitmem.indexing.views import peek_view
from gitmem.locks import writer_lock
from gitmem.paths import IndexPaths
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.workspace import Workspace, open_snapshot, require_index

_TRIES = 3


@dataclass(slots=True)
class VerifyReport:
    """Findings, and the problems that were repaired, empty without a repair.

    `digest` is that of HEAD's index, None if not all of it is indexed or something is damaged.
    """

    findings: Findings
    repaired: list[str] = field(default_factory=list)
    digest: TreeDigest | None = None

    @property
    def sound(self) -> bool:
        """Whether no problem is left."""
        return not self.findings.problems


def verify(workspace: Workspace, *, repair: bool = False) -> VerifyReport:
    """Check everything; with `repair` replace damaged files and check again.

    Raises: NoIndex, UnsafeIndex, NewerFormat, and with `repair` the errors of `freshness.refresh`.
    """
    findings = _check(workspace)
    repaired: list[str] = []
    if findings.problems and repair:
        _replace_damaged(workspace, findings)
        repaired, findings = findings.problems, _check(workspace)
    return VerifyReport(findings, repaired, None if findings.problems else _digest_head(workspace))


def _digest_head(workspace: Workspace) -> TreeDigest | None:
    """Compute the digest of HEAD's index, and keep it for `gitmem status`."""
    location, paths = workspace.location, workspace.paths
    manifest = require_index(workspace)
    if location.head_tree is None or not is_current(workspace, location.head_tree):
        return None
    key = view_key(location.head_tree, location.content)
    view = peek_view(location, paths, location.head_tree)
    digest = find_tree_digest(open_snapshot(workspace, manifest), view, key)
    if digest is not None:
        write_last_digest(paths, digest)
    return digest


def _check(workspace: Workspace) -> Findings:
    """Check one generation. If a writer replaces it during the check, check the next one."""
    findings = Findings()
    # A writer may publish a generation and remove the old files during a check, which looks like damage.
    for _ in range(_TRIES):
        try:
            manifest = require_index(workspace)
        except DamagedFile as problem:
            return Findings(faults=[Fault(problem.message, ("manifest",))])
        findings = check_index(workspace.location, workspace.paths, manifest)
        findings.faults.extend(_check_index(workspace, workspace.paths.history, find_history))
        findings.faults.extend(_check_index(workspace, workspace.paths.past, find_past))
        findings.faults.extend(_check_lives(workspace))
        if not findings.problems or not _replaced(workspace, manifest):
            break
    return findings


def _check_index(workspace: Workspace, paths: IndexPaths, find: Callable[[Workspace], Manifest | None]) -> list[Fault]:
    """Check the index of commit messages or of the past, if there is one."""
    name = paths.root.relative_to(workspace.paths.root).as_posix()
    try:
        manifest = find(workspace)
    except DamagedFile as problem:
        return [Fault(problem.message, (f"{name}/manifest",))]
    faults = check_segments(paths, manifest) if manifest is not None else []
    return [fault._replace(files=tuple(f"{name}/{file}" for file in fault.files)) for fault in faults]


def _check_lives(workspace: Workspace) -> list[Fault]:
    """Check the lives of the chunks of the past, if there are any."""
    file = workspace.paths.past.lifetimes
    if not file.exists():
        return []
    try:
        view = find_past_view(file)
        if view is None:
            raise DamagedFile(f"`{file}` cannot be read")
        view.check()
    except DamagedFile as problem:
        return [Fault(problem.message, (file.relative_to(workspace.paths.root).as_posix(),))]
    return []


def _replaced(workspace: Workspace, manifest: Manifest) -> bool:
    newest = find_manifest(workspace.paths.manifest)
    return newest is not None and newest.generation != manifest.generation


def _replace_damaged(workspace: Workspace, findings: Findings) -> None:
    """Remove damaged files and index their content again. Readers in between miss a file, but never read a bad one."""
    with writer_lock(workspace.paths.lock, wait=True):
        # Remove under the lock, refresh without it: the refresh takes the lock itself.
        for name in findings.damaged:
            remove_file(workspace.paths.root / name)
    refresh(workspace, workspace.location.head_tree, RefreshSettings(check=True))
    repair_commits(workspace)
    repair_past(workspace)
