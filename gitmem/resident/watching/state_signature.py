"""Detect changes of everything that an open tree depends on outside the working tree, by times and sizes of files.

These are the index, HEAD and its branch, git's index, the memory's reference, the settings and the end of a shallow
clone. Git and gitmem replace these files whenever they write, so a few calls of stat(2) are enough. A working tree has
no such file; see `working_tree`.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gitmem.fsio import read_file
from gitmem.git.locate import RepositoryLocation
from gitmem.memory.record_paths import REFERENCE
from gitmem.workspace import Workspace

FileSignature = tuple[int, int, int]
"""Time of modification in nanoseconds, size and inode. The inode differs even if time and size are the same."""

StateSignature = tuple[FileSignature | None, ...]
"""Signatures of the files in a fixed order, that of the manifest first; None for a missing file."""

_HEAD_BYTES: Final = 4096


def read_signature(workspace: Workspace, configuration: Iterable[Path]) -> StateSignature:
    """Return the current signature; an open tree is outdated if it differs from the one read before opening it.

    `configuration` are the files that configure which files git ignores, and how it reads them.
    """
    location, paths = workspace.location, workspace.paths
    files = [
        paths.manifest,
        paths.tuning,
        location.git_dir / "HEAD",
        location.git_dir / "index",
        # A branch is in a file of its own, in packed-refs, or in the tables of the reftable format.
        *_branch_files(location),
        location.common_dir / "packed-refs",
        location.common_dir / "reftable" / "tables.list",
        location.common_dir / REFERENCE,
        location.common_dir / "shallow",
        *configuration,
    ]
    return tuple(_file_signature(path) for path in files)


def _branch_files(location: RepositoryLocation) -> list[Path]:
    """Return the file of the branch that HEAD points to; none for a detached HEAD."""
    head = read_file(location.git_dir / "HEAD", _HEAD_BYTES) or b""
    name = os.fsdecode(head.removeprefix(b"ref:").strip()) if head.startswith(b"ref:") else ""
    return [location.common_dir / name] if name.startswith("refs/") else []


def _file_signature(path: Path) -> FileSignature | None:
    try:
        status = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
