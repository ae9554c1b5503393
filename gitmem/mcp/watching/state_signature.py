"""Cheap signs that something a held-open tree depends on has moved: the index, HEAD, git's index, records, settings.

They are times, sizes and numbers of a few files that git and gitmem replace whenever they write; what is in the working
tree has no such file and is watched by `WorkingTreeWatcher`.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gitmem.fsio import read_file
from gitmem.git.locate import Location
from gitmem.memory.record_paths import REFERENCE
from gitmem.workspace import Workspace

StateSignature = tuple[tuple[int, int, int] | None, ...]

_HEAD_BYTES: Final = 4096


def read_signature(workspace: Workspace, configuration: Iterable[Path]) -> StateSignature:
    """What must be equal for a tree held open to be the one that git and the index have. `configuration` are the files
    that git is told by what to ignore, and how to read files."""
    location, paths = workspace.location, workspace.paths
    watched = [
        paths.manifest,
        paths.tuning,
        location.git_dir / "HEAD",
        location.git_dir / "index",
        location.common_dir / "packed-refs",
        location.common_dir / "reftable" / "tables.list",
        location.common_dir / REFERENCE,
        *_branch_files(location),
        *configuration,
    ]
    return tuple(_look(path) for path in watched)


def _branch_files(location: Location) -> list[Path]:
    """The file of the branch that HEAD names now."""
    head = read_file(location.git_dir / "HEAD", _HEAD_BYTES) or b""
    name = os.fsdecode(head.removeprefix(b"ref:").strip()) if head.startswith(b"ref:") else ""
    return [location.common_dir / name] if name.startswith("refs/") else []


def _look(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
