"""`gitmem index` with nothing to do, answered before click is loaded: scripts and hooks run it again and again."""

import os
from pathlib import Path

from gitmem.errors import ExitCode, GitFailed
from gitmem.freshness.currency import is_current, is_marked
from gitmem.git.locate import RepositoryLocation, describe_head
from gitmem.git.status import StatusProcess
from gitmem.install.registered_files import users_entries
from gitmem.workspace import open_workspace


def answer_if_current() -> ExitCode | None:
    """Print that HEAD is indexed and return OK; return None if the full command must run.

    It must run if a file of the user is uncommitted: only that command compares such files with the index.
    """
    workspace = open_workspace(Path(), os.environ)
    tree, name = workspace.location.head_tree, describe_head(workspace.location)
    if tree is None or not name.isascii() or is_marked(workspace) or not is_current(workspace, tree):
        return None
    if _has_uncommitted_files(workspace.location):
        return None
    print(f"up to date: {name}")
    return ExitCode.OK


def _has_uncommitted_files(location: RepositoryLocation) -> bool:
    """Return whether the working tree differs from HEAD, or cannot be compared with it.

    A client's file as `gitmem init` wrote it does not count: it may stay uncommitted for ever, and a query indexes it.
    """
    if location.worktree is None:
        return False
    try:
        with StatusProcess(location) as process:
            status = process.finish()
    except GitFailed:
        return True
    return bool(users_entries(location, status.entries)) or status.commit != location.head_commit
