"""Lock of an exchange of records, held while the network is used. It is not the lock of the memory.

A server may answer slowly or never, and whoever stores a record must not wait for that. A purge must: it removes
objects that a push is about to send, and refs that a fetch has written. Take this lock before that of the memory.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gitmem.git.locate import RepositoryLocation
from gitmem.locks import writer_lock
from gitmem.paths import EXCHANGING


@contextmanager
def exchange_lock(location: RepositoryLocation, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock. `on_wait` is called before waiting for another exchange or a purge. Raises StorageFailed."""
    with writer_lock(location.common_dir / EXCHANGING, wait=True, on_wait=on_wait):
        yield
