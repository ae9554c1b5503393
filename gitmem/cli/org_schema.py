"""`gitmem org init` and `gitmem org migrate`: create, divide and upgrade the schema of a server."""

import shlex

import click

from gitmem.cli.error_output import say
from gitmem.cli.org_options import dsn_option, org_settings, say_result
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError
from gitmem.org.connection import OPEN_SHARE, open_database
from gitmem.org.migrations import migrate as migrate_schema
from gitmem.org.partitions import divide, divide_among


@click.command()
@click.argument("dsn", metavar="DSN")
@click.option("--partitions", metavar="N", type=click.IntRange(2, 64), help="Divide the contents on this server.")
@click.option("--shard", "shards", metavar="DSN", multiple=True, help="Move the contents to this database and others.")
@click.pass_context
def init(ctx: click.Context, dsn: str, partitions: int | None, shards: tuple[str, ...]) -> ExitCode:
    """Create the schema, the roles and the policies in a database; does nothing if they exist.

    The user of the DSN must be able to create roles. It becomes the owner of the tables and
    a member of the role gitmem_admin.

    With `--shard`, names, rights and paths stay in this database, and other servers keep the contents and search
    them at the same time: one share for each DSN. It creates a role there, and the extensions postgres_fdw
    and dblink here, which takes a superuser. A database is divided once; what is published already is moved.

    \b
    Examples:
      gitmem org init postgresql://admin@db.example.com/code
      gitmem org init postgresql://admin@db/code --shard postgresql://admin@db1/part --shard postgresql://admin@db2/part
    """
    if partitions and shards:
        raise UsageError("`--partitions` and `--shard` exclude each other", hint="one partition lies on each shard")
    with open_database(dsn) as database:
        before, after = migrate_schema(database)
        unprotected = divide_among(database, shards) if shards else []
        if partitions:
            divide(database, partitions)
    say_result(ctx, f"schema {after}: " + ("unchanged" if before == after else "created" if not before else "upgraded"))
    if shards or partitions:
        say_result(ctx, f"contents: divided into {len(shards) or partitions} partitions")
    for server in unprotected if not ctx.obj.quiet else []:
        say(f"note: server {server} lets its role in without the password: {OPEN_SHARE}")
    say_result(ctx, f"next: git config --global gitmem.org {visible(shlex.quote(dsn))}")
    return ExitCode.OK


@click.command()
@dsn_option
@click.pass_context
def migrate(ctx: click.Context, dsn: str) -> ExitCode:
    """Upgrade the schema to that of this version. Older versions of gitmem then ask to be upgraded.

    \b
    Examples:
      gitmem org migrate
    """
    with open_database(dsn or org_settings(ctx).org) as database:
        before, after = migrate_schema(database)
    say_result(ctx, f"schema {after}: " + ("unchanged" if before == after else f"upgraded from {before}"))
    return ExitCode.OK
