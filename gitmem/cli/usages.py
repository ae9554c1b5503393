"""`gitmem usages`."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from gitmem.answering.usage_answer import (
    DEFAULT_LIMIT,
    DEFAULT_RELATIONS,
    UsageAnswer,
    UsageQuery,
    check_usage_query,
    read_usages,
    usages_in,
)
from gitmem.answering.usage_json import describe_certainty, describe_relation, no_usages, place_text, usages_json
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import folder_in_tree, open_here, open_here_if_any
from gitmem.cli.names_answer import AnswerFormat, answer_joined, format_place, put_answer, repository_names
from gitmem.cli.revision_option import revision_options
from gitmem.cli.shown_secrets import shows_secrets
from gitmem.cli.style import Style
from gitmem.cli.tree_options import answer_options, changed_option, limit_option, repository_options, staged_option
from gitmem.errors import ExitCode
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.types import USAGE_RELATIONS
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.answering.answer import ViewState
    from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
    from gitmem.answering.searched_trees import SearchedRepositories

    Answer = UsageAnswer[ViewState] | UsageAnswer[SearchedRepositories]


@click.command()
@click.argument("name", metavar="NAME|LOCATION", shell_complete=complete("files"))
@click.option(
    "-r",
    "--relation",
    "relations",
    type=click.Choice(USAGE_RELATIONS),
    metavar="RELATION",
    multiple=True,
    help="Show only definitions, callers, mentions, subclasses, implementers, importers, callees, tests or text.",
)
@click.option("--depth", type=int, metavar="N", default=1, help="Follow callers, callees and subclasses N steps.")
@revision_options("Look in a commit, tag, branch or tree, without uncommitted files.")
@staged_option("Look in the staged files.")
@changed_option("Look in B, and show only usages on lines that differ from A.")
@repository_options("Look in this repository (see gitmem repos list).", "Look in all known repositories.")
@limit_option(DEFAULT_LIMIT, "Maximum number of places of each relation.")
@answer_options
@click.pass_context
def command(
    ctx: click.Context, /, *, name: str, relations: tuple[str, ...], depth: int, rev: str, staged: bool,
    changed: str, repositories: tuple[str, ...], everything: bool, limit: int, as_json: bool, color: str,
    no_refresh: bool,
) -> ExitCode:  # fmt: skip
    """Show who defines, calls, extends, imports or mentions a name.

    NAME may be qualified by classes, packages and folders (Flask.make_response, flask.Flask, com.shop.Cart). LOCATION
    is PATH:LINE for the definition at or around a line, or else the name that the line declares or imports;
    PATH:LINE:COLUMN for the name at a column; PATH#SYMBOL; or the path of a component (Vue, Svelte, Astro, Razor,
    QML), which is named after its file, or of a template (ERB, Blade, Jinja, Twig, Handlebars and others), whose
    importers include or render it. The path of any other file shows what imports it, and text with its name. A
    constructor, such as Cart.__init__, is called where an object of its class is created, and subclasses are all
    types that extend, implement or include one. A method of a class is also called where the one that it overrides or
    implements is, and such a place says "through Store.save". Implementers are the types below a class and those of
    Go with all methods of an interface, or the methods that override one. Imports, classes and types that the code
    shows decide which definition a place means; else its name does, and the place says so: "one of 3 definitions".
    Text are the other lines with the name: comments, documents, settings, strings. A single word in small letters is
    looked for there only with --relation text. Without --relation all but implementers, callees and tests are shown,
    and five lines of text. With `--repo` or `--all` an import of a package leads to the repository that provides it:
    Python, JavaScript, TypeScript, Go, Rust, Java and Kotlin. Then places begin with the name of their repository,
    and so may NAME and LOCATION. The exit code is 0 with results and 1 without.

    \b
    Examples:
      gitmem usages make_response
      gitmem usages --relation callers --depth 2 src/flask/app.py:1224
      gitmem usages --rev v0.12 --relation subclasses SessionInterface
      gitmem usages --changed main...HEAD --relation callers url_for
      gitmem usages include/uv.h:1374
      gitmem usages --relation tests Flask.url_for
      gitmem usages --relation text DATABASE_URL
      gitmem usages app/views/orders/_form.html.erb
      gitmem usages --relation importers src/flask/json/provider.py
      gitmem usages --repo click --repo flask click:src/click/core.py#Command.invoke
    """
    names = repository_names(repositories, everything=everything)
    workspace = open_here_if_any(ctx.obj) if names else open_here(ctx.obj)
    root = workspace.location.worktree if workspace is not None else None
    if root is not None and name.startswith("/"):
        name = os.path.relpath(os.path.realpath(name), root)
    folder = folder_in_tree(ctx.obj, workspace) if workspace is not None else ""
    query = UsageQuery(name, relations or DEFAULT_RELATIONS, depth, limit, folder)
    selection = TreeSelection(rev, staged, changed)
    if names:
        from gitmem.answering.joined_trees import TreesQuery

        answer: Answer = _usages_in_repositories(workspace, TreesQuery(names, selection), query, refresh=not no_refresh)
    else:
        answer = _usages_here(workspace or open_here(ctx.obj), query, selection, refresh=not no_refresh)
    formats: AnswerFormat[Answer] = AnswerFormat(usages_json, format_usages, lambda _: "", no_usages)
    return put_answer(ctx, answer, formats, as_json=as_json, color=color)


def _usages_in_repositories(
    own: Workspace | None, trees: "TreesQuery", query: UsageQuery, *, refresh: bool
) -> "UsageAnswer[SearchedRepositories]":
    check_usage_query(query)

    def use(trees: "JoinedTrees", check: Callable[[], None]) -> "UsageAnswer[SearchedRepositories]":
        return usages_in(trees, query, mask=not shows_secrets(), check=check)

    return answer_joined(own, trees, use, refresh=refresh)


def _usages_here(
    workspace: Workspace, query: UsageQuery, selection: TreeSelection, *, refresh: bool
) -> "UsageAnswer[ViewState]":
    """Return usages, for a client of this process from the trees that it holds open."""
    client = console.client_console()
    if client is not None:
        return client.answers.usages(query, selection, refresh=refresh, mask=not shows_secrets())
    return read_usages(workspace, query, selection, refresh=refresh, mask=not shows_secrets())


def format_usages(answer: "Answer", style: Style) -> list[str]:
    """Return the lines that show usages: a heading for each relation, then a line for each place."""
    lines: list[str] = []
    for related in answer.relations:
        if related.total:
            lines.append(style.paint("dim", describe_relation(related)))
            remarks = [describe_certainty(place, answer.definitions) for place in related.places]
            shown = map(place_text, related.places, remarks)
            lines += [format_place(each, style) for each in shown]
    return lines
