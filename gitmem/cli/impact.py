"""`gitmem impact`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from gitmem.answering.impact_answer import (
    DEFAULT_LIMIT,
    ImpactAnswer,
    ImpactedDefinition,
    ImpactQuery,
    read_impact,
)
from gitmem.answering.impact_json import definition_line, describe_caller, describe_impact, impact_json, no_impact
from gitmem.answering.usage_answer import Place
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import is_quiet, open_here, page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.joined_answer import answer_joined, describe_answer, put_notes, repository_names
from gitmem.cli.shown_secrets import shown_text, shown_value, shows_secrets
from gitmem.cli.style import Style, choose_style
from gitmem.cli.tree_options import answer_options, limit_option, repository_options, staged_option
from gitmem.display import visible, visible_code
from gitmem.errors import ExitCode

if TYPE_CHECKING:
    from gitmem.answering.answer import ViewState
    from gitmem.answering.joined_trees import JoinedTrees
    from gitmem.answering.searched_trees import SearchedRepositories

    Answer = ImpactAnswer[ViewState] | ImpactAnswer[SearchedRepositories]

_COLUMNS = 160
"""Columns of a shown line of code."""


@click.command()
@click.argument("revisions", metavar="[A..B]", required=False, default="", shell_complete=complete("ranges"))
@staged_option("Compare the staged files with HEAD.")
@click.option("--depth", type=int, metavar="N", default=1, help="Follow callers N steps.")
@repository_options("Look for callers in this repository too (see gitmem repos list).", "The same in all of them.")
@limit_option(DEFAULT_LIMIT, "Maximum number of callers of each definition.")
@answer_options
@click.pass_context
def command(
    ctx: click.Context, /, *, revisions: str, staged: bool, depth: int, repositories: tuple[str, ...],
    everything: bool, limit: int, as_json: bool, color: str, no_refresh: bool,
) -> ExitCode:  # fmt: skip
    """List the callers that changes touch.

    These are the callers of the definitions that the working tree changes relative to HEAD, or B relative to A: of
    changed and moved ones, and of removed ones that nothing defines any more. Removed definitions come first, then the
    most important ones. Changes of comments and layout alone touch no callers. A...B begins at the merge base. With
    `--repo` or `--all` the working trees of other repositories are looked in as well: those that import a package of
    this one. The exit code is 0 with callers and 1 without.

    \b
    Examples:
      gitmem impact
      gitmem impact main...HEAD
      gitmem impact --depth 2 v1.2..v1.3
      gitmem impact --json HEAD~1..HEAD
      gitmem impact --all main...HEAD
    """
    query = ImpactQuery(revisions, depth, limit, staged)
    names = repository_names(repositories, everything=everything)
    answer: Answer = (
        _impact_in_repositories(ctx, query, names, refresh=not no_refresh)
        if names
        else _impact_here(ctx, query, refresh=not no_refresh)
    )
    page_output(ctx)
    put_notes(ctx, answer)
    if as_json:
        write_json(shown_value(impact_json(answer)))
    elif answer.definitions:
        style = choose_style(color, console.environment())
        for line in _format_impact(answer, style):
            console.put(line)
        if not is_quiet(ctx):
            console.put(style.paint("dim", f"{describe_impact(answer)}, {describe_answer(answer)}"))
    if not answer.definitions:
        say(no_impact(answer))
    return ExitCode.OK if answer.definitions else ExitCode.NO_RESULTS


def _impact_in_repositories(
    ctx: click.Context, query: ImpactQuery, names: tuple[str, ...], *, refresh: bool
) -> "ImpactAnswer[SearchedRepositories]":
    from gitmem.answering.joined_impact import impact_joined, start_impact  # most commands look in one repository

    own = open_here(ctx)
    start = start_impact(own, query, names)

    def use(trees: "JoinedTrees", check: Callable[[], None]) -> "ImpactAnswer[SearchedRepositories]":
        return impact_joined(trees, start.comparison, query, mask=not shows_secrets(), check=check)

    return answer_joined(own, start.trees, use, refresh=refresh)


def _impact_here(ctx: click.Context, query: ImpactQuery, *, refresh: bool) -> "ImpactAnswer[ViewState]":
    """Return the callers, for a client of this process from the trees that it holds open."""
    workspace = open_here(ctx)
    client = console.client_console()
    if client is not None:
        return client.answers.impact(query, refresh=refresh, mask=not shows_secrets())
    return read_impact(workspace, query, refresh=refresh, mask=not shows_secrets())


def _format_impact(answer: "Answer", style: Style) -> list[str]:
    """Return the lines that show callers: a heading for each definition, then a line for each caller."""
    return [line for each in answer.definitions for line in _format_definition(each, style)]


def _format_definition(impacted: ImpactedDefinition, style: Style) -> list[str]:
    heading = style.paint("dim", shown_text(definition_line(impacted)))
    return [heading, *(_format_caller(impacted, place, style, changed=changed) for place, changed in impacted.callers)]


def _format_caller(impacted: ImpactedDefinition, place: Place, style: Style, *, changed: bool) -> str:
    repository = f"{place.repository}:" if place.repository else ""
    path = style.paint("path", f"{repository}{visible(place.path)}:{place.line}")
    symbol = f"  {style.paint('symbol', visible(place.symbol))}" if place.symbol else ""
    described = describe_caller(impacted, place, changed=changed)
    remark = style.paint("dim", f"  ({described})") if described else ""
    return f"  {path}{symbol}  {visible_code(place.text[:_COLUMNS])}{remark}"
