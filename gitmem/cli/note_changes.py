"""`gitmem memory edit|confirm|expire`: keep notes true."""

from collections.abc import Sequence
from typing import Any

import click

from gitmem.cli.completer import complete
from gitmem.cli.confirmation import is_interactive
from gitmem.cli.context import open_here, write_json
from gitmem.cli.shown_secrets import shown_value
from gitmem.cli.text_input import json_option, print_notices, read_content, secrets_option
from gitmem.errors import ExitCode, UsageError
from gitmem.memory.note import NOTE_TYPES, Note
from gitmem.memory.visibility import VISIBILITIES
from gitmem.records.notes import confirm_notes, expire_notes, replace_note
from gitmem.records.record_json import note_json
from gitmem.records.revisions import show_records
from gitmem.workspace import Workspace

_ids = click.argument("names", metavar="ID...", shell_complete=complete("records"), nargs=-1, required=True)


@click.command("edit")
@click.argument("name", metavar="ID", shell_complete=complete("records"))
@click.argument("text", metavar="[TEXT|-]", default="")
@click.option("--type", "type_", type=click.Choice(NOTE_TYPES), help="Type of the note.")
@click.option("--confidence", type=float, metavar="0..1", help="How certain the note is.")
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    shell_complete=complete("tree paths"),
    multiple=True,
    help="File or folder it is about, in place of the former ones; repeatable.",
)
@click.option(
    "--symbol",
    "symbols",
    metavar="NAME",
    multiple=True,
    help="Symbol it is about, in place of the former ones; repeatable.",
)
@click.option(
    "--supersedes",
    metavar="ID",
    shell_complete=complete("records"),
    multiple=True,
    help="Note that it replaces, in place of the former ones; repeatable.",
)
@click.option("--expires", metavar="DATE", help="Date or time from which on it is not true any more; empty is never.")
@click.option(
    "--visibility", type=click.Choice(VISIBILITIES), help="Intended readers; only `team` and `org` are shared."
)
@secrets_option
@json_option
@click.pass_context
def edit(
    ctx: click.Context, /, *, name: str, text: str, type_: str | None, confidence: float | None,
    paths: tuple[str, ...], symbols: tuple[str, ...], supersedes: tuple[str, ...], expires: str | None,
    visibility: str | None, allow_secrets: bool, as_json: bool,
) -> ExitCode:  # fmt: skip
    """Change the text of a note, or the given fields, under its id. `gitmem memory log ID` lists former revisions.

    Without a text and options an editor opens on a terminal. From now on the note is about the present content of its
    files.

    \b
    Examples:
      gitmem memory edit mem_0123456789ab "Sessions live in Redis."
      gitmem memory edit mem_0123456789ab --supersedes mem_89abcdef0123
    """
    workspace = open_here(ctx.obj)
    lists = {"paths": paths, "symbols": symbols, "supersedes": supersedes}
    given = {"type": type_, "confidence": confidence, "expires": expires, "visibility": visibility}
    changes: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    changes |= {field: values for field, values in lists.items() if values}
    if text or not changes:
        changes["content"] = read_content(text) if text else _edit_text(workspace, name)
    changed = replace_note(workspace, name, changes, allow_secrets=allow_secrets)
    return _report(ctx, "changed", [changed.note], changed.notices, as_json=as_json)


def _edit_text(workspace: Workspace, name: str) -> str:
    """Return the text of a note after the user edited it. Raises UsageError without a terminal or a change."""
    if not is_interactive():
        raise UsageError("nothing to change", hint=f"name the new text: gitmem memory edit {name} TEXT")
    text = click.edit(show_records(workspace, name)[0].text, extension=".md")
    if text is None:
        raise UsageError("the text was not saved; the note stays as it is", hint="save it in the editor")
    return text.strip("\n")


@click.command("confirm")
@_ids
@json_option
@click.pass_context
def confirm(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> ExitCode:
    """Say that notes are still true. They are about the present content of their files from now on.

    A note that had expired does not expire any more.

    \b
    Examples:
      gitmem memory confirm mem_0123456789ab
    """
    return _report(ctx, "confirmed", *confirm_notes(open_here(ctx.obj), names), as_json=as_json)


@click.command("expire")
@_ids
@click.option("--at", metavar="DATE", default="", help="Date or time from which on they are not true.  [default: now]")
@json_option
@click.pass_context
def expire(ctx: click.Context, names: tuple[str, ...], at: str, as_json: bool) -> ExitCode:
    """Say from when on notes are not true any more. Searches still find them, below others and marked.

    \b
    Examples:
      gitmem memory expire mem_0123456789ab
      gitmem memory expire --at 2027-01-31 mem_0123456789ab
    """
    return _report(ctx, "expires", *expire_notes(open_here(ctx.obj), names, at), as_json=as_json)


def _report(ctx: click.Context, verb: str, notes: Sequence[Note], notices: Sequence[str], *, as_json: bool) -> ExitCode:
    print_notices(ctx, notices)
    if as_json:
        write_json(shown_value([note_json(note) for note in notes]))
        return ExitCode.OK
    for note in notes:
        print(f"{verb} {note.id}" + (f" {note.expires[:16]}" if verb == "expires" else ""))
    return ExitCode.OK
