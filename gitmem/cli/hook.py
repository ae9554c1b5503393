"""`gitmem hook EVENT`, which git hooks call: return at once and print nothing, whatever happens.

It is not a command for people, so `--help` does not list it, and it runs without click to start faster.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.errors import ExitCode, UsageError
from gitmem.install.hook_state import EVENTS, PUSHES
from gitmem.paths import PUSHING, STARTING
from gitmem.processes.detached import run_detached

if TYPE_CHECKING:
    from gitmem.git.locate import RepositoryLocation
    from gitmem.workspace import Workspace

REFRESH: Final = "refresh"
_PRE_COMMIT: Final = "PRE_COMMIT"
"""Variable that pre-commit sets for its hooks, and below those that show at which event it runs."""

_PRE_COMMIT_EVENTS: Final = {
    "PRE_COMMIT_CHECKOUT_TYPE": "post-checkout",
    "PRE_COMMIT_IS_SQUASH_MERGE": "post-merge",
    "PRE_COMMIT_REWRITE_COMMAND": "post-rewrite",
    "PRE_COMMIT_REMOTE_NAME": PUSHES,
}
_CALLER: Final = "GITMEM_CALLER"
"""Variable by which the shell of a hook passes on the process id of the git command that called it."""

_CALLER_SECONDS: Final = 2.0
"""How long to wait for the end of that command; it may be a rebase, or wait for the editor of a commit message."""

_POLL_SECONDS: Final = 0.05


def run_hook(args: Sequence[str]) -> ExitCode:
    """Start a background process that indexes the changes of a git event, or any changes with `refresh`; return OK.

    The arguments that git passes to its hooks are ignored: the repository itself shows the changes.
    """
    if not args or args[0] not in (*EVENTS, REFRESH):
        raise UsageError("`gitmem hook` is called by git's hooks", hint="to index by hand: gitmem index")
    run_detached(lambda: _catch_up(args[0]))  # failures are in the run log of the index
    return ExitCode.OK


def _runs_without(location: "RepositoryLocation", event: str) -> bool:
    """Return whether git starts gitmem at this event also without pre-commit, which has started this process."""
    from gitmem.git.version import read_version
    from gitmem.install.hook_setup import starts_gitmem

    return starts_gitmem(location, event, read_version())


def _pre_commit_event(event: str) -> str:
    """Return the event at which pre-commit runs: its hook for all of them names none."""
    if event != REFRESH:
        return event
    return next((name for variable, name in _PRE_COMMIT_EVENTS.items() if variable in os.environ), "post-commit")


def _await_caller(process_id: str) -> None:
    """Wait a while for the end of the git command that called the hook.

    A commit runs several hooks, and its own work goes on between them and afterwards. Until it ends, the index would
    compete with it for the processor, and be outdated at once.
    """
    deadline = time.monotonic() + _CALLER_SECONDS
    while process_id.isdecimal() and _is_running(int(process_id)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except PermissionError:
        return True  # it belongs to another user
    except (OSError, OverflowError):
        return False
    return True


def _catch_up(event: str) -> None:
    from gitmem.freshness.catch_up import catch_up
    from gitmem.workspace import open_workspace

    workspace = open_workspace(Path(), os.environ)
    pushes = event == PUSHES
    if _PRE_COMMIT in os.environ:
        known = _pre_commit_event(event)
        if _runs_without(workspace.location, known):
            return
        pushes = known == PUSHES
    _await_caller(os.environ.get(_CALLER, ""))
    # From here on a later event may be missed, so the next hook must start a process of its own again.
    with suppress(OSError):
        (Path(os.environ.get("GIT_DIR") or ".git") / (PUSHING if pushes else STARTING)).unlink()
    os.chdir(workspace.location.git_dir)  # do not keep a working tree busy that the user removes or moves
    if not pushes:
        _log_failures(workspace, event, lambda: catch_up(workspace, event, os.environ))
    if workspace.settings.auto_share == "true":
        # Only who shares pays for the import; the process of the hook has detached by now.
        from gitmem.freshness.run_log import SHARING
        from gitmem.records.automatic_sharing import share_after

        _log_failures(workspace, SHARING, lambda: share_after(workspace, pushes=pushes))


def _log_failures(workspace: "Workspace", event: str, work: Callable[[], object]) -> None:
    """Do work, and log its failure: nobody sees the output of this process."""
    from gitmem.freshness.catch_up import log_failure

    started = time.monotonic()
    try:
        work()
    except Exception as problem:
        log_failure(workspace, event, problem, time.monotonic() - started)
