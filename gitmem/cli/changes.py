"""`gitmem changes`."""

import click

from gitmem.answering.range_changes import (
    changes_json,
    changes_lines,
    describe_range,
    fit_changes,
    read_range_changes,
)
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import open_here, page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.shown_secrets import shown_text, shown_value
from gitmem.cli.text_input import json_option, show_secrets_option
from gitmem.display import count
from gitmem.errors import ExitCode


@click.command()
@click.argument("revisions", metavar="A..B", shell_complete=complete("ranges"))
@click.argument("words", metavar="[TEXT...]", nargs=-1)
@click.option(
    "--tokens",
    type=click.IntRange(min=100),
    metavar="N",
    help="Print at most so many tokens: the best changes, or without TEXT those of most lines.",
)
@json_option
@show_secrets_option
@click.pass_context
def command(ctx: click.Context, revisions: str, words: tuple[str, ...], tokens: int | None, as_json: bool) -> ExitCode:
    """List the functions and classes that differ between two revisions.

    Each is added, removed, changed or moved: code that moved to another place or file is not shown as removed and
    added. Members of an added, removed or moved class are counted with it. Files without definitions are listed whole.
    A...B begins at the merge base. With TEXT the changes are ranked by what they have to do with it.

    \b
    Examples:
      gitmem changes v1.2..HEAD
      gitmem changes main...HEAD "session expiry"
      gitmem changes --tokens 2000 HEAD~20..HEAD
    """
    client = console.client_console()
    check = client.answers.check if client is not None else None
    found = read_range_changes(open_here(ctx.obj), revisions, " ".join(words), check)
    if tokens is not None:
        from gitmem.mcp.tools.token_estimate import estimate_tokens  # an unlimited list needs no estimate

        found = fit_changes(found, tokens, estimate_tokens)
    if as_json:
        write_json(shown_value(changes_json(found)))
        return ExitCode.OK
    page_output(ctx.obj)
    omitted = [f"{count(found.omitted, 'change')} omitted"] if found.omitted else []
    for line in [describe_range(found), *changes_lines(found), *omitted]:
        console.put(shown_text(line))
    for note in found.notes:
        say(f"note: {note}")
    return ExitCode.OK
