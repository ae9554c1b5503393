"""`gitmem when`."""

import os
from datetime import datetime
from typing import Final

import click

from gitmem.answering.element_history import DatedChange, ElementHistory, read_element_history
from gitmem.answering.history_json import former_place, history_json, kinds_of
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import folder_in_tree, open_here, page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.revision_option import revision_options
from gitmem.cli.shown_secrets import shown_text, shown_value
from gitmem.cli.style import CHOICES, Style, choose_style
from gitmem.cli.text_input import json_option, show_secrets_option
from gitmem.display import count, visible
from gitmem.errors import ExitCode

_KINDS_WIDTH: Final = 24
"""Columns for the kinds of a change; longer ones push the subject to the right."""


@click.command()
@click.argument("place", metavar="LOCATION", shell_complete=complete("files"))
@revision_options("Begin at a commit, tag or branch.  [default: HEAD]")
@click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour.")
@json_option
@show_secrets_option
@click.pass_context
def command(ctx: click.Context, place: str, rev: str, color: str, as_json: bool) -> ExitCode:
    """Show when a function appeared, and every commit that changed it.

    LOCATION is PATH:LINE for the innermost definition around a line, PATH#SYMBOL, a SYMBOL that is defined once (Cart,
    com.shop.Cart), or PATH:FIRST-LAST for lines. PATH is relative to the root of the repository or to the current
    folder. The definition is followed through renames and moves, also between files. Of a class, only the text outside
    of its members counts. If an older revision is given and the definition is gone from HEAD, the commit that removed
    it comes first.

    \b
    Examples:
      gitmem when src/flask/sessions.py:298
      gitmem when sessions.py#SessionInterface.save_session
      gitmem when save_session
      gitmem when README.md:10-20
      gitmem when --rev v0.12 flask/app.py#Flask.request_globals_class
    """
    workspace = open_here(ctx.obj)
    root = workspace.location.worktree
    if root is not None and place.startswith("/"):
        place = os.path.relpath(os.path.realpath(place), root)
    client = console.client_console()
    check = client.answers.check if client is not None else None
    history = read_element_history(workspace, place, rev, folder_in_tree(ctx.obj, workspace), check=check)
    if as_json:
        write_json(shown_value(history_json(history)))
        return ExitCode.OK
    page_output(ctx.obj)
    style = choose_style(color, console.environment())
    for line in format_history(history, style):
        console.stdout().write(shown_text(line) + "\n")
    for note in history.notes:
        say(f"note: {note}")
    return ExitCode.OK


def format_history(history: ElementHistory, style: Style) -> list[str]:
    """Return the lines that show a history: the element, then each change with date, author, kinds and subject."""
    heading = f"{visible(history.path)}:{history.first}-{history.last}"
    number = count(len(history.changes), "commit")
    name = f"  {style.paint('symbol', visible(history.symbol))}" if history.symbol else ""
    first = f"{style.paint('path', heading)}{name}  {style.paint('dim', f'{number}, from {history.commit[:7]}')}"
    return [first, *(line for change in history.changes for line in _format_change(change, style))]


def _format_change(dated: DatedChange, style: Style) -> list[str]:
    change, details = dated
    date = datetime.fromisoformat(details.date).date().isoformat()
    kinds = ", ".join(kinds_of(change)).ljust(_KINDS_WIDTH)
    author = visible(details.author)
    head = f"{style.paint('match', change.commit[:9])} {date}  {kinds}  {visible(details.subject)}  "
    lines = [head + style.paint("dim", f"({author})")]
    if place := former_place(change):
        lines.append(style.paint("dim", f"{'':22}from {visible(place)}"))
    lines += [style.paint("dim", f"{'':22}{source.relation} {visible(source.symbol)}") for source in change.sources]
    return lines
