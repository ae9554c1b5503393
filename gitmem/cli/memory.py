"""`gitmem memory`: commands on notes, and those on all records."""

from typing import Any

import click

from gitmem.cli import console
from gitmem.cli.answer_options import format_options, neighbors_option
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.completer import complete
from gitmem.cli.context import open_here, page_output, write_json
from gitmem.cli.filter_options import filter_options
from gitmem.cli.memory_brief import brief
from gitmem.cli.memory_merging import merge, recover
from gitmem.cli.memory_review import review
from gitmem.cli.memory_revisions import diff, log, purge, restore
from gitmem.cli.memory_suggest import suggest
from gitmem.cli.memory_transfer import export, import_
from gitmem.cli.note_changes import confirm, edit, expire
from gitmem.cli.query import search_records
from gitmem.cli.record_output import format_note, format_record_head, format_similar_note, write_content
from gitmem.cli.shown_secrets import shown_text, shown_value, shows_secrets
from gitmem.cli.text_input import (
    json_option,
    limit_option,
    print_each,
    print_notices,
    read_content,
    secrets_option,
    show_secrets_option,
)
from gitmem.cli.tree_search import read_query
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.memory.note import NOTE_TYPES, load_note, note_paths
from gitmem.memory.record_paths import is_conversation, is_note_id
from gitmem.memory.visibility import DEFAULTS, VISIBILITIES
from gitmem.records.code_notes import missing_paths
from gitmem.records.note_states import CURRENT, read_states, state_json
from gitmem.records.notes import add_note, list_notes
from gitmem.records.record_json import note_json, note_state_json, record_json, similar_note_json
from gitmem.records.revisions import DeletedRecord, delete_records, show_records
from gitmem.types import NOTE


