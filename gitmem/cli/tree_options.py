"""Options that several commands about a tree share: staged files, ranges, repositories, and how the answer is shown."""

from collections.abc import Callable
from typing import Any

import click

from gitmem.cli.completer import complete
from gitmem.cli.style import CHOICES
from gitmem.cli.text_input import json_option, show_secrets_option

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def staged_option(help_text: str) -> Decorator:
    """Add `--staged`."""
    return click.option("--staged", is_flag=True, help=help_text)


def changed_option(help_text: str) -> Decorator:
    """Add `--changed A..B`."""
    return click.option("--changed", metavar="A..B", shell_complete=complete("ranges"), default="", help=help_text)


def repository_options(help_text: str, all_help: str) -> Decorator:
    """Add `--repo NAME` and `--all`."""
    return lambda function: repository_option(help_text)(all_option(all_help)(function))


def repository_option(help_text: str) -> Decorator:
    """Add `--repo NAME`."""
    return click.option(
        "--repo", "repositories", metavar="NAME", shell_complete=complete("repositories"), multiple=True, help=help_text
    )


def all_option(help_text: str) -> Decorator:
    """Add `--all`."""
    return click.option("--all", "everything", is_flag=True, help=help_text)


def limit_option(default: int, help_text: str) -> Decorator:
    """Add `--limit N`."""
    return click.option("-n", "--limit", type=int, metavar="N", default=default, show_default=True, help=help_text)


def no_refresh_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--no-refresh`."""
    return click.option("--no-refresh", is_flag=True, help="Do not index anything before the search.")(function)


def answer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how an answer is shown, and whether files are indexed first."""
    color = click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour.")
    return json_option(color(no_refresh_option(show_secrets_option(function))))
