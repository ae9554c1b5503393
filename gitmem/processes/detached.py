"""Work that goes on after the command that started it has ended, without its terminal and its files."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_NICENESS: Final = 10
"""Scheduling priority, the same as in `hooks/*.sh`."""


def run_detached(work: Callable[[], None]) -> None:
    """Do some work in a background process and return at once; where processes cannot be copied, do it now.

    The work reports its own failures: nobody sees its output.
    """
    if os.name == "posix":
        if os.fork():
            return
        _detach()
    with suppress(Exception):
        work()
    if os.name == "posix":
        os._exit(0)  # returning would go on with the command that this process is a copy of


def _detach() -> None:
    """Detach from the terminal, close every descriptor, and lower the priority."""
    with suppress(OSError):
        os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for `&`
    # A program that captures the output of the command waits until every process has closed the pipe.
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    for _ in range(3):
        os.open(os.devnull, os.O_RDWR)
    os.nice(max(0, _NICENESS - os.nice(0)))  # the shell of a hook has already set it if it started this program