@click.group(cls=CommandGroup)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Store notes in the repository, and manage all records of the memory.

    The commands from `add` to `brief` act on notes; `show` and `delete` also take the id of another record.
    The other commands act on all records: notes, documents and conversations.

    Records are git objects under `refs/gitmem/memory`. They are durable when the command returns, versioned, and safe
    from `git gc`. They stay in this clone; `gitmem sync` shares them.

    \b
    Examples:
      gitmem memory add --type decision "Sessions live in signed cookies, not in the database."
      gitmem memory list
      gitmem memory log
    """
    ctx.obj.warns = True


@command.command("add")
@click.argument("text", metavar="TEXT|-")
@click.option("--type", "type_", type=click.Choice(NOTE_TYPES), default="fact", help="Type of the note.")
@click.option("--confidence", type=float, default=1.0, metavar="0..1", help="How certain the note is.")
@click.option(
    "--conversation",
    metavar="NAME",
    shell_complete=complete("conversations"),
    default="",
    help="Conversation that the note is from.",
)
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    shell_complete=complete("tree paths"),
    multiple=True,
    help="File or folder it is about; repeatable.",
)
@click.option("--symbol", "symbols", metavar="NAME", multiple=True, help="Symbol it is about; repeatable.")
@click.option(
    "--supersedes",
    metavar="ID",
    shell_complete=complete("records"),
    multiple=True,
    help="Note that it replaces; repeatable.",
)
@click.option("--expires", metavar="DATE", default="", help="Date or time from which on it is not true any more.")
@click.option(
    "--visibility",
    type=click.Choice(VISIBILITIES),
    default=DEFAULTS[NOTE],
    show_default=True,
    help="Intended readers; only `team` and `org` are shared.",
)
@secrets_option
@json_option
@click.pass_context
def add(
    ctx: click.Context, /, *, text: str, type_: str, confidence: float, conversation: str, paths: tuple[str, ...],
    symbols: tuple[str, ...], supersedes: tuple[str, ...], expires: str, visibility: str, allow_secrets: bool,
    as_json: bool,
) -> ExitCode:  # fmt: skip
    """Store a note of up to 10,000 characters.

    Existing notes with the same meaning are reported. A note about a path or a symbol is shown next to search results
    there; a note about both, next to these symbols in these paths. It is marked once these files change.

    A note that supersedes others is ranked before them in every search, and they are marked.

    \b
    Examples:
      gitmem memory add "The staging database is restored every night."
      gitmem memory add --path src/auth --symbol Session.close "Closing twice is allowed."
      gitmem memory add --type preference --confidence 0.8 - < note.txt
      gitmem memory add --supersedes mem_0123456789ab "Sessions live in Redis."
    """
    added = add_note(
        open_here(ctx.obj),
        read_content(text),
        type_=type_,
        confidence=confidence,
        conversation=conversation,
        paths=paths,
        symbols=symbols,
        supersedes=supersedes,
        expires=expires,
        visibility=visibility,
        allow_secrets=allow_secrets,
    )
    print_notices(ctx, added.notices)
    if as_json:
        write_json(shown_value({**note_json(added.note), "similar": list(map(similar_note_json, added.similar))}))
    else:
        print(f"stored {added.note.id}")
        for similar in added.similar:
            print(shown_text(format_similar_note(similar)))
            print(f"    if it is outdated: gitmem memory edit {added.note.id} --supersedes {similar.note.id}")
    return ExitCode.OK


@command.command("list")
@click.option("--type", "type_", type=click.Choice(NOTE_TYPES), help="List only notes of this type.")
@limit_option
@show_secrets_option
@json_option
@click.pass_context
def list_(ctx: click.Context, type_: str | None, limit: int, as_json: bool) -> ExitCode:
    """List notes, newest first. Those that others supersede, that expired, or whose files changed are marked.

    \b
    Examples:
      gitmem memory list --type decision
    """
    workspace = open_here(ctx.obj)
    notes = list_notes(workspace, type_=type_ or "", limit=limit)
    states = read_states(workspace, notes)
    page_output(ctx.obj)
    pairs = zip(notes, states, strict=True)
    print_each(pairs, as_json, lambda pair: note_state_json(*pair), lambda pair: format_note(*pair))
    return ExitCode.OK


@command.command("search")
@click.argument("words", metavar="TEXT...|-", nargs=-1)
@click.option("--conversations", is_flag=True, help="Search the conversations too.")
@filter_options(
    "conversation", "since", "until", "min_confidence", type_help="Search only notes of this type (fact, ...)."
)
@format_options
@neighbors_option
@click.pass_context
def search(
    ctx: click.Context, /, *, words: tuple[str, ...], conversations: bool, limit: int | None, **shown: object
) -> ExitCode:
    """Search only the notes; `gitmem query --kind` searches several kinds at once.

    \b
    Examples:
      gitmem memory search "where do sessions live"
      gitmem memory search --type decision --min-confidence 0.5 "where do sessions live"
    """
    kinds = ("notes", "conversations") if conversations else ("notes",)
    return search_records(ctx, read_query(words), kinds, limit, shown)


@command.command("show")
@click.argument("name", metavar="ID", shell_complete=complete("records"))
@click.option(
    "--at",
    metavar="REV",
    shell_complete=complete("memory revisions"),
    default="",
    help="Show a former revision: a commit of the log, ~2, or a date.",
)
@show_secrets_option
@json_option
@click.pass_context
def show(ctx: click.Context, name: str, at: str, as_json: bool) -> ExitCode:
    """Show a note, with the person who shared it and those of its paths that do not exist any more.

    The id of a document shows the document, `conversation:NAME` all turns of a conversation. Here and in all other
    commands an id may be abbreviated to four or more digits.

    \b
    Examples:
      gitmem memory show mem_0123456789ab
      gitmem memory show conversation:planning --at 2026-01-31
    """
    workspace = open_here(ctx.obj)
    records = show_records(workspace, name, at=at)
    missing = missing_paths(workspace, [path for record in records for path in note_paths(record)])
    notes = [load_note(record) for record in records if record.kind == NOTE]
    state = next(iter(read_states(workspace, notes, counted=True)), CURRENT)  # an id names one note at most
    page_output(ctx.obj)
    if as_json:
        added: dict[str, Any] = {"missing_paths": missing} if missing else {}
        added |= {"state": state_json(state)} if notes else {}
        write_json(shown_value([record_json(record) | added for record in records]))
        return ExitCode.OK
    for record in records:
        # Flushed before the content, which bypasses the text layer.
        console.put(shown_text(format_record_head(record, missing, state)), flush=True)
        write_content(record.content if shows_secrets() else shown_text(record.text).encode())
    return ExitCode.OK


@command.command("delete")
@click.argument("names", metavar="ID...", shell_complete=complete("records"), nargs=-1, required=True)
@json_option
@click.pass_context
def delete(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> ExitCode:
    """Delete notes, all or none. `gitmem memory restore` brings them back until the memory is purged.

    The id of a document deletes the document, `conversation:NAME` a whole conversation.

    \b
    Examples:
      gitmem memory delete mem_0123456789ab art_89abcdef
      gitmem memory delete conversation:planning
    """
    print_each(delete_records(open_here(ctx.obj), names), as_json, DeletedRecord._asdict, _format_deleted)
    return ExitCode.OK


def _format_deleted(deleted: DeletedRecord) -> str:
    part = "turn" if is_conversation(deleted.id) else "chunk"
    parts = "" if is_note_id(deleted.id) else f" and {count(deleted.parts, part)}"
    return f"deleted {visible(deleted.id)}{parts}"


for subcommand in (
    edit, confirm, expire, review, suggest, brief, log, diff, restore, purge, merge, recover, import_, export,
):  # fmt: skip
    command.add_command(subcommand)
