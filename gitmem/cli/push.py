"""`gitmem push`: share this clone's records."""

from typing import Any

import click

from gitmem.cli.exchange_command import exchange_options, exchange_with_remote
from gitmem.errors import ExitCode


@click.command()
@exchange_options(pushes=True)
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> ExitCode:
    """Push this clone's shared records to a git remote.

    Records with the visibility `team` or `org` are shared. Others stay in
    this clone. Each clone pushes to a ref of its own, `refs/gitmem/writers/ID`, so nobody has to wait. The records are
    searched for secrets again. REMOTE is by default the one of the current branch.

    With `--index`, rows of the index are pushed instead: those of the newest commit of this branch that the remote has,
    as far as nobody has pushed them. Others then need not embed these files. `--store` puts them into a folder or a
    bucket instead of the remote.

    \b
    Examples:
      gitmem push
      gitmem push --index origin
      gitmem push --index --store /mnt/team/index
      gitmem push --dry-run upstream
    """
    return exchange_with_remote(ctx, pull=False, push=True, **options)
