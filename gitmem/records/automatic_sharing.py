"""Share records after the user's own fetches and pushes, in the background process of a hook.

It asks nobody and reports nothing: without a network, or if a remote refuses, the next fetch or push tries again. It
pushes only to a remote that `gitmem share init` prepared, for there somebody was asked.
"""

import os
from pathlib import Path
from typing import Final

from gitmem.errors import Busy, GitFailed, UsageError
from gitmem.fsio import remove_file, write_atomic
from gitmem.git.locate import RepositoryLocation
from gitmem.git.remotes import find_remote
from gitmem.locks import writer_lock
from gitmem.paths import SHARED, SHARING, SHARING_WANTED
from gitmem.records.exchange import exchange
from gitmem.records.sharing_place import is_prepared
from gitmem.records.transport import GitRemote
from gitmem.workspace import Workspace

_FETCHED: Final = "FETCH_HEAD"
"""File that each of the user's fetches writes, and none of ours: git has no hook for the end of a fetch."""

PATIENCE_SECONDS: Final = 120.0
"""How long git may take for one step. A remote that hangs would keep `gitmem sync` and purges waiting for ever."""

_QUIET: Final = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never", "GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": "60",
}  # fmt: skip
"""Environment of git that asks for no password and gives up on a server that does not answer."""


def share_after(workspace: Workspace, *, pushes: bool) -> bool:
    """Share if `gitmem.autoShare` is on and the user pushes or has fetched; return whether this process tried.

    Our pushes run no hook and our fetches leave no mark, so no exchange starts another one. If another process shares
    already, that one starts again afterwards. Raises: StorageFailed.
    """
    location = workspace.location
    if workspace.settings.auto_share != "true" or not (pushes or _has_fetched(location)):
        return False
    wanted = location.common_dir / SHARING_WANTED
    write_atomic(wanted, [b""])
    os.environ.update(_QUIET)
    shared = False
    # The mark is looked at again after the release of the lock: a request in between is not lost.
    while wanted.exists():
        try:
            with writer_lock(location.common_dir / SHARING, wait=False):
                _share(workspace, wanted)
        except Busy:
            return shared
        shared = True
    return shared


def _has_fetched(location: RepositoryLocation) -> bool:
    """Return whether the user has fetched since the last exchange."""
    return _modified(location.git_dir / _FETCHED) > _modified(location.common_dir / SHARED)


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _share(workspace: Workspace, wanted: Path) -> None:
    """Exchange records once. The marks come first: a fetch or a push during the exchange asks for another one."""
    remove_file(wanted)
    write_atomic(workspace.location.common_dir / SHARED, [b""])
    try:
        name = find_remote(workspace.location, "")
        pushes = is_prepared(workspace.location, name)
        remote = GitRemote(workspace.location, name, push=pushes, patience=PATIENCE_SECONDS)
        exchange(workspace, remote, pull=True, push=pushes)
    except (GitFailed, UsageError):
        pass  # offline, refused, a secret, or no remote: `gitmem sync` says so to a person
