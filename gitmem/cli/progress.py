"""Progress of a run on standard error: a redrawn line on a terminal, a line every ten seconds otherwise."""

import os
import sys
import time
from typing import TYPE_CHECKING, Final

from gitmem.cli.style import terminal_width
from gitmem.display import count, duration, visible

if TYPE_CHECKING:
    from gitmem.indexing.run import Progress

REDRAW_SECONDS: Final = 0.1
PLAIN_SECONDS: Final = 10.0
_BAR_WIDTH: Final = 18
_MIN_BAR_WIDTH: Final = 5
_WARM_UP_SECONDS: Final = 0.5
"""Time before the rate is shown: earlier it is meaningless."""


class ProgressLine:
    """Callback for the progress of a run. As a context manager it clears its line at the end."""

    def __init__(self, title: str, *, quiet: bool, unit: str = "chunk", item: str = "file") -> None:
        self._title = title
        self._unit = unit
        self._item = item
        self._quiet = quiet or sys.stderr is None
        self._terminal = not self._quiet and sys.stderr.isatty()
        self._started = self._drawn = time.monotonic()
        self._is_drawn = False

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_drawn and self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, progress: "Progress") -> None:
        title = f"{self._title} ({progress.waiting})" if progress.waiting else self._title
        self._draw(progress.blobs, progress.blobs_total, self._item, progress.rows, title)

    def announce(self, line: str) -> None:
        """Print a line before a provider gets any text, even if progress is not wanted."""
        if sys.stderr is not None:
            print(visible(line), file=sys.stderr)

    def wait(self) -> None:
        """Print that the run waits for another process."""
        if not self._quiet:
            print("another process is writing this index; waiting for it (gitmem cancel stops it)", file=sys.stderr)

    def step(self, done: int, total: int) -> None:
        """Show the progress of work that is counted in one unit."""
        self._draw(done, total, self._unit, 0, self._title)

    def _draw(self, done: int, total: int, unit: str, chunks: int, title: str) -> None:
        now = time.monotonic()
        if self._quiet or now - self._drawn < (REDRAW_SECONDS if self._terminal else PLAIN_SECONDS):
            return
        self._drawn, self._is_drawn = now, True
        # A terminal moves on to the next line after its last column, which could not be redrawn.
        width = terminal_width(os.environ) - 1 if self._terminal else 0
        line = describe(visible(title), done, total, unit, chunks, now - self._started, width=width)
        sys.stderr.write(f"\r{line}\x1b[K" if self._terminal else f"{line}\n")
        sys.stderr.flush()


def describe(title: str, done: int, total: int, unit: str, chunks: int, seconds: float, *, width: int) -> str:
    """Return the progress as one line: title, bar, finished and total units, chunks, rate and time left.

    In a narrow terminal the bar, the chunks and the end of the title give way, in this order. `width` 0 means no limit
    and no bar.
    """
    share = done / max(total, 1)
    numbers = [f"{done:,}/{total:,} {unit}s", *([count(chunks, "chunk")] if chunks else [])]
    ends = _rate_and_time_left(done, unit, share, seconds)
    line = "  ".join([title, *numbers, *ends])
    if not width:
        return line
    bar = min(_BAR_WIDTH, width - len(line) - 2)
    if bar >= _MIN_BAR_WIDTH:
        filled = round(share * bar)
        return "  ".join([title, "━" * filled + "─" * (bar - filled), *numbers, *ends])
    if len(line) <= width:
        return line
    rest = "  ".join([numbers[0], *ends])
    if len(rest) > width:
        rest = "  ".join(ends)
    room = width - len(rest) - 2
    if len(title) > room:
        title = f"{title[: room - 1]}…" if room > 1 else ""
    return f"{title}  {rest}".strip()[:width]


def _rate_and_time_left(done: int, unit: str, share: float, seconds: float) -> list[str]:
    if seconds <= _WARM_UP_SECONDS or not share:
        return []
    rate = [f"{done / seconds:,.0f} {unit}s/s"] if done >= seconds else []
    return [*rate, f"{duration(max(1.0, seconds / share - seconds))} left"]
