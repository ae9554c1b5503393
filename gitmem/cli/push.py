"""`gitmem push`: share this clone's records."""

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
    if index:
        return run_index_exchange(ctx, remote, store, pull=False, push=True, dry_run=dry_run, as_json=as_json)
    require_index(store)
    return run_exchange(ctx, remote, pull=False, push=True, dry_run=dry_run, as_json=as_json, yes=yes,
                        allow_secrets=allow_secrets)  # fmt: skip
