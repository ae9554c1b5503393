"""`gitmem memory brief`: the notes that fit the present work, for the start of a session."""

import click

from gitmem.cli import console
from gitmem.cli.context import open_here_if_any, write_json
from gitmem.cli.shown_secrets import shown_value
from gitmem.cli.text_input import json_option
from gitmem.errors import ExitCode


@click.command("brief")
@click.option(
    "--tokens",
    type=click.IntRange(min=100),
    metavar="N",
    default=500,
    show_default=True,
    help="Print at most so many tokens.",
)
@json_option
@click.pass_context
def brief(ctx: click.Context, tokens: int, as_json: bool) -> ExitCode:
    """Print the few notes that fit the branch and the files being worked on; nothing if none does.

    First come notes about the uncommitted files and those that the branch changed, or about symbols in them. Then come
    notes that have to do with the branch's name or with the subjects of its commits. Superseded and expired notes are
    left out. The plugin for Claude Code runs this at the start of a session.

    \b
    Examples:
      gitmem memory brief
      gitmem memory brief --tokens 1000 --json
    """
    from gitmem.answering.note_brief import brief_json, brief_lines, fit_brief, read_brief
    from gitmem.mcp.tools.token_estimate import estimate_tokens

    workspace = open_here_if_any(ctx.obj)  # a session may start anywhere
    notes = read_brief(workspace) if workspace is not None else None
    fitting = fit_brief(notes, tokens, estimate_tokens) if notes is not None else None
    if as_json:
        write_json(shown_value(brief_json(fitting)))
        return ExitCode.OK
    for line in brief_lines(fitting) if fitting is not None else []:
        console.put(line)
    return ExitCode.OK
