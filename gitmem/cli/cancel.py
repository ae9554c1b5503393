"""`gitmem cancel`."""

import click

from gitmem.actions.cancel import cancel
from gitmem.cli.context import open_here
from gitmem.display import visible
from gitmem.errors import ExitCode


@click.command()
@click.pass_context
def command(ctx: click.Context) -> ExitCode:
    """Stop an index run in another process.

    Each worker process ends after at most ten more chunks. Completed work is kept, also that of `gitmem index --full`:
    the printed command continues from there.

    \b
    Examples:
      gitmem cancel
    """
    outcome = cancel(open_here(ctx.obj))
    if outcome.stopped:
        print(f"stopped; completed work is kept, continue with: {visible(outcome.resume)}")
    else:
        print("the index run ended before it could be stopped" if outcome.found else "no index run to stop")
    return ExitCode.OK
