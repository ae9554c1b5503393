"""`gitmem usages`."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gitmem.answering.answer_json import describe_view
from gitmem.answering.repository_selection import ALL
from gitmem.answering.usage_answer import DEFAULT_LIMIT, DEFAULT_RELATIONS, Place, UsageAnswer, UsageQuery, read_usages
from gitmem.answering.usage_json import (
    describe_certainty,
    describe_relation,
    federated_usages_json,
    no_federated_usages,
    no_usages,
    usages_json,
)
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import folder_in_tree, is_quiet, open_here, open_here_if_any, page_output, write_json
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

if TYPE_CHECKING:
    from gitmem.answering.federated_usages import FederatedUsages

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
    "--repo",
    "repositories",
    metavar="NAME",
    shell_complete=complete("repositories"),
    multiple=True,
    help="Look in this repository (see gitmem repos list).",
)
@click.option("--all", "everything", is_flag=True, help="Look in all known repositories.")
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
    changed: str, repositories: tuple[str, ...], everything: bool, limit: int, as_json: bool, color: str,
    no_refresh: bool,
) -> ExitCode:  # fmt: skip
    """Show who defines, calls, extends, imports or mentions a name.

    NAME may be qualified (Flask.make_response). LOCATION is PATH:LINE for the definition at or around a line, or
    PATH#SYMBOL. Imports, classes and types that the code shows decide which definition a place means; else its name
    does, and the place says so: "one of 3 definitions". Without --relation all but implementers, callees and tests are
    shown. With `--repo` or `--all` an import of a package leads to the repository that provides it: Python, JavaScript,
    TypeScript, Go, Rust, Java and Kotlin. Then places begin with the name of their repository, and so may NAME and
    LOCATION. The exit code is 0 with results and 1 without.

    \b
    Examples:
      gitmem usages make_response
      gitmem usages --relation callers --depth 2 src/flask/app.py:1224
      gitmem usages --rev v0.12 --relation subclasses SessionInterface
      gitmem usages --changed main...HEAD --relation callers url_for
      gitmem usages --relation tests Flask.url_for
      gitmem usages --repo click --repo flask click:src/click/core.py#Command.invoke
    """
    names = (*repositories, *((ALL,) if everything else ()))
    workspace = open_here_if_any(ctx) if names else open_here(ctx)
    root = workspace.location.worktree if workspace is not None else None
    if root is not None and name.startswith("/"):
        name = os.path.relpath(os.path.realpath(name), root)
    folder = folder_in_tree(ctx, workspace) if workspace is not None else ""
    query = UsageQuery(name, relations or DEFAULT_RELATIONS, depth, limit, folder)
    selection = TreeSelection(rev, staged, changed)
    shown = (
        _find_in_repositories(workspace, names, query, selection, refresh=not no_refresh)
        if names
        else _find_here(workspace or open_here(ctx), query, selection, refresh=not no_refresh)
    )
    page_output(ctx)
    if not is_quiet(ctx):
        shown.put_notes()
    _write(shown, choose_style(color, console.environment()), as_json=as_json, quiet=is_quiet(ctx))
    return ExitCode.NO_RESULTS if shown.answer.is_empty else ExitCode.OK


class _Shown(NamedTuple):
    """Answer from one repository or several, with the ways to show it. `absence` is the sentence if it is empty."""

    answer: "UsageAnswer | FederatedUsages"
    values: Callable[[], dict[str, Any]]
    absence: Callable[[], str]
    end: str
    put_notes: Callable[[], None]


def _find_here(workspace: Workspace, query: UsageQuery, selection: TreeSelection, *, refresh: bool) -> _Shown:
    answer = _usages_here(workspace, query, selection, refresh=refresh)

    def put_notes() -> None:
        for note in answer.notes:
            say(f"note: {note}")

    end = f"{describe_view(answer.view)}, {answer.stats['query_time_ms']:.0f} ms"
    return _Shown(answer, lambda: usages_json(answer), lambda: no_usages(answer), end, put_notes)


def _find_in_repositories(
    own: Workspace | None, names: Sequence[str], query: UsageQuery, selection: TreeSelection, *, refresh: bool
) -> _Shown:
    from gitmem.cli.repository_usages import describe_usages, put_usage_notes, usages_of_repositories  # rarely needed

    answer = usages_of_repositories(own, names, query, selection, refresh=refresh)
    return _Shown(
        answer,
        lambda: federated_usages_json(answer),
        lambda: no_federated_usages(answer),
        describe_usages(answer),
        lambda: put_usage_notes(answer),
    )


def _write(shown: _Shown, style: Style, *, as_json: bool, quiet: bool) -> None:
    answer = shown.answer
    if as_json:
        write_json(shown.values())
    elif not answer.is_empty:
        for line in format_usages(answer, style):
            console.put(line)
        if not quiet:
            console.put(style.paint("dim", shown.end))
    if answer.is_empty:
        say(shown.absence())


def _usages_here(workspace: Workspace, query: UsageQuery, selection: TreeSelection, *, refresh: bool) -> UsageAnswer:
    """Return usages, for a client of this process from the trees that it holds open."""
    client = console.client_console()
    if client is not None:
        return client.answers.usages(query, selection, refresh=refresh, mask=not shows_secrets())
    return read_usages(workspace, query, selection, refresh=refresh, mask=not shows_secrets())


def format_usages(answer: "UsageAnswer | FederatedUsages", style: Style) -> list[str]:
    """Return the lines that show usages: a heading for each relation, then a line for each place."""
    lines: list[str] = []
    for related in answer.relations:
        if related.total:
            lines.append(style.paint("dim", describe_relation(related)))
            lines += [_format_place(place, answer.definitions, style) for place in related.places]
    return lines


def _format_place(place: Place, definitions: int, style: Style) -> str:
    repository = f"{place.repository}:" if place.repository else ""
    path = style.paint("path", f"{repository}{visible(place.path)}:{place.line}")
    symbol = f"  {style.paint('symbol', visible(place.symbol))}" if place.symbol else ""
    certainty = describe_certainty(place, definitions)
    remark = style.paint("dim", f"  ({certainty})") if certainty else ""
    return f"  {path}{symbol}  {visible_code(place.text[:_COLUMNS])}{remark}"
