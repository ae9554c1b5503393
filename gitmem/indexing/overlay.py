"""A tree with the uncommitted changes of a working tree applied, and the check that it is still current."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from gitmem.git.locate import RepositoryLocation
from gitmem.named_tuple import NamedTuple
from gitmem.store.uncommitted_ids import FileStat, UncommittedFiles
from gitmem.store.view_file import View


class Overlay(NamedTuple):
    """View of a tree with the uncommitted changes applied, and how it was obtained."""

    view: View
    files: Mapping[str, bytes] = MappingProxyType({})
    """Paths by blob id, for blobs that git may not have: only the working tree is sure to."""

    changes: Mapping[bytes, str] = MappingProxyType({})
    """Kind of change by path: modified, staged or untracked (`git.status`)."""

    unhashed: int = 0
    """Number of files left out because the time was over."""

    unreadable: Sequence[bytes] = ()
    """Paths left out because git could not read them."""

    uncommitted: UncommittedFiles | None = None
    """Blob ids and stat data for the next overlay of the same working tree; None without a working tree."""

    stats: Mapping[bytes, FileStat | None] = MappingProxyType({})
    """Stat data of the files that were examined; None for a file that was missing."""

    def is_current(self, location: RepositoryLocation) -> bool:
        """Return whether no examined file has changed since, or could have with equal stat data."""
        if self.uncommitted is None or not self.stats:
            return True
        # "Racily clean" in git: hashed within the clock tick of its last change, so equal stat data prove nothing.
        unsettled = any(self.uncommitted.files[path].stat is None for path in self.files.values())
        return not unsettled and all(stat == read_stat(location, path) for path, stat in self.stats.items())


def read_stat(location: RepositoryLocation, path: bytes) -> FileStat | None:
    """Return the stat data of a path of the working tree, without following a link; None if nothing is there."""
    assert location.worktree is not None
    with suppress(OSError):
        status = (location.worktree / os.fsdecode(path)).lstat()
        return FileStat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode)
    return None
