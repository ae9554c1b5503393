"""Cost of `git status`, which every query runs, and the settings of git that would lower it in this repository."""

import os
from typing import Final

from gitmem.git.program import run_git
from gitmem.git.status import read_status
from gitmem.git.status_shortcuts import StatusShortcuts
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace

HIGH_SECONDS: Final = 0.3
"""CPU time from which advice is worth reading: a person notices it in each query."""

_SHARE: Final = 0.25
"""Share of the time that a setting must save."""

_TRACKED: Final = ("--no-ahead-behind", "--no-renames", "--porcelain=v2", "--untracked-files=no")


class StatusCost(NamedTuple):
    """CPU seconds of `git status` as a query runs it, and of the part that looks for untracked files.

    `remedy` is a command that would lower it, "" if there is none.
    """

    seconds: float
    untracked: float
    remedy: str


def measure_status(workspace: Workspace) -> StatusCost:
    """Run `git status`, if it is slow also without untracked files. Needs a working tree. Raises: GitFailed."""
    location = workspace.location
    before = _children_seconds()
    read_status(location)
    seconds = _children_seconds() - before
    if seconds < HIGH_SECONDS:
        return StatusCost(seconds, 0.0, "")
    before = _children_seconds()
    run_git([f"--work-tree={location.worktree}", "status", *_TRACKED], cwd=location.worktree, git_dir=location.git_dir)
    tracked = _children_seconds() - before
    untracked = max(0.0, seconds - tracked)
    return StatusCost(
        seconds, untracked, find_remedy(location.shortcuts, seconds, untracked, has_monitor=_has_monitor())
    )


def find_remedy(shortcuts: StatusShortcuts, seconds: float, untracked: float, *, has_monitor: bool) -> str:
    """Return the command that would lower these CPU seconds most, "" if there is none."""
    if not shortcuts.cached and untracked > _SHARE * seconds:
        return "git config core.untrackedCache true"
    if not shortcuts.daemon and not shortcuts.program and has_monitor:
        return "git config core.fsmonitor true"
    return ""


def _has_monitor() -> bool:
    """Return whether this git has a file system monitor of its own: on macOS since 2.37, not everywhere on Linux."""
    return b"fsmonitor--daemon" in run_git(["version", "--build-options"]).stdout


def _children_seconds() -> float:
    """Return the CPU time of all ended child processes so far."""
    times = os.times()
    return times.children_user + times.children_system
