"""`gitmem pull`: take over the records that others share."""

from typing import Any

import click

from gitmem.cli.exchange_command import exchange_options, exchange_with_remote
from gitmem.errors import ExitCode


@click.command()
@exchange_options(pushes=False)
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> ExitCode:
    """Take over the records that others pushed to a git remote.

    Every clone gets the same records, whatever the order. Deletions, replacements and purges are taken over. If two
    writers changed a record at the same time, both versions are kept as records until one of them is deleted. A memory
    that an earlier gitmem pushed as `refs/gitmem/memory` is merged too.

    With `--index`, rows of the files of HEAD are taken instead, as far as this index lacks them. Some files, drawn at
    random, are chunked and embedded again to check the rows. Wrong rows are named, and nothing is taken from who pushed
    them.

    \b
    Examples:
      gitmem pull
      gitmem pull --index origin
      gitmem pull --index --store s3://team/index
      gitmem pull upstream --json
    """
    return exchange_with_remote(ctx, pull=True, push=False, **options)
