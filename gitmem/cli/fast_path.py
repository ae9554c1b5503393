"""`gitmem index` without options, run before click is loaded: scripts and agents run it again and again."""

import os
from pathlib import Path

from gitmem.cli.repository_entry import enter_if_new
from gitmem.errors import ExitCode
from gitmem.freshness.currency import is_current
from gitmem.git.locate import RepositoryLocation, describe_head
from gitmem.git.status import read_staged
from gitmem.install.registered_files import users_entries
from gitmem.workspace import open_workspace


def index_head() -> ExitCode:
    """Bring the index up to date with HEAD and the staged files, and report it."""
    workspace = open_workspace(Path(), os.environ)
    tree, name = workspace.location.head_tree, describe_head(workspace.location)
    if workspace.settings.recurse_submodules == "true":
        from gitmem.cli.index_run import IndexOptions
        from gitmem.cli.nested_run import index_all

        return index_all(workspace, IndexOptions())
    enter_if_new(workspace, os.environ)
    if tree and name.isascii() and is_current(workspace, tree) and not _has_staged_files(workspace.location):
        print(f"up to date: {name}")
        return ExitCode.OK
    from gitmem.cli.index_run import IndexOptions, run_index  # a run with nothing to do does without it

    return run_index(workspace, tree, name, IndexOptions())


def _has_staged_files(location: RepositoryLocation) -> bool:
    """Return whether files of the user are staged.

    A client's file as `gitmem init` wrote it does not count: it may stay uncommitted for ever, and a query indexes it.
    """
    return location.worktree is not None and bool(users_entries(location, read_staged(location)))
