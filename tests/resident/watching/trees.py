"""Folders to watch, and how to fill the kernel's queue of events."""

from pathlib import Path
from typing import Final

import pytest

_QUEUE_LENGTH: Final = Path("/proc/sys/fs/inotify/max_queued_events")
_LONGEST: Final = 1 << 16


def make_tree(folder: Path) -> Path:
    """Make a folder with a file two levels down."""
    (folder / "tree" / "a").mkdir(parents=True)
    (folder / "tree" / "a" / "file").write_text("text")
    return folder / "tree"


def overflow(folder: Path) -> None:
    """Cause more events than an inotify queue holds; skips the test if the queue is very long."""
    length = int(_QUEUE_LENGTH.read_text())
    if length > _LONGEST:
        pytest.skip(f"{_QUEUE_LENGTH} is {length}")
    file = folder / "one"
    for _ in range(length // 2 + 1):  # in turn: the kernel merges equal events that follow each other
        file.touch()
        file.unlink()
