"""`gitmem init`."""

import os
from contextlib import suppress

import click

from gitmem.actions.hooks import install, read_state
from gitmem.actions.install import DEFAULT, Installer, register_project
from gitmem.answering.index_status import folder_bytes
from gitmem.cli.completer import complete
from gitmem.cli.context import open_here
from gitmem.cli.hooks import describe
from gitmem.cli.index_run import start_graph
from gitmem.cli.install import print_problems
from gitmem.cli.progress import ProgressLine
from gitmem.cli.repository_entry import enter_if_new
from gitmem.cli.run_report import print_notes, print_report, print_summary
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import ExitCode, GitmemError
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.locate import describe_head
from gitmem.install.hook_state import INSTALLED
from gitmem.memory.kinds import CODE
from gitmem.permissions import restrict_access
from gitmem.workspace import Workspace, create_index


@click.command()
@click.argument("path", default="", metavar="[PATH]", shell_complete=complete("folders"))
@click.option("--no-hooks", is_flag=True, help="Do not install git hooks.")
@click.option("--no-mcp", is_flag=True, help="Do not add the MCP server to `.mcp.json`.")
@click.pass_context
def command(ctx: click.Context, path: str, no_hooks: bool, no_mcp: bool) -> ExitCode:
    """Index this repository.

    Create `.gitmem/`, which git ignores, index all files including uncommitted ones, install the hooks that keep the
    index up to date, and add the MCP server to `.mcp.json` for Claude Code. Running it again is cheap and safe; an
    interrupted run continues where it stopped.

    \b
    Examples:
      gitmem init
      gitmem init --no-hooks ~/src/flask
    """
    workspace = open_here(ctx.obj, path)
    name = describe_head(workspace.location)
    create_index(workspace)
    restrict_access(workspace.paths.root)
    clients = None if no_mcp or workspace.location.worktree is None else Installer(workspace.location, os.environ)
    client_lines = [visible(line) for line in register_project(clients)] if clients else []
    with ProgressLine(f"indexing {name}", quiet=ctx.obj.quiet) as progress:
        tree = workspace.location.head_tree
        settings = RefreshSettings(uncommitted=True, switches_model=True, event="init")
        report = refresh(workspace, tree, settings, report=progress, on_wait=progress.wait, announce=progress.announce)
    graph = start_graph(workspace, report)
    hook_lines = [] if no_hooks else _install_hooks(workspace)
    enter_if_new(workspace, os.environ)
    if ctx.obj.quiet:
        return ExitCode.FAILED if report.problems else ExitCode.OK
    print_report(report, name)
    if not report.up_to_date:
        print_summary(report, folder_bytes(workspace.paths.root))
        print_notes(report)
        if graph:
            print_line(f"  {graph}")
    for line in [*hook_lines, *client_lines]:
        print_line(f"  {line}")
    if clients:
        print_problems(clients, [DEFAULT])
    if not report.up_to_date and (example := _example(workspace)):
        print(f'  search: gitmem query "{example}"')  # to be pasted, so never broken
    return ExitCode.FAILED if report.problems else ExitCode.OK


def _example(workspace: Workspace) -> str:
    """Return an example query about this repository, "" if there is none or it cannot be opened any more."""
    from gitmem.answering.example_query import find_example
    from gitmem.answering.searcher import open_searcher

    # The run is over; a commit, another run or an uninstallation meanwhile must not make it fail.
    with suppress(GitmemError):
        return find_example(open_searcher(workspace, WORKING_TREE, (CODE,), refresh=False))
    return ""


def _install_hooks(workspace: Workspace) -> list[str]:
    """Install the hooks; return lines for the user if that changed something or is not possible."""
    before = read_state(workspace)
    after = install(workspace)
    is_news = after != before or not after.events(INSTALLED)
    return [visible(line) for line in describe(after)] if is_news else []
