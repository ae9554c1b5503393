"""Activity of the server, so that it can end when nobody has used it for a while."""

import threading
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

_CHECK_SECONDS = 1.0


class Activity:
    """Time of the last request, and the number of requests in progress. May be used from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._active = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Note the start of a request."""
        with self._lock:
            self._active += 1

    def end(self) -> None:
        """Note the end of a request."""
        with self._lock:
            self._active -= 1
            self._last = self._clock()

    def touch(self) -> None:
        """Note a use of the server in another way than over HTTP."""
        with self._lock:
            self._last = self._clock()

    def idle_seconds(self) -> float:
        """Return the time since the last use; 0 during a request."""
        with self._lock:
            # A page that watches a run holds a request open, so the server does not end below it.
            return 0.0 if self._active else self._clock() - self._last


class ActiveRequests:
    """Application around another one that counts its requests."""

    def __init__(self, app: ASGIApp, activity: Activity) -> None:
        self._app = app
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._activity.begin()
        try:
            await self._app(scope, receive, send)
        finally:
            self._activity.end()


def end_when_idle(
    activity: Activity, seconds: float, is_busy: Callable[[], bool], stopped: threading.Event, stop: Callable[[], None]
) -> None:
    """Call `stop` as soon as nobody has used the server for so many seconds, unless it is busy. Returns then."""
    while not stopped.wait(min(_CHECK_SECONDS, seconds)):
        # A run without a watcher counts as use, too: its work would be cut off.
        if is_busy():
            activity.touch()
        elif activity.idle_seconds() >= seconds:
            stop()
            return
