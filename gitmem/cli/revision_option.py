"""The options `--rev` and `--at`, which name the tree or commit of a command."""

from collections.abc import Callable
from typing import Any, Final

import click

from gitmem.cli.completer import complete
from gitmem.errors import UsageError
from gitmem.git.dated_commits import AT, parse_date

_KEY: Final = "gitmem.at"


def revision_options(help_text: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add `--rev`, and `--at`, which gives the parameter `rev` the revision that a date means."""

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        at = click.option(
            "--at",
            metavar="DATE",
            default="",
            # Eager options are read first, so that `--rev` sees the date wherever it stands.
            is_eager=True,
            expose_value=False,
            callback=_remember,
            help="The same for HEAD as it was at a date or time (ISO 8601).",
        )
        rev = click.option(
            "--rev",
            metavar="REV",
            shell_complete=complete("revisions"),
            default="",
            callback=_choose,
            help=help_text,
        )
        return rev(at(function))

    return decorate


def _remember(ctx: click.Context, _: click.Parameter, value: str) -> None:
    ctx.meta[_KEY] = value


def _choose(ctx: click.Context, _: click.Parameter, value: str) -> Any:
    """Return the revision, that of `--at` if it is given."""
    date = ctx.meta[_KEY]
    if date and value:
        raise UsageError("`--rev` and `--at` exclude each other")
    if not date:
        return value
    # Of several repositories, each would only be skipped with the reason.
    parse_date(date)
    return AT + date
