"""`gitmem map`."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from gitmem.answering.map_answer import (
    DEFAULT_TOKENS,
    MAX_TOKENS,
    MIN_TOKENS,
    MapAnswer,
    MapQuery,
    check_map_query,
    map_in,
    read_map,
)
from gitmem.answering.map_json import describe_map, file_label, file_lines, map_json, no_map
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import folder_in_tree, open_here, open_here_if_any
from gitmem.cli.names_answer import AnswerFormat, answer_joined, put_answer, repository_names
from gitmem.cli.revision_option import revision_options
from gitmem.cli.shown_secrets import shows_secrets
from gitmem.cli.style import Style
from gitmem.cli.tree_options import answer_options, repository_options, staged_option
from gitmem.errors import ExitCode
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.answering.answer import ViewState
    from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
    from gitmem.answering.searched_trees import SearchedRepositories

    Answer = MapAnswer[ViewState] | MapAnswer[SearchedRepositories]


@click.command()
@click.argument("arguments", metavar="[PATH] [TEXT...]", nargs=-1, shell_complete=complete("files"))
@click.option(
    "--tokens",
    type=click.IntRange(MIN_TOKENS, MAX_TOKENS),
    metavar="N",
    default=DEFAULT_TOKENS,
    show_default=True,
    help="Print at most so many tokens.",
)
@revision_options("Outline a commit, tag, branch or tree, without uncommitted files.")
@staged_option("Outline the staged files.")
@repository_options("Outline this repository (see gitmem repos list).", "Outline all known repositories.")
@answer_options
@click.pass_context
def command(
    ctx: click.Context, /, *, arguments: tuple[str, ...], tokens: int, rev: str, staged: bool,
    repositories: tuple[str, ...], everything: bool, as_json: bool, color: str, no_refresh: bool,
) -> ExitCode:  # fmt: skip
    """Show an outline of the most important definitions.

    A definition is important if many files mention its name, it has many members, its file has its name, and few
    folders are around that. PATH is a file or folder; importance is that in the whole tree. With TEXT the outline shows
    what has to do with it: the matches of a search, and what these depend on. The first argument is a PATH if the tree
    has it or it has a slash; `.` is the current folder. The exit code is 1 if there are no definitions. With `--repo`
    or `--all` several repositories are outlined as one: a file is important for those of other repositories that import
    its package. Then paths begin with the name of their repository, and so may PATH.

    \b
    Examples:
      gitmem map
      gitmem map --tokens 3000 src/flask "session cookies"
      gitmem map --rev v1.2 routing
      gitmem map --repo flask --repo werkzeug "session cookies"
    """
    names = repository_names(repositories, everything=everything)
    workspace = open_here_if_any(ctx.obj) if names else open_here(ctx.obj)
    first, *words = arguments or ("",)
    path = ""
    root = workspace.location.worktree if workspace is not None else None
    if root is not None and first.startswith("/"):
        path, first = os.path.relpath(os.path.realpath(first), root), ""
    folder = folder_in_tree(ctx.obj, workspace) if workspace is not None else ""
    query = MapQuery(" ".join(words), "" if path == "." else path, tokens, folder, first)
    selection = TreeSelection(rev, staged)
    if names:
        from gitmem.answering.joined_trees import TreesQuery

        answer: Answer = _map_of_repositories(workspace, TreesQuery(names, selection), query, refresh=not no_refresh)
    else:
        answer = _map_here(workspace or open_here(ctx.obj), query, selection, refresh=not no_refresh)
    formats: AnswerFormat[Answer] = AnswerFormat(map_json, _format_map, describe_map, no_map)
    return put_answer(ctx, answer, formats, as_json=as_json, color=color)


def _map_of_repositories(
    own: Workspace | None, trees: "TreesQuery", query: MapQuery, *, refresh: bool
) -> "MapAnswer[SearchedRepositories]":
    from gitmem.mcp.tools.token_estimate import estimate_tokens

    check_map_query(query)

    def use(trees: "JoinedTrees", check: Callable[[], None]) -> "MapAnswer[SearchedRepositories]":
        return map_in(trees, query, estimate_tokens, mask=not shows_secrets(), check=check)

    return answer_joined(own, trees, use, refresh=refresh)


def _map_here(
    workspace: Workspace, query: MapQuery, selection: TreeSelection, *, refresh: bool
) -> "MapAnswer[ViewState]":
    """Return an outline, for a client of this process from the trees that it holds open."""
    from gitmem.mcp.tools.token_estimate import estimate_tokens

    client = console.client_console()
    if client is not None:
        answers = client.answers
        return answers.map(query, estimate_tokens, selection, refresh=refresh, mask=not shows_secrets())
    return read_map(workspace, query, estimate_tokens, selection, refresh=refresh, mask=not shows_secrets())


def _format_map(answer: "Answer", style: Style) -> list[str]:
    """Return the lines of an outline: the path of each file, then its definitions."""
    return [line for file in answer.files for line in (style.paint("path", file_label(file)), *file_lines(file))]
