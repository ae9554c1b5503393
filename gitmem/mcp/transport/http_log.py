"""Log of the HTTP server on standard error: one line for each problem, and no line again within a minute.

The libraries log a traceback for every failed request, and asyncio one for every connection that it cannot accept. A
client could fill a disk with them. A line names the exception and the place in the code that raised it.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import Callable
from typing import Final

from gitmem.display import visible

_REPEAT_SECONDS: Final = 60.0
"""Time for which the same problem is not logged again."""

_MAX_PROBLEMS: Final = 100
"""Problems remembered; all are forgotten when there are more."""

_MAX_COLUMNS: Final = 500


class OneLineHandler(logging.Handler):
    """Passes each record to `write` as one line. `clock` returns seconds."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.WARNING)
        self._write = write
        self._clock = clock
        self._last_logged: dict[tuple[str, str, str], float] = {}
        self._muted = False

    def mute(self) -> None:
        """Log nothing any more: at the shutdown, requests are cancelled, which is not a problem."""
        self._muted = True

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record, unless it is a repetition. The handler's lock is held."""
        error = record.exc_info[1] if record.exc_info else None
        if self._muted or isinstance(error, asyncio.CancelledError):
            return
        problem = (record.name, str(record.msg), type(error).__name__)
        now = self._clock()
        if now - self._last_logged.get(problem, -_REPEAT_SECONDS) < _REPEAT_SECONDS:
            return
        if len(self._last_logged) >= _MAX_PROBLEMS:
            self._last_logged.clear()
        self._last_logged[problem] = now
        text = record.getMessage().strip().partition("\n")[0] + _describe(error)
        self._write(f"gitmem: {visible(text)[:_MAX_COLUMNS]}")


def _describe(error: BaseException | None) -> str:
    if error is None:
        return ""
    text = f": {type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    return text + (f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else "")
