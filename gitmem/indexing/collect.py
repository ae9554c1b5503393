"""Removing what no longer counts: segment files after a grace period, rows of blobs that nothing reaches."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from gitmem.errors import StorageFailed
from gitmem.fsio import remove_file
from gitmem.paths import IndexPaths

GRACE_SECONDS: Final = 600.0
"""How long a segment outlives the last generation that named it, for readers that still open it."""


def retire_segments(paths: IndexPaths, named: set[str], retired: Iterable[str]) -> int:
    """Start the grace period of the retired, remove what has been unnamed for longer; returns how many went.

    The file's own time says when its period began. A file that cannot be removed (mapped, on some systems) stays for
    the next run.
    """
    for name in retired:
        with suppress(OSError):
            os.utime(paths.segment(name))
    return remove_unnamed(paths, named, GRACE_SECONDS)


def remove_unnamed(paths: IndexPaths, named: set[str], grace: float) -> int:
    """Remove segment files that the manifest does not name and whose grace period is over."""
    removed = 0
    now = time.time()
    for file in sorted(paths.segments.iterdir()):
        if file.name in named or file.name.startswith("."):
            continue
        if abs(now - file.lstat().st_mtime) >= grace:
            with suppress(StorageFailed):
                remove_file(file)
                removed += 1
    return removed
