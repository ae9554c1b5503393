"""`gitmem init`."""

import click

from gitmem.actions.refresh import refresh
from gitmem.cli.index import start_graph
from gitmem.cli.progress import ProgressLine
from gitmem.cli.report import print_notes, print_report, print_summary
from gitmem.cli.session import is_quiet, open_here
from gitmem.git.locate import describe_head


@click.command()
@click.argument("path", default="", metavar="[PATH]")
@click.pass_context
def command(ctx: click.Context, path: str) -> int:
    """Index this repository.

    Makes `.gitmem/` beside it, hidden from git, and indexes HEAD. Running it again costs little and harms nothing;
    an interrupted run goes on where it stopped.

    \b
    Examples:
      gitmem init
      gitmem init ~/src/flask
    """
    workspace = open_here(ctx, path)
    name = describe_head(workspace.location)
    with ProgressLine(f"indexing {name}", quiet=is_quiet(ctx)) as progress:
        made = refresh(workspace, workspace.location.head_tree, report=progress)
    graph = start_graph(workspace, made)
    if is_quiet(ctx):
        return 5 if made.problems else 0
    print_report(made, name)
    if not made.up_to_date:
        from gitmem.actions.status import folder_bytes

        print_summary(made, folder_bytes(workspace.paths.root))
        print_notes(made)
        if graph:
            print(f"  {graph}")
        print('  ask: gitmem query "where are cookies signed"')
    return 5 if made.problems else 0
