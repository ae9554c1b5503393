"""Shared by all commands: the repository they work in, `--quiet`, and JSON output."""

import os
from pathlib import Path

from gitmem.cli import console
from gitmem.cli.invocation import Invocation, current_invocation
from gitmem.errors import NotARepository
from gitmem.workspace import Workspace, open_workspace


def open_here(invocation: Invocation, path: str = "") -> Workspace:
    """Open the repository of `-C`, or of a path relative to it. Commands on records warn if the memory lost some."""
    client = console.client_console()
    if client is not None:
        workspace = client.answers.workspace()
    else:
        workspace = open_workspace(Path(invocation.folder) / path, os.environ)
    if invocation.paths is None:
        _warn_of_unknown_variable(invocation)
    invocation.paths = workspace.paths  # for the event of this command
    if invocation.warns:
        _warn_of_lost_records(workspace)
    return workspace


def open_here_if_any(invocation: Invocation) -> Workspace | None:
    """Open the repository of `-C`; return None outside of one. Raises: ConfigError."""
    try:
        return open_here(invocation)
    except NotARepository:
        return None


def _warn_of_unknown_variable(invocation: Invocation) -> None:
    """Warn of a variable `GITMEM_...` that nothing reads: it is probably misspelt."""
    environment = console.environment()
    if invocation.quiet or not any(name.startswith("GITMEM_") for name in environment):
        return
    from gitmem.cli.error_output import say
    from gitmem.settings import find_unknown_variable

    problem = find_unknown_variable(environment)
    if problem is not None:
        say(f"warning: {problem.message}")
        say(f"hint: {problem.hint}")


def _warn_of_lost_records(workspace: Workspace) -> None:
    from gitmem.cli.error_output import say
    from gitmem.memory.last_tip import find_lost_records

    lost = find_lost_records(workspace.location)
    if lost is not None:
        say(f"warning: {lost.problem}")
        say(f"hint: {lost.remedy}")


def folder_in_tree(invocation: Invocation, workspace: Workspace) -> str:
    """Return the folder in which the command was given, relative to the root of the working tree; "" outside of it."""
    root = workspace.location.worktree
    here = Path(os.path.realpath(invocation.folder))
    if root is None or not here.is_relative_to(root):
        return ""
    return "" if here == root else here.relative_to(root).as_posix()


def find_file(name: str) -> Path:
    """Return a file of the command line. It is relative to the folder of `-C`, as with `git -C`."""
    return Path(current_invocation().folder, name)


def page_output(invocation: Invocation) -> None:
    """Send all further output of the command into a pager if standard output is a terminal."""
    if invocation.pager and console.stdout().isatty():
        from gitmem.cli.pager import start_pager  # programs never need it

        start_pager(invocation)


def write_json(value: object) -> None:
    """Print a value as JSON in plain ASCII, which every output encoding can represent."""
    import json

    console.stdout().write(json.dumps(value, indent=2) + "\n")


def write_json_line(value: object) -> None:
    """Print a value as JSON on one line."""
    import json

    console.stdout().write(json.dumps(value, separators=(",", ":")) + "\n")
