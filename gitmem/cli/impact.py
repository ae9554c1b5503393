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
from gitmem.answering.usage_json import place_text
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import open_here
from gitmem.cli.names_answer import AnswerFormat, answer_joined, format_place, put_answer, repository_names
from gitmem.cli.shown_secrets import shown_text, shown_value, shows_secrets
from gitmem.cli.style import Style
from gitmem.cli.tree_options import answer_options, limit_option, repository_options, staged_option
from gitmem.errors import ExitCode

if TYPE_CHECKING:
    from gitmem.answering.answer import ViewState
    from gitmem.answering.joined_trees import JoinedTrees
    from gitmem.answering.searched_trees import SearchedRepositories

    Answer = ImpactAnswer[ViewState] | ImpactAnswer[SearchedRepositories]


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
    formats: AnswerFormat[Answer] = AnswerFormat(
        lambda shown: shown_value(impact_json(shown)), _format_impact, describe_impact, no_impact
    )
    return put_answer(ctx, answer, formats, as_json=as_json, color=color)


def _impact_in_repositories(
    ctx: click.Context, query: ImpactQuery, names: tuple[str, ...], *, refresh: bool
) -> "ImpactAnswer[SearchedRepositories]":
    from gitmem.answering.joined_impact import impact_joined, start_impact  # most commands look in one repository

    own = open_here(ctx.obj)
    start = start_impact(own, query, names)

    def use(trees: "JoinedTrees", check: Callable[[], None]) -> "ImpactAnswer[SearchedRepositories]":
        return impact_joined(trees, start.comparison, query, mask=not shows_secrets(), check=check)

    return answer_joined(own, start.trees, use, refresh=refresh)


def _impact_here(ctx: click.Context, query: ImpactQuery, *, refresh: bool) -> "ImpactAnswer[ViewState]":
    """Return the callers, for a client of this process from the trees that it holds open."""
    workspace = open_here(ctx.obj)
    client = console.client_console()
    if client is not None:
        return client.answers.impact(query, refresh=refresh, mask=not shows_secrets())
    return read_impact(workspace, query, refresh=refresh, mask=not shows_secrets())


def _format_impact(answer: "Answer", style: Style) -> list[str]:
    """Return the lines that show callers: a heading for each definition, then a line for each caller."""
    return [line for each in answer.definitions for line in _format_definition(each, style)]


def _format_definition(impacted: ImpactedDefinition, style: Style) -> list[str]:
    heading = style.paint("dim", shown_text(definition_line(impacted)))
    callers = [
        place_text(place, describe_caller(impacted, place, changed=changed)) for place, changed in impacted.callers
    ]
    return [heading, *(format_place(shown, style) for shown in callers)]
