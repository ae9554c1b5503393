"""`gitmem index` with nothing to do, answered before click is loaded: scripts and hooks run it again and again."""

import os
from pathlib import Path

from gitmem.errors import ExitCode
from gitmem.freshness.currency import is_current, is_marked
from gitmem.git.locate import describe_head
from gitmem.workspace import open_workspace


def answer_if_current() -> ExitCode | None:
    """Print that HEAD is indexed and return OK; return None if the full command must run.

    Uncommitted files are not compared here. A mark in the state folder says that some are not indexed.
    """
    workspace = open_workspace(Path(), os.environ)
    tree, name = workspace.location.head_tree, describe_head(workspace.location)
    if tree is None or not name.isascii() or is_marked(workspace) or not is_current(workspace, tree):
        return None
    print(f"up to date: {name}")
    return ExitCode.OK
