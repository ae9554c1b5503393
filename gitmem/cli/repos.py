"""`gitmem repos`."""

import os

import click

from gitmem.actions.repos import enter_repository, forget_repository, list_repositories
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.completer import complete
from gitmem.cli.context import is_quiet, open_here, write_json
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError


@click.group(cls=CommandGroup)
def command() -> None:
    """List, add and remove the repositories that an MCP server may search.

    `gitmem init` adds each. The tools of `gitmem mcp` accept the name or the folder of one as `root`.

    \b
    Examples:
      gitmem repos list
      gitmem repos add ~/src/flask --name flask
      gitmem repos remove flask
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
def list_command(as_json: bool) -> ExitCode:
    """List the repositories and their states.

    \b
    Examples:
      gitmem repos list
    """
    rows = list_repositories(os.environ)
    if as_json:
        write_json([{"name": row.name, "path": str(row.path), "state": row.state} for row in rows])
        return ExitCode.OK
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        print(f"{visible(row.name):<{width}}  {visible(str(row.path))}  {row.state}")
    return ExitCode.OK


@command.command()
@click.argument("path", default="", metavar="[PATH]", shell_complete=complete("folders"))
@click.option("--name", default="", metavar="NAME", help="Name of the repository instead of its folder's.")
@click.pass_context
def add(ctx: click.Context, path: str, name: str) -> ExitCode:
    """Add a repository.

    \b
    Examples:
      gitmem repos add
      gitmem repos add ~/src/flask --name flask
    """
    repository = enter_repository(open_here(ctx, path), os.environ, name)
    if repository is None:
        raise UsageError("the registry of repositories is disabled", hint="unset GITMEM_NO_REGISTRY, and set HOME")
    if not is_quiet(ctx):
        print(f"{visible(repository.name)}  {visible(str(repository.path))}")
    return ExitCode.OK


@command.command()
@click.argument("repository", metavar="NAME|PATH", shell_complete=complete("repositories"))
def remove(repository: str) -> ExitCode:
    """Remove a repository from the list; its index stays.

    \b
    Examples:
      gitmem repos remove flask
    """
    if forget_repository(os.environ, repository) is None:
        raise UsageError(f"unknown repository `{repository}`", hint="gitmem repos list")
    return ExitCode.OK
