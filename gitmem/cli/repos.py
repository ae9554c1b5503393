"""`gitmem repos`."""

import os

import click

from gitmem.actions.repos import enter_repository, forget_repository, list_repositories
from gitmem.cli.context import is_quiet, open_here, write_json
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError


@click.group()
def command() -> None:
    """List the repositories that agents may ask from another one.

    `gitmem init` enters each. The tools of `gitmem mcp` take the name or the folder of one as `root`.

    \b
    Examples:
      gitmem repos list
      gitmem repos add ~/src/flask --name flask
      gitmem repos remove flask
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
def list_command(as_json: bool) -> ExitCode:
    """List them with what there is of each.

    \b
    Examples:
      gitmem repos list
    """
    listed = list_repositories(os.environ)
    if as_json:
        write_json([{"name": one.name, "path": str(one.path), "state": one.state} for one in listed])
        return ExitCode.OK
    width = max((len(one.name) for one in listed), default=0)
    for one in listed:
        print(f"{visible(one.name):<{width}}  {visible(str(one.path))}  {one.state}")
    return ExitCode.OK


@command.command()
@click.argument("path", default="", metavar="[PATH]")
@click.option("--name", default="", metavar="NAME", help="Call it so instead of by its folder.")
@click.pass_context
def add(ctx: click.Context, path: str, name: str) -> ExitCode:
    """Enter a repository.

    \b
    Examples:
      gitmem repos add
      gitmem repos add ~/src/flask --name flask
    """
    entered = enter_repository(open_here(ctx, path), os.environ, name)
    if entered is None:
        raise UsageError("no list of repositories is kept here", hint="unset GITMEM_NO_REGISTRY, and set HOME")
    if not is_quiet(ctx):
        print(f"{visible(entered.name)}  {visible(str(entered.path))}")
    return ExitCode.OK


@command.command()
@click.argument("wanted", metavar="NAME|PATH")
def remove(wanted: str) -> ExitCode:
    """Take a repository out of the list; its index stays.

    \b
    Examples:
      gitmem repos remove flask
    """
    if forget_repository(os.environ, wanted) is None:
        raise UsageError(f"no repository `{wanted}` is known", hint="gitmem repos list")
    return ExitCode.OK
