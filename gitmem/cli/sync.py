"""`gitmem sync`: pull the records of others, then push this clone's."""

from typing import Any

import click

from gitmem.cli.exchange_command import exchange_options, exchange_with_remote
from gitmem.errors import ExitCode


@click.command()
@exchange_options(pushes=True)
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> ExitCode:
    """Pull the records of others from a git remote, then push this clone's.

    See `gitmem pull` and `gitmem push`. After `gitmem memory purge` it also removes former revisions from the refs of
    all writers on the remote, and every other clone repeats the purge when it pulls.

    With `--index`, rows of the index are exchanged instead of records.

    \b
    Examples:
      gitmem sync
      gitmem sync --yes origin
    """
    return exchange_with_remote(ctx, pull=True, push=True, **options)
