"""`verify`: is every byte of the index what was written, and does it describe what git holds?"""

from dataclasses import dataclass, field

from gitmem.errors import DamagedFile
from gitmem.fsio import remove_file
from gitmem.indexing.integrity import Findings, check_index
from gitmem.locks import writer_lock
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.workspace import Workspace, require_index

_TRIES = 3


@dataclass(slots=True)
class VerifyReport:
    """What was found, and what a repair did (empty without one)."""

    findings: Findings
    repaired: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong, or nothing any more."""
        return not self.findings.problems


def verify(workspace: Workspace, *, repair: bool = False) -> VerifyReport:
    """Read everything; with `repair` replace what is damaged and read again.

    Raises: NoIndex, UnsafeIndex, NewerFormat, and with `repair` what a refresh raises.
    """
    findings = _check(workspace)
    if not findings.problems or not repair:
        return VerifyReport(findings)
    _replace_damaged(workspace, findings)
    return VerifyReport(_check(workspace), repaired=findings.problems)


def _check(workspace: Workspace) -> Findings:
    """Check one generation; one that a writer replaces meanwhile is left for the next."""
    findings = Findings()
    for _ in range(_TRIES):
        try:
            manifest = require_index(workspace)
        except DamagedFile as problem:
            findings.blame("manifest", problem.message)
            return findings
        findings = check_index(workspace.location, workspace.paths, manifest)
        if not findings.problems or not _replaced(workspace, manifest):
            break
    return findings


def _replaced(workspace: Workspace, manifest: Manifest) -> bool:
    newest = find_manifest(workspace.paths.manifest)
    return newest is not None and newest.generation != manifest.generation


def _replace_damaged(workspace: Workspace, findings: Findings) -> None:
    """Take damaged files away and index what they held; a reader in between finds a file missing, never a bad one."""
    from gitmem.freshness.refresh import refresh

    with writer_lock(workspace.paths.lock, wait=True):
        for name in findings.damaged:
            remove_file(workspace.paths.root / name)
    refresh(workspace, workspace.location.head_tree, check=True)
