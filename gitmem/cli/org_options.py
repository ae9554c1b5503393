"""Options and settings that the commands of `gitmem org` share."""

import os
from collections.abc import Callable
from typing import Any, Final

import click

from gitmem.cli.context import open_here_if_any
from gitmem.cli.style import print_line
from gitmem.settings import Settings
from gitmem.workspace import read_user_settings

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

dsn_option: Final[Decorator] = click.option(
    "--dsn", metavar="DSN", default="", help="Database.  [default: the setting gitmem.org]"
)
role_option: Final[Decorator] = click.option(
    "--role", metavar="ROLE", default="", help="Act as this role, with its rights."
)


def org_settings(ctx: click.Context) -> Settings:
    """Return the settings of the repository here, or those of the user outside of any."""
    workspace = open_here_if_any(ctx.obj)
    return workspace.settings if workspace else read_user_settings(os.environ)


def say_result(ctx: click.Context, line: str) -> None:
    """Print a line about the result, unless `--quiet` is given."""
    if not ctx.obj.quiet:
        print_line(line)
