"""Request that ends an index run: a file that any process can write and that every worker reads between its chunks."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gitmem.errors import Cancelled, GitmemError
from gitmem.fsio import read_file
from gitmem.named_tuple import NamedTuple

_INTERVAL: Final = 0.02
"""Seconds between two looks at the file: a look at each blob would be a hundredth of indexing."""


class StopRequest(NamedTuple):
    """The file of the request, and the token by which the run recognises requests to itself."""

    path: str
    token: bytes

    def is_made(self) -> bool:
        """Return whether another process requested the end of this run; False if the file cannot be read."""
        try:
            return read_file(Path(self.path), len(self.token) + 1) == self.token
        except GitmemError:
            return False

    def check(self) -> None:
        """Raise Cancelled if the end of this run was requested."""
        if self.is_made():
            raise Cancelled("the run was stopped by `gitmem cancel`")

    def checks(self) -> Callable[[], None]:
        """Return a function that calls `check`, the first time and then only after an interval."""
        next_check = 0.0

        def check() -> None:
            nonlocal next_check
            if time.monotonic() >= next_check:
                self.check()
                next_check = time.monotonic() + _INTERVAL

        return check
