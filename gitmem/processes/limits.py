"""Limits that a child process sets on itself before it handles hostile content. Systems without them set none."""

import math
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_STATM: Final = Path("/proc/self/statm")


def limit_seconds(seconds: float) -> None:
    """Have the system end this process if it takes more processor time from now on.

    Wall time cannot distinguish a parser that hangs from a busy machine. The timeout of the parent is the last resort,
    for a child that waits forever and for systems without such limits.
    """
    try:
        import resource
    except ImportError:
        return
    # RLIMIT_CPU counts from the start of the process, so the limit moves on with every request.
    limit = math.ceil(time.process_time() + seconds)
    with suppress(ValueError, OSError):  # a hard limit below ours is in force
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def limit_memory(size: int) -> None:
    """Let allocations fail once this process has grown by `size` bytes of address space. Linux only."""
    try:
        import resource

        pages = int(_STATM.read_text().split()[0])
    except (ImportError, OSError, ValueError, IndexError):
        return
    with suppress(ValueError, OSError):
        limit = pages * resource.getpagesize() + size
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
