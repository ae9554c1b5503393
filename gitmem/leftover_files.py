"""Remove the temporary files of writers that died."""

import time
from pathlib import Path
from typing import Final

from gitmem.fsio import remove_file

LEFTOVER_SECONDS: Final = 600.0
"""Age at which a temporary file belongs to a dead writer, in folders that are written without the lock."""


def sweep_leftovers(folder: Path, *, grace: float = 0.0, prefix: str = "") -> int:
    """Remove temporary files of dead writers, of all files or of those whose names begin with `prefix`.

    Return their number. Call it with the lock held.

    In folders that are also written without the lock, files younger than `grace` seconds stay: their writers may live.
    """
    if not folder.is_dir():
        return 0
    now = time.time()
    leftovers = [path for path in folder.iterdir() if path.name.startswith(f".{prefix}") and path.name.endswith(".tmp")]
    if grace:
        # abs: after the clock was set back, a time in the future does not protect a file.
        leftovers = [path for path in leftovers if abs(now - _modified(path, now)) >= grace]
    for path in leftovers:
        remove_file(path)
    return len(leftovers)


def _modified(path: Path, now: float) -> float:
    """Return the modification time of a file; `now` if it no longer exists."""
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return now
