"""`gitmem init`."""

import click

from gitmem.actions.hooks import install, read_state
from gitmem.actions.refresh import refresh
from gitmem.cli.hooks import describe
from gitmem.cli.index import start_graph
from gitmem.cli.progress import ProgressLine
from gitmem.cli.report import print_notes, print_report, print_summary
from gitmem.cli.session import is_quiet, open_here
from gitmem.git.locate import describe_head
from gitmem.install.state import INSTALLED
from gitmem.text import visible
from gitmem.workspace import Workspace


@click.command()
@click.argument("path", default="", metavar="[PATH]")
@click.option("--no-hooks", is_flag=True, help="Do not let git start gitmem after commits, merges and checkouts.")
@click.pass_context
def command(ctx: click.Context, path: str, no_hooks: bool) -> int:
    """Index this repository.

    Makes `.gitmem/` beside it, hidden from git, indexes HEAD and installs the hooks that keep the index up to date.
    Running it again costs little and harms nothing; an interrupted run goes on where it stopped.

    \b
    Examples:
      gitmem init
      gitmem init --no-hooks ~/src/flask
    """
    workspace = open_here(ctx, path)
    name = describe_head(workspace.location)
    with ProgressLine(f"indexing {name}", quiet=is_quiet(ctx)) as progress:
        made = refresh(workspace, workspace.location.head_tree, report=progress)
    graph = start_graph(workspace, made)
    hooks = [] if no_hooks else _install_hooks(workspace)
    if is_quiet(ctx):
        return 5 if made.problems else 0
    print_report(made, name)
    if not made.up_to_date:
        from gitmem.actions.status import folder_bytes

        print_summary(made, folder_bytes(workspace.paths.root))
        print_notes(made)
        if graph:
            print(f"  {graph}")
    for line in hooks:
        print(f"  {line}")
    if not made.up_to_date:
        print('  ask: gitmem query "where are cookies signed"')
    return 5 if made.problems else 0


def _install_hooks(workspace: Workspace) -> list[str]:
    """Install them, and tell so where they were not there, or cannot be."""
    before = read_state(workspace)
    after = install(workspace)
    told = after != before or not after.events(INSTALLED)
    return [visible(line) for line in describe(after)] if told else []
