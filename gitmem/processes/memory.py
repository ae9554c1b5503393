"""Memory that processes occupy.

The resident set size counts shared pages once per process. A child that was forked shares most pages with its parent.
Its own pages alone, added to the resident set of the parent, are therefore the memory of both.
"""

import os
import sys
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
"""File system of the processes on Linux."""

_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_OWN: Final = (b"\nPrivate_Clean:", b"\nPrivate_Dirty:")


def resident_bytes() -> int:
    """Return the resident set size of this process, 0 if it is unknown.

    Systems without procfs know only the largest size so far.
    """
    try:
        return int((PROC / "self/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return _largest_resident()


def own_bytes(pid: int) -> int:
    """Return the size of the pages that no other process maps, of a process of this user; 0 if it is unknown.

    Costs ten times the resident set size.
    """
    try:
        sizes = (PROC / str(pid) / "smaps_rollup").read_bytes()
        return sum(int(sizes.partition(name)[2].split(None, 1)[0]) for name in _OWN) << 10
    except (OSError, IndexError, ValueError):
        return 0


def _largest_resident() -> int:
    try:
        import resource
    except ImportError:
        return 0
    # Kilobytes on Linux and the BSDs, bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << (0 if sys.platform == "darwin" else 10)
