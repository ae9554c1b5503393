"""`gitmem cancel`."""

import click

from gitmem.actions.cancel import cancel
from gitmem.cli.context import open_here
from gitmem.errors import ExitCode


@click.command()
@click.pass_context
def command(ctx: click.Context) -> ExitCode:
    """Stop an index run in another process.

    The run ends after its current batches. Completed work is kept: the next `gitmem index` continues from there.

    \b
    Examples:
      gitmem cancel
    """
    stopped = cancel(open_here(ctx))
    print("stopped; completed work is kept, continue with: gitmem index" if stopped else "no index run to stop")
    return ExitCode.OK
