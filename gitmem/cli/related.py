"""`gitmem related`."""

import os

import click

from gitmem.answering.search_query import SimilarQuery
from gitmem.cli.answer_options import format_options, load_format
from gitmem.cli.answer_output import answer_here, write_answer
from gitmem.cli.completer import complete
from gitmem.cli.context import folder_in_tree, open_here
from gitmem.errors import ExitCode
from gitmem.workspace import Workspace


@click.command()
@click.argument("place", metavar="PATH:LINE", shell_complete=complete("files"))
@format_options
@click.option("--no-refresh", is_flag=True, help="Do not index anything before the search.")
@click.pass_context
def command(ctx: click.Context, /, place: str, limit: int | None, no_refresh: bool, **shown: object) -> ExitCode:
    """Find code similar to the code at a location.

    PATH is relative to the root of the repository, as in results, or to the current folder. The embedding of the chunk
    at LINE is compared with all others.

    \b
    Examples:
      gitmem related src/flask/sessions.py:298
      gitmem related -n 3 --full sessions.py:298-324
    """
    form = load_format(ctx, limit, shown)
    workspace = open_here(ctx.obj)
    place = _from_root(workspace, place)
    query = SimilarQuery(place, form.limit, folder_in_tree(ctx.obj, workspace), form.has_details)
    return write_answer(workspace, answer_here(workspace, query, refresh=not no_refresh), form)


def _from_root(workspace: Workspace, place: str) -> str:
    """An absolute path as one from the root."""
    root = workspace.location.worktree
    if root is None or not place.startswith("/"):
        return place
    return os.path.relpath(os.path.realpath(place), root)
