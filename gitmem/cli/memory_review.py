"""`gitmem memory review`: notes whose files have changed since."""

from collections.abc import Callable, Sequence
from typing import Final

import click

from gitmem.cli.completer import complete
from gitmem.cli.confirmation import is_interactive
from gitmem.cli.context import open_here
from gitmem.cli.error_output import say
from gitmem.cli.record_output import format_note
from gitmem.cli.shown_secrets import shown_text
from gitmem.cli.text_input import json_option, limit_option, print_each, print_notices
from gitmem.errors import ExitCode
from gitmem.memory.note import Note
from gitmem.records.note_review import NoteWithState, review_notes
from gitmem.records.notes import confirm_notes, expire_notes
from gitmem.records.record_json import note_state_json
from gitmem.workspace import Workspace

Change = Callable[[Workspace, Sequence[str]], tuple[list[Note], list[str]]]

_KEYS: Final[dict[str, tuple[str, Change]]] = {"c": ("confirmed", confirm_notes), "r": ("retired", expire_notes)}
_QUIT: Final = ("q", "\x03", "\x04", "\x1b")


@click.command("review")
@click.option(
    "--confirm",
    "confirmed",
    metavar="ID",
    shell_complete=complete("records"),
    multiple=True,
    help="Say that this note is still true; repeatable.",
)
@click.option(
    "--retire",
    "retired",
    metavar="ID",
    shell_complete=complete("records"),
    multiple=True,
    help="Say that this note is not true any more; repeatable.",
)
@limit_option
@json_option
@click.pass_context
def review(
    ctx: click.Context, confirmed: tuple[str, ...], retired: tuple[str, ...], limit: int, as_json: bool
) -> ExitCode:
    """List the notes whose files have changed since they were written or confirmed.

    On a terminal one key decides about each: `c` confirms it, `r` retires it, any other key leaves it.

    \b
    Examples:
      gitmem memory review
      gitmem memory review --confirm mem_0123456789ab --retire mem_89abcdef0123
    """
    workspace = open_here(ctx.obj)
    for names, (verb, change) in zip((confirmed, retired), _KEYS.values(), strict=True):
        if names:
            _apply(ctx, workspace, verb, change, names, quiet=as_json)
    if (confirmed or retired) and not as_json:
        return ExitCode.OK
    stale = review_notes(workspace, limit)
    if as_json or not is_interactive():
        print_each(stale, as_json, lambda each: note_state_json(*each), lambda each: format_note(*each))
    else:
        _ask(ctx, workspace, stale)
    if not stale and not as_json and not ctx.obj.quiet:
        say("no note is about a file that has changed since")
    return ExitCode.OK


def _ask(ctx: click.Context, workspace: Workspace, stale: Sequence[NoteWithState]) -> None:
    """Show each note, wait for a key, and do what it says."""
    for each in stale:
        print(shown_text(format_note(*each)))
        click.echo("    [c]onfirm, [r]etire, [q]uit, any other key: later", err=True)
        key = click.getchar().lower()
        if key in _QUIT:
            return
        if key in _KEYS:
            _apply(ctx, workspace, *_KEYS[key], [each.note.id], quiet=False)


def _apply(
    ctx: click.Context, workspace: Workspace, verb: str, change: Change, names: Sequence[str], *, quiet: bool
) -> None:
    notes, notices = change(workspace, names)
    print_notices(ctx, notices)
    for note in [] if quiet else notes:
        print(f"{verb} {note.id}")
