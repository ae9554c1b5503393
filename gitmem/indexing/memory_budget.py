"""Divide the memory that a run may take (`gitmem.maxMemory`) between this process, its workers and what they exchange.

The bound holds for all processes of a run together. This process is measured, and what it is about to need for a
segment is set aside. Workers share the rest: one that takes more than its share is replaced between two batches, and
fewer of them work if the shares become too small. Neither changes any row. A worker may exceed its share until the
batch that it works on is done. Pages that workers share with this process count once, as its own.
"""

import os
from collections.abc import Callable
from typing import Final

from gitmem.errors import ConfigError
from gitmem.processes.memory import own_bytes, resident_bytes

MIN_WORKER: Final = 160 << 20
"""Smallest share with which a worker is useful: libraries, model and grammars take two thirds of it."""

_LOADED: Final = 56 << 20
"""Part of it that this process loads for all workers before it forks them: 54 MB were measured."""

MIN_FORKED: Final = MIN_WORKER - _LOADED
"""Smallest share of a forked worker."""

_PROCESS: Final = 40 << 20
"""Least memory of this process before the run, and of a git process that reads for it."""

_EXCESS_FROM: Final = 384 << 20
_EXCESS_DIVISOR: Final = 2
_MAX_EXCESS: Final = 256 << 20
"""Half of the bound beyond the first of these, at most the last, is left for more than that: git maps the indexes of
packs, 28 bytes for each object of a history, and for some seconds a parse of a large file takes 100 MB."""

_FLUSH_DIVISOR: Final = 8
_IN_FLIGHT_DIVISOR: Final = 32


class MemoryBudget:
    """Memory of one run. `limit` is the bound in bytes.

    Make it before the run loads anything. Memory that a server took for other purposes before does not count.
    """

    def __init__(self, limit: int, measure: Callable[[], int] = resident_bytes) -> None:
        self.limit = limit
        self._measure = measure
        self._before = measure()

    @property
    def left(self) -> int:
        """Number of bytes that this process may take on top of what it has, as long as there are no workers."""
        excess = min((self.limit - _EXCESS_FROM) // _EXCESS_DIVISOR, _MAX_EXCESS)
        return self.limit - max(_PROCESS, excess) - max(0, self._measure() - self._before)

    @property
    def flush_bytes(self) -> int:
        """Number of bytes that the rows of the next segment may take while they wait and while it is written."""
        return self.limit // _FLUSH_DIVISOR

    @property
    def in_flight_bytes(self) -> int:
        """Number of bytes of text that may be with the workers, or wait as rows for their turn."""
        return self.limit // _IN_FLIGHT_DIVISOR

    def share_of(self, workers: int) -> int:
        """Return the number of bytes that each of some workers may take."""
        return (self.left - self.flush_bytes - self.in_flight_bytes) // workers

    def count_workers(self, wanted: int, *, forked: bool = False) -> int:
        """Return how many workers may run, at most those wanted. Raises ConfigError if there is no room for any.

        Ask before anything is loaded for them. Several are `forked` from this process if it can be.
        """
        room = self.share_of(1)
        if room < MIN_WORKER:
            needed = self.limit - room + MIN_WORKER
            raise ConfigError(
                f"this run needs about {needed >> 20} MiB of memory, `gitmem.maxMemory` allows {self.limit >> 20}",
                hint=f"git config gitmem.maxMemory {-(-needed * 5 // 4 >> 20)}m",
            )
        most = room // MIN_WORKER
        # If the kernel does not count shared pages, each worker is measured, and replaced, by all of its pages.
        if forked and wanted > most and own_bytes(os.getpid()):
            most = (room - _LOADED) // MIN_FORKED
        return max(1, min(wanted, most))
