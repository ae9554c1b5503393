"""Remove index files that the manifest no longer names, after a grace period for readers that still open them."""

import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed
from gitmem.fsio import remove_file
from gitmem.paths import BASE_SUFFIX, JOIN_SUFFIX

GRACE_SECONDS: Final = 600.0
"""How long a file outlives the last generation that named it. Only opening needs the name: an open reader maps it."""

VIEW_GRACE_SECONDS: Final = 86_400.0
"""How long an index run keeps a view that the manifest does not name. A query about an old revision wrote it, and the
same query may be repeated. Without a limit every commit would leave one view behind."""


@dataclass(slots=True)
class Removed:
    """Number of removed files, their bytes, and the bytes of files whose grace period is not over."""

    files: int = 0
    bytes: int = 0
    waiting_bytes: int = 0

    def __add__(self, other: "Removed") -> "Removed":
        return Removed(self.files + other.files, self.bytes + other.bytes, self.waiting_bytes + other.waiting_bytes)


def remove_views(folder: Path, named: Collection[str], grace: float, *, dry: bool = False) -> Removed:
    """Remove views that are not named and older than the grace period, and then bases to which no view refers."""
    files = list(folder.iterdir()) if folder.is_dir() else []
    shared = [file for file in files if file.suffix in (BASE_SUFFIX, JOIN_SUFFIX)]
    removed = remove_unnamed(folder, {*named, *(file.name for file in shared)}, grace, dry=dry)
    # Some view refers to a single base, so the views need not be read.
    if len({file.stem for file in shared}) < 2:
        return removed
    from gitmem.store.stored_view import find_base_name  # imports numpy, which a run with nothing to do does without

    views = [file for file in folder.iterdir() if not file.suffix]
    used = {find_base_name(file) for file in views}
    kept = [*views, *(file for file in shared if file.stem in used)]
    return removed + remove_unnamed(folder, {file.name for file in kept}, grace, dry=dry)


def remove_unnamed(folder: Path, named: Collection[str], grace: float, *, dry: bool = False) -> Removed:
    """Remove files of a folder that are not named and whose grace period is over; with `dry` only count them.

    The modification time of a file is the start of its grace period. A file that cannot be removed (some systems refuse
    while it is mapped) stays for the next run.
    """
    removed = Removed()
    now = time.time()
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        if file.name in named or file.name.startswith("."):
            continue
        with suppress(StorageFailed, FileNotFoundError):
            status = file.lstat()
            # abs: after the clock was set back, a time in the future must not keep the file for years.
            if abs(now - status.st_mtime) < grace:
                removed.waiting_bytes += status.st_size
                continue
            if not dry:
                remove_file(file)
            removed.files += 1
            removed.bytes += status.st_size
    return removed
