"""How far a run is, on standard error: a line that redraws itself on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import TYPE_CHECKING, Final

from gitmem.cli.style import terminal_width
from gitmem.display import count, duration, visible

if TYPE_CHECKING:
    from gitmem.indexing.run import Progress

REDRAW_SECONDS: Final = 0.1
PLAIN_SECONDS: Final = 10.0
_WIDTH: Final = 18
_SETTLED: Final = 0.5
"""Seconds before a rate means anything."""


class ProgressLine:
    """Callable with each state of a run; use it as a context so that its last line is cleared."""

    def __init__(self, what: str, *, quiet: bool, unit: str = "chunk") -> None:
        self._what = what
        self._unit = unit
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
        self._draw(progress.blobs, progress.blobs_total, "file", progress.rows)

    def wait(self) -> None:
        """Say that the work begins when another process has ended its own."""
        if not self._quiet:
            print("another process is writing this index; waiting for it (gitmem cancel ends it)", file=sys.stderr)

    def step(self, done: int, total: int) -> None:
        """The state of work that is counted in one unit alone."""
        self._draw(done, total, self._unit, 0)

    def _draw(self, done: int, total: int, unit: str, chunks: int) -> None:
        now = time.monotonic()
        if self._quiet or now - self._drawn < (REDRAW_SECONDS if self._terminal else PLAIN_SECONDS):
            return
        self._drawn, self._shown = now, True
        line = describe(done, total, unit, chunks, now - self._started, bar=self._terminal)
        width = terminal_width() if self._terminal else 0
        line = visible(f"{self._what}  {line}")
        sys.stderr.write(f"\r{line[: width - 1]}\x1b[K" if self._terminal else f"{line}\n")
        sys.stderr.flush()


def describe(done: int, total: int, unit: str, chunks: int, seconds: float, *, bar: bool) -> str:
    """The state of a run: how much of it is done, how fast it goes, how long it will take."""
    share = done / max(total, 1)
    filled = round(share * _WIDTH)
    parts = ["━" * filled + "─" * (_WIDTH - filled)] if bar else []
    parts.append(f"{done:,}/{total:,} {unit}s")
    if chunks:
        parts.append(count(chunks, "chunk"))
    if seconds > _SETTLED and share > 0:
        if done >= seconds:
            parts.append(f"{done / seconds:,.0f} {unit}s/s")
        parts.append(f"{duration(max(1.0, seconds / share - seconds))} left")
    return "  ".join(parts)
