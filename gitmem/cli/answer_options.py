"""Options that `query` and `related` share."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from gitmem.cli.answer_output import Format
from gitmem.cli.style import CHOICES
from gitmem.cli.text_input import show_secrets_option
from gitmem.errors import UsageError

MAX_CONTEXT: Final = 1000

_OPTIONS: Final = (
    click.option("-n", "--limit", type=int, metavar="N", help="Maximum number of results.  [default: 10]"),
    click.option("-C", "--context", type=click.IntRange(0, MAX_CONTEXT), metavar="N", default=0,
                 help="Show N lines around each result."),
    click.option("--full", is_flag=True, help="Show whole chunks."),
    click.option("-l", "--paths-only", is_flag=True, help="Show only the paths."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option("--jsonl", "as_lines", is_flag=True, help="Print JSON, one result per line."),
    click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour."),
    show_secrets_option,
)  # fmt: skip


min_score_option = click.option(
    "--min-score",
    type=float,
    metavar="0..1",
    help="Minimum score of a result.  [default: none, but 0.07 for the best of a query]",
)
neighbors_option = click.option("--neighbors", is_flag=True, help="Show whole results with the adjacent chunks.")


def format_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options for the number of results and the output format."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def load_format(ctx: click.Context, limit: int | None, options: Mapping[str, Any]) -> Format:
    """Return the output format of the values of `format_options`. Raises UsageError."""
    if limit is not None and limit < 1:
        raise UsageError(f"the limit is {limit}, it must be at least 1")
    if sum((options["paths_only"], options["as_json"], options["as_lines"])) > 1:
        raise click.UsageError("`-l`, `--json` and `--jsonl` exclude each other", ctx)
    if options["paths_only"] and options.get("explain"):
        raise click.UsageError("`-l` and `--explain` exclude each other", ctx)
    if options["context"] and options.get("neighbors"):
        raise click.UsageError("`-C` and `--neighbors` exclude each other", ctx)
    return Format(limit=limit or 0, quiet=ctx.obj.quiet, **options)
