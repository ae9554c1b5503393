"""`--recurse-submodules`: run a command for a repository and for each one inside of it. Does not import click."""

import os
from pathlib import Path
from typing import Any

from gitmem.cli.error_output import say
from gitmem.cli.index_run import IndexOptions, run_index
from gitmem.cli.repository_entry import enter_if_new
from gitmem.errors import ExitCode, GitmemError, UsageError
from gitmem.git.locate import describe_head
from gitmem.git.nested_repositories import find_nested
from gitmem.workspace import Workspace, open_workspace


def index_all(workspace: Workspace, options: IndexOptions) -> ExitCode:
    """Index HEAD of a repository and of each one inside of it, and list them so that they are searched by name.

    One that cannot be indexed stops none of the others; the exit code is FAILED then.
    """
    root = _require_worktree(workspace)
    reports: list[dict[str, Any]] = []
    codes = [_index_one(workspace, options, root, reports)]
    for nested in find_nested(workspace.location):
        try:
            if nested.problem:
                raise GitmemError(nested.problem)
            codes.append(_index_one(open_workspace(nested.folder, os.environ), options, nested.folder, reports))
        except GitmemError as problem:
            say(f"error: {nested.folder}: {problem.message}")
            reports.append({"path": str(nested.folder), "error": problem.message})
            codes.append(ExitCode.FAILED)
    if options.as_json:
        from gitmem.cli.context import write_json  # imports click

        write_json({"repositories": reports})
    return max(codes)


def nested_folders(workspace: Workspace) -> list[str]:
    """Return the working tree and the repositories inside of it as names. Raises: UsageError, GitFailed."""
    root, nested = _require_worktree(workspace), find_nested(workspace.location)
    for one in nested:
        if one.problem:
            say(f"note: skipped {one.folder}: {one.problem}")
    return [str(root), *(str(one.folder) for one in nested if not one.problem)]


def _index_one(workspace: Workspace, options: IndexOptions, folder: Path, reports: list[dict[str, Any]]) -> ExitCode:
    name = describe_head(workspace.location)
    label = f"{folder.name} {name}"
    code = run_index(
        workspace, workspace.location.head_tree, label, options,
        put=lambda report: reports.append({"path": str(folder), **report}),
    )  # fmt: skip
    enter_if_new(workspace, os.environ)
    return code


def _require_worktree(workspace: Workspace) -> Path:
    if workspace.location.worktree is None:
        raise UsageError("`--recurse-submodules` needs a working tree", hint="leave it out in a bare repository")
    return workspace.location.worktree
