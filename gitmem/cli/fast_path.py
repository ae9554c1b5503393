"""`gitmem index` where nothing is to be done, answered before the parser of arguments is loaded."""

import os
from pathlib import Path

from gitmem.errors import ExitCode
from gitmem.freshness.currency import is_current, is_marked
from gitmem.git.locate import describe_head
from gitmem.workspace import open_workspace


def answer_if_current() -> ExitCode | None:
    """Say that HEAD is indexed and return 0; None where it is not, or something else is to be said.

    What is uncommitted is looked at only where somebody left word that it is not indexed.
    """
    workspace = open_workspace(Path(), os.environ)
    tree, name = workspace.location.head_tree, describe_head(workspace.location)
    if tree is None or not name.isascii() or is_marked(workspace) or not is_current(workspace, tree):
        return None
    print(f"up to date: {name}")
    return ExitCode.OK
