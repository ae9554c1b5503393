"""Try an operation on the server again after a failure that may pass: a restart, a failover, or a lost connection.

Only operations that may be repeated are tried again: searches, which change nothing, and publications, which continue
with what is there already.
"""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from gitmem.errors import DatabaseUnavailable

_FIRST_SECONDS: Final = 0.2
_LONGEST_SECONDS: Final = 15.0

_Result = TypeVar("_Result")


def try_again(
    operation: Callable[[], _Result],
    seconds: float,
    announce: Callable[[DatabaseUnavailable, float], None] = lambda *_: None,
    wait: Callable[[float], None] = time.sleep,
) -> _Result:
    """Run an operation until it passes, with growing pauses that add up to at most `seconds`.

    Each pause is twice the one before, up to a limit, and half of it is random: clients that a restart has cut off at
    one moment do not come back at one moment (exponential back-off with jitter). `announce` gets the failure and the
    pause. Raises: the last failure, and as the operation.
    """
    pause = _FIRST_SECONDS
    while True:
        try:
            return operation()
        except DatabaseUnavailable as problem:
            length = pause * (0.5 + random.random() / 2)  # noqa: S311 (no secret depends on it)
            if length > seconds:
                raise
            announce(problem, length)
        wait(length)
        seconds -= length
        pause = min(2 * pause, _LONGEST_SECONDS)
