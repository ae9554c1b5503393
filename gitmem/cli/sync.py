"""`gitmem sync`: pull the records of others, then push this clone's."""

import click

from gitmem.cli.index_sharing import index_option, require_index, run_index_exchange, store_option
from gitmem.cli.sharing import dry_run_option, remote_argument, run_exchange, share_secrets_option, yes_option
from gitmem.cli.text_input import json_option
from gitmem.errors import ExitCode


@click.command()
@remote_argument
@index_option
@store_option
@dry_run_option
@share_secrets_option
@yes_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    remote: str,
    index: bool,
    store: str,
    dry_run: bool,
    allow_secrets: bool,
    yes: bool,
    as_json: bool,
) -> ExitCode:
    """Pull the records of others from a git remote, then push this clone's.

    See `gitmem pull` and `gitmem push`. After `gitmem memory purge` it also removes former revisions from the refs of
    all writers on the remote, and every other clone repeats the purge when it pulls.

    With `--index`, rows of the index are exchanged instead of records.

    \b
    Examples:
      gitmem sync
      gitmem sync --yes origin
    """
    if index:
        return run_index_exchange(ctx, remote, store, pull=True, push=True, dry_run=dry_run, as_json=as_json)
    require_index(store)
    return run_exchange(ctx, remote, pull=True, push=True, dry_run=dry_run, as_json=as_json, yes=yes,
                        allow_secrets=allow_secrets)  # fmt: skip
