"""`gitmem org sync`: exchange records through the server of the organisation instead of a git remote."""

import click

from gitmem.cli.context import open_here
from gitmem.cli.org_options import dsn_option
from gitmem.cli.sharing import dry_run_option, run_exchange, share_secrets_option, yes_option
from gitmem.cli.text_input import json_option
from gitmem.errors import ExitCode
from gitmem.org.connection import open_database


@click.command()
@click.option("--name", metavar="NAME", default="", help="Name of the repository instead of its folder's.")
@click.option("--pull", is_flag=True, help="Only take over the records of others.")
@click.option("--push", is_flag=True, help="Only share this clone's records.")
@dsn_option
@dry_run_option
@share_secrets_option
@yes_option
@json_option
@click.pass_context
def sync(
    ctx: click.Context, /, *, name: str, pull: bool, push: bool, dsn: str, dry_run: bool, allow_secrets: bool,
    yes: bool, as_json: bool,
) -> ExitCode:  # fmt: skip
    """Exchange notes, documents and conversations with everybody who may read the repository on the server.

    The same records are shared as by `gitmem sync`, and merged alike; others stay in this clone. Each clone has
    a ref of its own on the server, which belongs to the role that created it. A purge removes records from the own
    ref, and for a role that publishes from those of all writers; other clones repeat it when they synchronise.

    \b
    Examples:
      gitmem org sync
      gitmem org sync --name payments --yes
    """
    from gitmem.org.memory_transport import DatabaseTransport  # with the records and git

    workspace = open_here(ctx.obj)
    folder = workspace.location.worktree or workspace.location.git_dir
    with open_database(dsn or workspace.settings.org) as database:
        transport = DatabaseTransport(database, workspace.location, name or folder.name.removesuffix(".git"))
        both = pull == push
        return run_exchange(ctx, transport, pull=pull or both, push=push or both, dry_run=dry_run, as_json=as_json,
                            yes=yes, allow_secrets=allow_secrets)  # fmt: skip
