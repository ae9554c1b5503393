"""`gitmem impact`."""

import click

from gitmem.answering.answer_json import describe_view
from gitmem.answering.impact_answer import DEFAULT_LIMIT, ImpactAnswer, ImpactedDefinition, ImpactQuery, read_impact
from gitmem.answering.impact_json import definition_line, describe_caller, describe_impact, impact_json, no_impact
from gitmem.answering.usage_answer import Place
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import is_quiet, open_here, page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.shown_secrets import show_secrets_option, shown_text, shown_value, shows_secrets
from gitmem.cli.style import CHOICES, Style, choose_style
from gitmem.cli.text_input import json_option
from gitmem.display import visible, visible_code
from gitmem.errors import ExitCode

_COLUMNS = 160
"""Columns of a shown line of code."""


@click.command()
@click.argument("revisions", metavar="[A..B]", required=False, default="", shell_complete=complete("ranges"))
@click.option("--staged", is_flag=True, help="Compare the staged files with HEAD.")
@click.option("--depth", type=int, metavar="N", default=1, help="Follow callers N steps.")
@click.option(
    "-n",
    "--limit",
    type=int,
    metavar="N",
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Maximum number of callers of each definition.",
)
@json_option
@click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour.")
@click.option("--no-refresh", is_flag=True, help="Do not index anything before the search.")
@show_secrets_option
@click.pass_context
def command(
    ctx: click.Context, /, *, revisions: str, staged: bool, depth: int, limit: int, as_json: bool, color: str,
    no_refresh: bool,
) -> ExitCode:  # fmt: skip
    """List the callers that changes touch.

    These are the callers of the definitions that the working tree changes relative to HEAD, or B relative to A: of
    changed and moved ones, and of removed ones that nothing defines any more. Removed definitions come first, then the
    most important ones. Changes of comments and layout alone touch no callers. A...B begins at the merge base. The exit
    code is 0 with callers and 1 without.

    \b
    Examples:
      gitmem impact
      gitmem impact main...HEAD
      gitmem impact --depth 2 v1.2..v1.3
      gitmem impact --json HEAD~1..HEAD
    """
    answer = _impact_here(ctx, ImpactQuery(revisions, depth, limit, staged), refresh=not no_refresh)
    page_output(ctx)
    for note in [] if is_quiet(ctx) else answer.notes:
        say(f"note: {note}")
    if as_json:
        write_json(shown_value(impact_json(answer)))
    elif answer.definitions:
        style = choose_style(color, console.environment())
        for line in _format_impact(answer, style):
            console.put(line)
        if not is_quiet(ctx):
            state = f"{describe_impact(answer)}, {describe_view(answer.view)}, {answer.stats['query_time_ms']:.0f} ms"
            console.put(style.paint("dim", state))
    if not answer.definitions:
        say(no_impact(answer))
    return ExitCode.OK if answer.definitions else ExitCode.NO_RESULTS


def _impact_here(ctx: click.Context, query: ImpactQuery, *, refresh: bool) -> ImpactAnswer:
    """Return the callers, for a client of this process from the trees that it holds open."""
    workspace = open_here(ctx)
    client = console.client_console()
    if client is not None:
        return client.answers.impact(query, refresh=refresh, mask=not shows_secrets())
    return read_impact(workspace, query, refresh=refresh, mask=not shows_secrets())


def _format_impact(answer: ImpactAnswer, style: Style) -> list[str]:
    """Return the lines that show callers: a heading for each definition, then a line for each caller."""
    return [line for each in answer.definitions for line in _format_definition(each, style)]


def _format_definition(impacted: ImpactedDefinition, style: Style) -> list[str]:
    heading = style.paint("dim", shown_text(definition_line(impacted)))
    return [heading, *(_format_caller(impacted, place, style, changed=changed) for place, changed in impacted.callers)]


def _format_caller(impacted: ImpactedDefinition, place: Place, style: Style, *, changed: bool) -> str:
    path = style.paint("path", f"{visible(place.path)}:{place.line}")
    symbol = f"  {style.paint('symbol', visible(place.symbol))}" if place.symbol else ""
    described = describe_caller(impacted, place, changed=changed)
    remark = style.paint("dim", f"  ({described})") if described else ""
    return f"  {path}{symbol}  {visible_code(place.text[:_COLUMNS])}{remark}"
