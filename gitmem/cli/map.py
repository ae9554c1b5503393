"""`gitmem map`."""

import os

import click

from gitmem.answering.answer_json import describe_view
from gitmem.answering.map_answer import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, MapAnswer, MapQuery, read_map
from gitmem.answering.map_json import describe_map, file_lines, map_json, no_map
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import folder_in_tree, is_quiet, open_here, page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.revision_option import revision_options
from gitmem.cli.shown_secrets import show_secrets_option, shows_secrets
from gitmem.cli.style import CHOICES, Style, choose_style
from gitmem.cli.text_input import json_option
from gitmem.display import visible
from gitmem.errors import ExitCode
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.workspace import Workspace


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
@click.option("--staged", is_flag=True, help="Outline the staged files.")
@json_option
@click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour.")
@click.option("--no-refresh", is_flag=True, help="Do not index anything before the search.")
@show_secrets_option
@click.pass_context
def command(
    ctx: click.Context, /, *, arguments: tuple[str, ...], tokens: int, rev: str, staged: bool, as_json: bool,
    color: str, no_refresh: bool,
) -> ExitCode:  # fmt: skip
    """Show an outline of the most important definitions.

    A definition is important if important files mention its name. PATH is a file or folder; importance is that in the
    whole tree. With TEXT the outline shows what has to do with it: the matches of a search, and what these depend on.
    The first argument is a PATH if the tree has it or it has a slash; `.` is the current folder. The exit code is 1 if
    there are no definitions.

    \b
    Examples:
      gitmem map
      gitmem map --tokens 3000 src/flask "session cookies"
      gitmem map --rev v1.2 routing
    """
    workspace = open_here(ctx)
    first, *words = arguments or ("",)
    path = ""
    root = workspace.location.worktree
    if root is not None and first.startswith("/"):
        path, first = os.path.relpath(os.path.realpath(first), root), ""
    folder = folder_in_tree(ctx, workspace)
    query = MapQuery(" ".join(words), "" if path == "." else path, tokens, folder, first)
    answer = _map_here(workspace, query, TreeSelection(rev, staged), refresh=not no_refresh)
    page_output(ctx)
    for note in [] if is_quiet(ctx) else answer.notes:
        say(f"note: {note}")
    if as_json:
        write_json(map_json(answer))
    elif answer.files:
        style = choose_style(color, console.environment())
        for line in _format_map(answer, style):
            console.put(line)
        if not is_quiet(ctx):
            state = f"{describe_map(answer)}, {describe_view(answer.view)}, {answer.stats['query_time_ms']:.0f} ms"
            console.put(style.paint("dim", state))
    if not answer.files:
        say(no_map(answer))
    return ExitCode.OK if answer.files else ExitCode.NO_RESULTS


def _map_here(workspace: Workspace, query: MapQuery, selection: TreeSelection, *, refresh: bool) -> MapAnswer:
    """Return an outline, for a client of this process from the trees that it holds open."""
    from gitmem.mcp.tools.token_estimate import estimate_tokens

    client = console.client_console()
    if client is not None:
        answers = client.answers
        return answers.map(query, estimate_tokens, selection, refresh=refresh, mask=not shows_secrets())
    return read_map(workspace, query, estimate_tokens, selection, refresh=refresh, mask=not shows_secrets())


def _format_map(answer: MapAnswer, style: Style) -> list[str]:
    """Return the lines of an outline: the path of each file, then its definitions."""
    return [line for file in answer.files for line in (style.paint("path", visible(file.path)), *file_lines(file))]
