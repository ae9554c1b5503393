"""Detect changes of everything that an open tree depends on outside the working tree, by times and sizes of files.

These are the index, HEAD and its branch, git's index, the memory's reference, the settings and the end of a shallow
clone. Git and gitmem replace these files whenever they write, so a few calls of stat(2) are enough. A working tree has
no such file; see `working_tree`.
"""

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from gitmem.fsio import read_file
from gitmem.memory.record_paths import REFERENCE
from gitmem.workspace import Workspace

FileSignature = tuple[int, int, int]
"""Time of modification in nanoseconds, size and inode. The inode differs even if time and size are the same."""

StateSignature = tuple[FileSignature | None, ...]
"""Signatures of the files in a fixed order, that of the manifest first; None for a missing file."""

_HEAD_BYTES: Final = 4096
_CACHED_HEADS: Final = 256


def read_signature(workspace: Workspace, configuration: Iterable[Path]) -> StateSignature:
    """Return the current signature; an open tree is outdated if it differs from the one read before opening it.

    `configuration` are the files that configure which files git ignores, and how it reads them.
    """
    # Text instead of Path: with a hundred open repositories this is done a hundred times for each query.
    git_dir, common_dir = str(workspace.location.git_dir), str(workspace.location.common_dir)
    head = file_signature(f"{git_dir}/HEAD")
    files = [
        str(workspace.paths.tuning),
        f"{git_dir}/index",
        # A branch is in a file of its own, in packed-refs, or in the tables of the reftable format.
        *_branch_files(f"{git_dir}/HEAD", head, common_dir),
        f"{common_dir}/packed-refs",
        f"{common_dir}/reftable/tables.list",
        f"{common_dir}/{REFERENCE}",
        f"{common_dir}/shallow",
        *map(str, configuration),
    ]
    return (file_signature(str(workspace.paths.manifest)), head, *map(file_signature, files))


@lru_cache(maxsize=_CACHED_HEADS)
def _branch_files(head: str, _signature: FileSignature | None, common_dir: str) -> list[str]:
    """Return the file of the branch that HEAD points to; none for a detached HEAD.

    The result is cached by the signature of HEAD: git replaces the file to change it.
    """
    content = read_file(Path(head), _HEAD_BYTES) or b""
    name = os.fsdecode(content.removeprefix(b"ref:").strip()) if content.startswith(b"ref:") else ""
    return [f"{common_dir}/{name}"] if name.startswith("refs/") else []


def file_signature(path: str) -> FileSignature | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
