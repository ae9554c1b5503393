"""`gitmem pull`: take over the records that others share."""

import click

from gitmem.cli.index_sharing import index_option, require_index, run_index_exchange, store_option
from gitmem.cli.sharing import dry_run_option, remote_argument, run_exchange
from gitmem.cli.text_input import json_option
from gitmem.errors import ExitCode


@click.command()
@remote_argument
@index_option
@store_option
@dry_run_option
@json_option
@click.pass_context
def command(ctx: click.Context, /, *, remote: str, index: bool, store: str, dry_run: bool, as_json: bool) -> ExitCode:
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
    if index:
        return run_index_exchange(ctx, remote, store, pull=True, push=False, dry_run=dry_run, as_json=as_json)
    require_index(store)
    return run_exchange(ctx, remote, pull=True, push=False, dry_run=dry_run, as_json=as_json)
