"""CPU time of a command and, separately, of the processes that it leaves running.

The kernel gives orphans to the nearest ancestor that asked for them (`PR_SET_CHILD_SUBREAPER`, Linux), so this process
becomes their parent and can wait for them. Other children of this process are left alone; it must start none meanwhile.
"""

import ctypes
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage
from typing import Final

from tests.bench.processes import Command, require_success

_SUBREAPER: Final = 36
"""`PR_SET_CHILD_SUBREAPER` of prctl(2)."""


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds until a command returned, its elapsed seconds, and the CPU seconds of what it left running."""

    foreground: float
    elapsed: float
    background: float


def is_supported() -> bool:
    """Return whether orphans can be waited for."""
    return sys.platform == "linux"


def run_to_last(command: Command) -> Spent:
    """Run a command, then wait for the end of all processes it left. Raises CommandFailed."""
    others = _children()
    _adopt_orphans(adopt=True)
    try:
        began = time.perf_counter()
        process = subprocess.Popen(
            command.args, cwd=command.cwd, env=command.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        background = _wait_for_orphans(others)
    finally:
        _adopt_orphans(adopt=False)
    require_success(command, process.returncode, b"")
    return Spent(_seconds(usage), elapsed, background)


def _wait_for_orphans(others: set[int]) -> float:
    """Wait for all children but some, and return their CPU seconds."""
    seconds = 0.0
    while orphans := _children() - others:  # each may leave further ones
        seconds += sum(_seconds(os.wait4(orphan, 0)[2]) for orphan in orphans)
    return seconds


def _children() -> set[int]:
    """Return the children of this process, of all of its threads."""
    children: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # of a thread that has ended
            children.update(map(int, task.read_text().split()))
    return children


def _adopt_orphans(*, adopt: bool) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_SUBREAPER, int(adopt), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _seconds(usage: struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime
