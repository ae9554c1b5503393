"""Memory that processes occupy.

The proportional set size (PSS) divides each shared page by the number of processes that map it. Added up over several
processes it therefore counts every page once. The resident set size counts shared pages once per process.
"""

import os
import sys
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PSS: Final = b"\nPss:"


def resident_bytes() -> int:
    """Return the resident set size of this process, 0 if it is unknown.

    Systems without procfs know only the largest size so far.
    """
    try:
        return int((_PROC / "self/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return _largest_resident()


def proportional_bytes(pid: int) -> int:
    """Return the proportional set size of a process of this user; 0 if it is unknown. Costs ten times the other."""
    try:
        _, _, rest = (_PROC / str(pid) / "smaps_rollup").read_bytes().partition(_PSS)
        return int(rest.split(None, 1)[0]) << 10
    except (OSError, IndexError, ValueError):
        return 0


def _largest_resident() -> int:
    try:
        import resource
    except ImportError:
        return 0
    # Kilobytes on Linux and the BSDs, bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << (0 if sys.platform == "darwin" else 10)
