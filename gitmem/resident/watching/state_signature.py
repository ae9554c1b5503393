"""Detect changes of everything that an open tree depends on outside the working tree, by times and sizes of files.

These are the index, HEAD and its branch, git's index, the memory's reference, the settings and the end of a shallow
clone. Git and gitmem replace these files whenever they write, so a few calls of stat(2) are enough. A working tree has
no such file; see `working_tree`.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from gitmem.fsio import read_file
from gitmem.memory.record_paths import REFERENCE
from gitmem.paths import IndexPaths
from gitmem.workspace import Workspace

FileSignature = tuple[int, int, int]
"""Time of modification in nanoseconds, size and inode. The inode differs even if time and size are the same."""

StateSignature = tuple[FileSignature | None, ...]
"""Signatures of the files in a fixed order, that of the manifest first; None for a missing file."""

_COMMON_FILES: Final = ("packed-refs", "reftable/tables.list", REFERENCE, "shallow")
_HEAD_BYTES: Final = 4096
_CACHED: Final = 256


SeenFiles = dict[str, FileSignature | None]
"""Signatures of configuration files by path that one call has already read."""


def read_signature(workspace: Workspace, configuration: Iterable[str], seen: SeenFiles | None = None) -> StateSignature:
    """Return the current signature; an open tree is outdated if it differs from the one read before opening it.

    `configuration` are the files that configure which files git ignores, and how it reads them. Repositories share
    most of them: with `seen` a call that checks many repositories looks at each of these once.
    """
    location = workspace.location
    names = _state_files(location.git_dir, location.common_dir, workspace.paths)
    manifest, head, *others = map(file_signature, names)
    # A branch is in a file of its own, in packed-refs, or in the tables of the reftable format.
    branch = map(file_signature, _branch_files(names[1], head, str(location.common_dir)))
    if seen is None:
        return (manifest, head, *others, *branch, *map(file_signature, configuration))
    # A change during a call may be seen by it or not: its later checks may as well take the earlier look. The next call
    # looks again.
    own = [seen[path] if path in seen else seen.setdefault(path, file_signature(path)) for path in configuration]
    return (manifest, head, *others, *branch, *own)


def signed_files(workspace: Workspace) -> tuple[Sequence[str], Callable[[], list[str]]]:
    """Return the files of a signature besides the configuration; that of the branch by a function that reads HEAD."""
    location = workspace.location
    names = _state_files(location.git_dir, location.common_dir, workspace.paths)
    return names, lambda: _branch_files(names[1], file_signature(names[1]), str(location.common_dir))


@lru_cache(maxsize=_CACHED)
def _state_files(git_dir: Path, common_dir: Path, paths: IndexPaths) -> tuple[str, ...]:
    """Return the files of a repository's state: the manifest, HEAD, and others.

    They are text, and made once: with a hundred open repositories they are looked at a hundred times for each query.
    """
    own = str(paths.manifest), f"{git_dir}/HEAD", str(paths.tuning), f"{git_dir}/index"
    return (*own, *(f"{common_dir}/{name}" for name in _COMMON_FILES))


@lru_cache(maxsize=_CACHED)
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
