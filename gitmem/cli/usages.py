"""`gitmem usages`."""

import os

import click

from gitmem.answering.answer_json import describe_view
from gitmem.answering.usage_answer import DEFAULT_LIMIT, DEFAULT_RELATIONS, Place, UsageAnswer, UsageQuery, read_usages
from gitmem.answering.usage_json import describe_certainty, describe_relation, no_usages, usages_json
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import folder_in_tree, is_quiet, open_here, page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.revision_option import revision_options
from gitmem.cli.shown_secrets import show_secrets_option, shows_secrets
from gitmem.cli.style import CHOICES, Style, choose_style
from gitmem.cli.text_input import json_option
from gitmem.display import visible, visible_code
from gitmem.errors import ExitCode
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.types import USAGE_RELATIONS
from gitmem.workspace import Workspace

_COLUMNS = 160
"""Columns of a shown line of code."""


@click.command()
@click.argument("name", metavar="NAME|LOCATION", shell_complete=complete("files"))
@click.option(
    "-r",
    "--relation",
    "relations",
    type=click.Choice(USAGE_RELATIONS),
    metavar="RELATION",
    multiple=True,
    help="Show only definitions, callers, mentions, subclasses, implementers, importers, callees or tests.",
)
@click.option("--depth", type=int, metavar="N", default=1, help="Follow callers, callees and subclasses N steps.")
@revision_options("Look in a commit, tag, branch or tree, without uncommitted files.")
@click.option("--staged", is_flag=True, help="Look in the staged files.")
@click.option(
    "--changed",
    metavar="A..B",
    shell_complete=complete("ranges"),
    default="",
    help="Look in B, and show only usages on lines that differ from A.",
)
@click.option(
    "-n",
    "--limit",
    type=int,
    metavar="N",
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Maximum number of places of each relation.",
)
@json_option
@click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour.")
@click.option("--no-refresh", is_flag=True, help="Do not index anything before the search.")
@show_secrets_option
@click.pass_context
def command(
    ctx: click.Context, /, *, name: str, relations: tuple[str, ...], depth: int, rev: str, staged: bool,
    changed: str, limit: int, as_json: bool, color: str, no_refresh: bool,
) -> ExitCode:  # fmt: skip
    """Show who defines, calls, extends, imports or mentions a name.

    NAME may be qualified (Flask.make_response). LOCATION is PATH:LINE for the definition at or around a line, or
    PATH#SYMBOL. Imports, classes and types that the code shows decide which definition a place means; else its name
    does, and the place says so: "one of 3 definitions". Without --relation all but implementers, callees and tests are
    shown. The exit code is 0 with results and 1 without.

    \b
    Examples:
      gitmem usages make_response
      gitmem usages --relation callers --depth 2 src/flask/app.py:1224
      gitmem usages --rev v0.12 --relation subclasses SessionInterface
      gitmem usages --changed main...HEAD --relation callers url_for
      gitmem usages --relation tests Flask.url_for
    """
    workspace = open_here(ctx)
    root = workspace.location.worktree
    if root is not None and name.startswith("/"):
        name = os.path.relpath(os.path.realpath(name), root)
    query = UsageQuery(name, relations or DEFAULT_RELATIONS, depth, limit, folder_in_tree(ctx, workspace))
    answer = _usages_here(workspace, query, TreeSelection(rev, staged, changed), refresh=not no_refresh)
    page_output(ctx)
    for note in [] if is_quiet(ctx) else answer.notes:
        say(f"note: {note}")
    if as_json:
        write_json(usages_json(answer))
    elif not answer.is_empty:
        style = choose_style(color, console.environment())
        for line in format_usages(answer, style):
            console.put(line)
        if not is_quiet(ctx):
            console.put(style.paint("dim", f"{describe_view(answer.view)}, {answer.stats['query_time_ms']:.0f} ms"))
    if answer.is_empty:
        say(no_usages(answer))
    return ExitCode.NO_RESULTS if answer.is_empty else ExitCode.OK


def _usages_here(workspace: Workspace, query: UsageQuery, selection: TreeSelection, *, refresh: bool) -> UsageAnswer:
    """Return usages, for a client of this process from the trees that it holds open."""
    client = console.client_console()
    if client is not None:
        return client.answers.usages(query, selection, refresh=refresh, mask=not shows_secrets())
    return read_usages(workspace, query, selection, refresh=refresh, mask=not shows_secrets())


def format_usages(answer: UsageAnswer, style: Style) -> list[str]:
    """Return the lines that show usages: a heading for each relation, then a line for each place."""
    lines: list[str] = []
    for related in answer.relations:
        if related.total:
            lines.append(style.paint("dim", describe_relation(related)))
            lines += [_format_place(place, answer.definitions, style) for place in related.places]
    return lines


def _format_place(place: Place, definitions: int, style: Style) -> str:
    path = style.paint("path", f"{visible(place.path)}:{place.line}")
    symbol = f"  {style.paint('symbol', visible(place.symbol))}" if place.symbol else ""
    certainty = describe_certainty(place, definitions)
    remark = style.paint("dim", f"  ({certainty})") if certainty else ""
    return f"  {path}{symbol}  {visible_code(place.text[:_COLUMNS])}{remark}"
