"""`gitmem memory`: notes, and the commands that act on all records."""

import click

from gitmem.cli.answer_output import format_options, neighbors_option
from gitmem.cli.context import open_here, write_json
from gitmem.cli.filter_options import filter_options
from gitmem.cli.memory_revisions import diff, log, purge, restore
from gitmem.cli.memory_transfer import export, import_
from gitmem.cli.query import read_query, search_records
from gitmem.cli.record_output import format_alike, format_note, format_record_head, write_content
from gitmem.cli.text_input import json_option, limit_option, read_content, say_notes, secrets_option, write_each
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.memory.note import NOTE_TYPES, note_paths
from gitmem.memory.record_paths import is_conversation, is_note_id
from gitmem.records.code_notes import missing_paths
from gitmem.records.notes import add_note, list_notes
from gitmem.records.record_json import alike_json, note_json, record_json
from gitmem.records.revisions import Deleted, delete_records, show_records
from gitmem.records.similar_notes import Alike


@click.group()
def command() -> None:
    """Store notes in the repository, and manage all records of the memory.

    `add`, `search`, `list`, `show` and `delete` act on notes. `log`, `diff`, `restore`, `purge`, `import` and `export`
    act on all records: notes, documents and conversations. `show` and `delete` also accept the id of any other record.

    Records are git objects under `refs/gitmem/memory`. They are durable when the command returns, versioned, and safe
    from `git gc`. A clone does not fetch them by itself.

    \b
    Examples:
      gitmem memory add --type decision "Sessions live in signed cookies, not in the database."
      gitmem memory list
      gitmem memory log
    """


@command.command("add")
@click.argument("text", metavar="TEXT|-")
@click.option("--type", "type_", type=click.Choice(NOTE_TYPES), default="fact", help="Type of the note.")
@click.option("--confidence", type=float, default=1.0, metavar="0..1", help="Confidence in the note.")
@click.option("--conversation", metavar="NAME", default="", help="Conversation that the note comes from.")
@click.option("--path", "paths", metavar="PATH", multiple=True, help="Related file or folder; repeatable.")
@click.option("--symbol", "symbols", metavar="NAME", multiple=True, help="Related symbol; repeatable.")
@secrets_option
@json_option
@click.pass_context
def add(
    ctx: click.Context, /, *, text: str, type_: str, confidence: float, conversation: str, paths: tuple[str, ...],
    symbols: tuple[str, ...], allow_secrets: bool, as_json: bool,
) -> ExitCode:  # fmt: skip
    """Store a note of up to 10,000 characters.

    Existing notes with the same meaning are listed. Results in a path or with a symbol show the notes about it; a note
    about both is shown only for these symbols in these paths.

    \b
    Examples:
      gitmem memory add "The staging database is restored every night."
      gitmem memory add --path src/auth --symbol Session.close "Closing twice is allowed."
      gitmem memory add --type preference --confidence 0.8 - < note.txt
    """
    notes: list[str] = []
    alike: list[Alike] = []
    note = add_note(
        open_here(ctx),
        read_content(text),
        type_=type_,
        confidence=confidence,
        conversation=conversation,
        paths=paths,
        symbols=symbols,
        allow_secrets=allow_secrets,
        notes=notes,
        alike=alike,
    )
    say_notes(ctx, notes)
    if as_json:
        write_json({**note_json(note), "alike": list(map(alike_json, alike))})
    else:
        print("\n".join([f"stored {note.id}", *map(format_alike, alike)]))
    return ExitCode.OK


@command.command("list")
@click.option("--type", "type_", type=click.Choice(NOTE_TYPES), help="List only notes of this type.")
@limit_option
@json_option
@click.pass_context
def list_(ctx: click.Context, type_: str | None, limit: int, as_json: bool) -> ExitCode:
    """List notes, the newest first.

    \b
    Examples:
      gitmem memory list --type decision
    """
    write_each(list_notes(open_here(ctx), type_=type_ or "", limit=limit), as_json, note_json, format_note)
    return ExitCode.OK


@command.command("search")
@click.argument("text", metavar="TEXT|-")
@click.option("--conversations", is_flag=True, help="Search the conversations too.")
@filter_options("conversation", "since", "until", "min_confidence")
@format_options
@neighbors_option
@click.pass_context
def search(ctx: click.Context, /, *, text: str, conversations: bool, limit: int | None, **options: object) -> ExitCode:
    """Search the notes. `gitmem query --kind` searches several kinds at once.

    \b
    Examples:
      gitmem memory search "where do sessions live"
      gitmem memory search --type decision --min-confidence 0.5 "where do sessions live"
    """
    kinds = ("notes", "conversations") if conversations else ("notes",)
    return search_records(ctx, read_query(text), kinds, limit, options)


@command.command("show")
@click.argument("name", metavar="ID")
@click.option("--at", metavar="REV", default="", help="Show a former version: a commit of the log, ~2, or a date.")
@json_option
@click.pass_context
def show(ctx: click.Context, name: str, at: str, as_json: bool) -> ExitCode:
    """Show a note, or any other record by its id. Paths of a note that no longer exist are listed.

    \b
    Examples:
      gitmem memory show mem_0123456789ab
      gitmem memory show conversation:planning --at 2026-01-31
    """
    workspace = open_here(ctx)
    records = show_records(workspace, name, at=at)
    gone = missing_paths(workspace, [path for record in records for path in note_paths(record)])
    if as_json:
        write_json([record_json(record) | ({"gone": gone} if gone else {}) for record in records])
        return ExitCode.OK
    for record in records:
        print(format_record_head(record, gone), flush=True)
        write_content(record.content)
    return ExitCode.OK


@command.command("delete")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@json_option
@click.pass_context
def delete(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> ExitCode:
    """Delete notes, or any other records by their ids. Former versions stay until `gitmem memory purge`.

    \b
    Examples:
      gitmem memory delete mem_0123456789ab art_89abcdef
      gitmem memory delete conversation:planning
    """
    write_each(delete_records(open_here(ctx), names), as_json, Deleted._asdict, _format_deleted)
    return ExitCode.OK


def _format_deleted(gone: Deleted) -> str:
    unit = "turn" if is_conversation(gone.id) else "chunk"
    parts = "" if is_note_id(gone.id) else f" and {count(gone.parts, unit)}"
    return f"deleted {visible(gone.id)}{parts}"


for part in (log, diff, restore, purge, import_, export):
    command.add_command(part)
