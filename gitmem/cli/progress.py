"""How far indexing is, on standard error: a line that redraws itself on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import TYPE_CHECKING, Final

from gitmem.cli.text import count, duration

if TYPE_CHECKING:
    from gitmem.indexing.run import Progress

REDRAW_SECONDS: Final = 0.1
PLAIN_SECONDS: Final = 10.0
_WIDTH: Final = 18


class ProgressLine:
    """Callable with each state of a run; use it as a context so that its last line is cleared."""

    def __init__(self, what: str, *, quiet: bool) -> None:
        self._what = what
        self._quiet = quiet or sys.stderr is None
        self._terminal = not self._quiet and sys.stderr.isatty()
        self._started = self._drawn = time.monotonic()
        self._shown = False

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, progress: "Progress") -> None:
        now = time.monotonic()
        if self._quiet or now - self._drawn < (REDRAW_SECONDS if self._terminal else PLAIN_SECONDS):
            return
        self._drawn, self._shown = now, True
        line = describe(self._what, progress, now - self._started, bar=self._terminal)
        sys.stderr.write(f"\r{line}\x1b[K" if self._terminal else f"{line}\n")
        sys.stderr.flush()


def describe(what: str, progress: "Progress", seconds: float, *, bar: bool) -> str:
    """The state of a run as one line."""
    done = progress.blobs / max(progress.blobs_total, 1)
    parts = [what]
    if bar:
        parts.append("━" * round(done * _WIDTH) + "─" * (_WIDTH - round(done * _WIDTH)))
    parts.append(f"{progress.blobs:,}/{progress.blobs_total:,} files")
    parts.append(count(progress.rows, "chunk"))
    if seconds > 0.5 and done > 0:
        parts.append(f"{progress.blobs / seconds:,.0f} files/s")
        parts.append(f"{duration(max(1.0, seconds / done - seconds))} left")
    return "  ".join(parts)
