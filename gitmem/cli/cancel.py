"""`gitmem cancel`."""

import click

from gitmem.actions.cancel import cancel
from gitmem.cli.context import open_here
from gitmem.errors import ExitCode


@click.command()
@click.pass_context
def command(ctx: click.Context) -> ExitCode:
    """Stop an index run in another process.

    It ends after the batch at hand. What it has done is kept: the next `gitmem index` goes on from there.

    \b
    Examples:
      gitmem cancel
    """
    stopped = cancel(open_here(ctx))
    print("stopped; what is done is kept, to go on: gitmem index" if stopped else "no run is going on")
    return ExitCode.OK
