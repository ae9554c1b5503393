"""Whether a folder lies on a file system whose changes all pass through this machine's kernel."""

import os
from pathlib import Path
from typing import Final

_LOCAL: Final = frozenset(
    b"ext2 ext3 ext4 xfs btrfs zfs bcachefs f2fs jfs reiserfs tmpfs ramfs overlay vfat exfat ntfs3".split()
)
"""Types of file systems that only this machine writes to. On network file systems inotify misses remote changes."""

_MOUNTS: Final = Path("/proc/self/mountinfo")


def is_local(folder: Path) -> bool:
    """Return whether a folder's file system is written to by this machine only; False if that is unknown."""
    try:
        mounts = _MOUNTS.read_bytes().splitlines()
    except OSError:
        return False
    path = os.fsencode(os.path.realpath(folder)) + b"/"
    deepest, filesystem = b"", b""
    # Fields of proc_pid_mountinfo(5): the fifth is the mount point, the first after " - " the type of file system.
    for line in mounts:
        fields, _, details = line.partition(b" - ")
        mount_point = fields.split(b" ")[4].replace(b"\\040", b" ")
        # Later lines are mounted over earlier ones with the same mount point, hence >=.
        if path.startswith(mount_point.rstrip(b"/") + b"/") and len(mount_point) >= len(deepest):
            deepest, filesystem = mount_point, details.split(b" ")[0]
    return filesystem in _LOCAL
