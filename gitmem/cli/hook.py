"""`gitmem hook EVENT`, which hooks call: returns at once and prints nothing, whatever there is to do or to complain of.

Not for people, so the list of commands leaves it out; the parser of arguments is not loaded for it.
"""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import ExitCode, UsageError
from gitmem.install.hook_state import EVENTS
from gitmem.paths import STARTING

REFRESH: Final = "refresh"
_NICENESS: Final = 10
"""That of `hooks/*.sh`."""


def run_hook(args: Sequence[str]) -> ExitCode:
    """Take up, in a process of its own, what an event of git changed, or anything at all with `refresh`. Returns 0.

    What git hands its hooks besides the event is not looked at: the repository says what has changed.
    """
    if not args or args[0] not in (*EVENTS, REFRESH):
        raise UsageError("`gitmem hook` is called by git's hooks", hint="to index by hand: gitmem index")
    if os.name == "posix":
        if os.fork():
            return ExitCode.OK
        _settle()
    with suppress(Exception):  # nobody listens, and what belongs to a repository with an index is in its log
        _catch_up(args[0])
    return ExitCode.OK


def _settle() -> None:
    """Let go of the terminal, of every descriptor (a caller may wait for the end of its pipe) and of the processor."""
    with suppress(OSError):
        os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    for _ in range(3):
        os.open(os.devnull, os.O_RDWR)
    os.nice(max(0, _NICENESS - os.nice(0)))  # the hook's shell has done so for the start of this program


def _catch_up(event: str) -> None:
    from gitmem.freshness.catch_up import catch_up
    from gitmem.workspace import open_workspace

    workspace = open_workspace(Path(), os.environ)
    with suppress(OSError):  # what happens from here on may come too late for us: the next hook is to start another
        (Path(os.environ.get("GIT_DIR") or ".git") / STARTING).unlink()
    os.chdir(workspace.location.git_dir)  # a folder that somebody removes or moves is not held
    catch_up(workspace, event, os.environ)
