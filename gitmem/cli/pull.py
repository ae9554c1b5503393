"""`gitmem pull`: take over the records that others share."""

import click

from gitmem.cli.sharing import dry_run_option, remote_argument, run_exchange
from gitmem.cli.text_input import json_option
from gitmem.errors import ExitCode


@click.command()
@remote_argument
@dry_run_option
@json_option
@click.pass_context
def command(ctx: click.Context, /, *, remote: str, dry_run: bool, as_json: bool) -> ExitCode:
    """Take over the records that others pushed to a git remote.

    Every clone gets the same records, whatever the order. Deletions, replacements and purges are taken over. If two
    writers changed a record at the same time, both versions are kept as records until one of them is deleted. A memory
    that an earlier gitmem pushed as `refs/gitmem/memory` is merged too.

    \b
    Examples:
      gitmem pull
      gitmem pull upstream --json
    """
    return run_exchange(ctx, remote, pull=True, push=False, dry_run=dry_run, as_json=as_json)
