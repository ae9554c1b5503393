"""`gitmem org grant` and `gitmem org revoke`: who may read a published repository."""

from pathlib import Path

import click

from gitmem.cli.context import write_json
from gitmem.cli.error_output import say
from gitmem.cli.org_options import dsn_option, org_settings, say_result
from gitmem.cli.text_input import json_option
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError
from gitmem.org.connection import open_database
from gitmem.org.repository_grants import grant as grant_role
from gitmem.org.repository_grants import read_grants, synchronise
from gitmem.org.repository_grants import revoke as revoke_role


@click.command()
@click.argument("repository", metavar="[REPOSITORY", default="")
@click.argument("role", metavar="ROLE]", default="")
@click.option("--file", "file", metavar="FILE", default="", help="Make the grants of this file those of the database.")
@dsn_option
@json_option
@click.pass_context
def grant(ctx: click.Context, repository: str, role: str, file: str, dsn: str, as_json: bool) -> ExitCode:
    """Let a role of the server read a repository, or synchronise all grants with a file.

    The file has a line for each repository: its name and the roles that may read it, separated by spaces. Grants that
    came from a file and are no longer in it are revoked, those made one by one stay. Roles are those of PostgreSQL: a
    person or a group.

    \b
    Examples:
      gitmem org grant payments alice
      gitmem org grant --file grants.txt
    """
    if bool(file) == bool(repository and role):
        raise UsageError("name a repository and a role, or `--file`", hint="gitmem org grant payments alice")
    with open_database(dsn or org_settings(ctx).org) as database:
        if not file:
            grant_role(database, repository, role)
            say_result(ctx, f"{visible(role)} may read {visible(repository)}")
            return ExitCode.OK
        done = synchronise(database, read_grants(Path(ctx.obj.folder) / file))
    if as_json:
        write_json(done._asdict())
    else:
        say_result(ctx, f"{done.granted} granted, {done.revoked} revoked")
    for name in done.unknown if not ctx.obj.quiet else []:
        say(f"note: the server has no role {visible(name)}")
    return ExitCode.OK


@click.command()
@click.argument("repository", metavar="REPOSITORY")
@click.argument("role", metavar="ROLE")
@dsn_option
@click.pass_context
def revoke(ctx: click.Context, repository: str, role: str, dsn: str) -> ExitCode:
    """Take the right to read a repository from a role; searches that run already still see it.

    \b
    Examples:
      gitmem org revoke payments alice
    """
    with open_database(dsn or org_settings(ctx).org) as database:
        revoke_role(database, repository, role)
    say_result(ctx, f"{visible(role)} may no longer read {visible(repository)}")
    return ExitCode.OK
