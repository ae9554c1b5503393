"""`gitmem init`."""

import os

import click

from gitmem.actions.hooks import install, read_state
from gitmem.actions.install import register_project
from gitmem.actions.repos import note_repository
from gitmem.cli.context import is_quiet, open_here
from gitmem.cli.hooks import describe
from gitmem.cli.index import start_graph
from gitmem.cli.progress import ProgressLine
from gitmem.cli.run_report import print_notes, print_report, print_summary
from gitmem.display import visible
from gitmem.errors import ExitCode
from gitmem.freshness.refresh import refresh
from gitmem.git.locate import describe_head
from gitmem.install.hook_state import INSTALLED
from gitmem.workspace import Workspace, create_index


@click.command()
@click.argument("path", default="", metavar="[PATH]")
@click.option("--no-hooks", is_flag=True, help="Do not let git start gitmem after commits, merges and checkouts.")
@click.option("--no-mcp", is_flag=True, help="Do not enter the server for agents into `.mcp.json`.")
@click.pass_context
def command(ctx: click.Context, path: str, no_hooks: bool, no_mcp: bool) -> ExitCode:
    """Index this repository.

    Makes `.gitmem/` beside it, hidden from git, indexes what is there, uncommitted work included, installs the hooks
    that keep the index up to date, and enters the server for agents into `.mcp.json`, where Claude Code finds it.
    Running it again costs little and harms nothing; an interrupted run goes on where it stopped.

    \b
    Examples:
      gitmem init
      gitmem init --no-hooks ~/src/flask
    """
    workspace = open_here(ctx, path)
    name = describe_head(workspace.location)
    create_index(workspace)
    entered = [] if no_mcp else [visible(line) for line in register_project(workspace)]
    with ProgressLine(f"indexing {name}", quiet=is_quiet(ctx)) as progress:
        tree = workspace.location.head_tree
        made = refresh(workspace, tree, uncommitted=True, report=progress, on_wait=progress.wait)
    graph = start_graph(workspace, made)
    hooks = [] if no_hooks else _install_hooks(workspace)
    note_repository(workspace, os.environ)
    if is_quiet(ctx):
        return ExitCode.FAILED if made.problems else ExitCode.OK
    print_report(made, name)
    if not made.up_to_date:
        from gitmem.answering.index_status import folder_bytes

        print_summary(made, folder_bytes(workspace.paths.root))
        print_notes(made)
        if graph:
            print(f"  {graph}")
    for line in [*hooks, *entered]:
        print(f"  {line}")
    if not made.up_to_date:
        print('  ask: gitmem query "where are cookies signed"')
    return ExitCode.FAILED if made.problems else ExitCode.OK


def _install_hooks(workspace: Workspace) -> list[str]:
    """Install them, and tell so where they were not there, or cannot be."""
    before = read_state(workspace)
    after = install(workspace)
    told = after != before or not after.events(INSTALLED)
    return [visible(line) for line in describe(after)] if told else []
