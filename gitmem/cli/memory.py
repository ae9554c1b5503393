"""`gitmem memory`: notes, and what all records have in common."""

import sys
from pathlib import Path

import click

from gitmem.actions.exchange import export_records, import_records
from gitmem.actions.notes import add_note, list_notes
from gitmem.actions.purge import purge_memory
from gitmem.actions.record_forms import note_json, record_json
from gitmem.actions.records import (
    LOG_DEFAULT,
    delete_records,
    read_difference,
    read_log,
    restore_records,
    show_records,
)
from gitmem.cli.answering import format_options, neighbors_option
from gitmem.cli.asking import confirm
from gitmem.cli.limiting import limit_options
from gitmem.cli.query import read_question, search_records
from gitmem.cli.records import (
    change_json,
    format_change,
    format_note,
    format_record_head,
    format_step,
    step_json,
    write_content,
)
from gitmem.cli.session import open_here, write_json
from gitmem.cli.telling import json_option, limit_option, read_content, read_lines, say_notes, secrets_option
from gitmem.fsio import write_atomic
from gitmem.memory.notes import NOTE_TYPES
from gitmem.text import count, size, visible


@click.group()
def command() -> None:
    """Keep notes in the repository itself, and see to all that is kept.

    Notes, documents and conversations are git objects under `refs/gitmem/memory`: on the disk when the command returns,
    with a history, and safe from `git gc`. A clone has them only if asked:
    git fetch origin 'refs/gitmem/*:refs/gitmem/*'

    \b
    Examples:
      gitmem memory add --type decision "Sessions live in signed cookies, not in the database."
      gitmem memory list
      gitmem memory log
    """


@command.command("add")
@click.argument("text", metavar="TEXT|-")
@click.option("--type", "type_", type=click.Choice(NOTE_TYPES), default="fact", help="What sort of note it is.")
@click.option("--confidence", type=float, default=1.0, metavar="0..1", help="How sure this is.")
@click.option("--conversation", metavar="NAME", default="", help="The conversation it comes from.")
@secrets_option
@json_option
@click.pass_context
def add(
    ctx: click.Context, /, *, text: str, type_: str, confidence: float, conversation: str, allow_secrets: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Keep a note of up to 10,000 characters.

    \b
    Examples:
      gitmem memory add "The staging database is restored every night."
      gitmem memory add --type preference --confidence 0.8 - < note.txt
    """
    notes: list[str] = []
    note = add_note(
        open_here(ctx),
        read_content(text),
        type_=type_,
        confidence=confidence,
        conversation=conversation,
        allow_secrets=allow_secrets,
        notes=notes,
    )
    say_notes(ctx, notes)
    if as_json:
        write_json(note_json(note))
    else:
        print(f"kept {note.id}")
    return 0


@command.command("list")
@click.option("--type", "type_", type=click.Choice(NOTE_TYPES), help="Only notes of this type.")
@limit_option
@json_option
@click.pass_context
def list_(ctx: click.Context, type_: str | None, limit: int, as_json: bool) -> int:
    """List notes, the newest first.

    \b
    Examples:
      gitmem memory list --type decision
    """
    notes = list_notes(open_here(ctx), type_=type_ or "", limit=limit)
    if as_json:
        write_json([note_json(note) for note in notes])
    else:
        for note in notes:
            print(format_note(note))
    return 0


@command.command("search")
@click.argument("text", metavar="TEXT|-")
@click.option("--history", is_flag=True, help="Conversations too.")
@limit_options("conversation", "since", "until", "min_confidence")
@format_options
@neighbors_option
@click.pass_context
def search(ctx: click.Context, /, *, text: str, history: bool, limit: int | None, **shown: object) -> int:
    """Ask the notes alone; `gitmem query --kind` asks several kinds at once.

    \b
    Examples:
      gitmem memory search "where do sessions live"
      gitmem memory search --type decision --min-confidence 0.5 "where do sessions live"
    """
    sources = ("memory", "history") if history else ("memory",)
    return search_records(ctx, read_question(text), sources, limit, shown)


@command.command("show")
@click.argument("name", metavar="ID")
@click.option("--at", metavar="REV", default="", help="As it was then: an id of the log, ~2, or a date.")
@json_option
@click.pass_context
def show(ctx: click.Context, name: str, at: str, as_json: bool) -> int:
    """Show a record: a note, a document, or all turns of a conversation.

    \b
    Examples:
      gitmem memory show mem_0123456789ab
      gitmem memory show conversation:planning --at 2026-01-31
    """
    records = show_records(open_here(ctx), name, at=at)
    if as_json:
        write_json([record_json(record) for record in records])
        return 0
    for record in records:
        print(format_record_head(record), flush=True)
        write_content(record.content)
    return 0


@command.command("delete")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@json_option
@click.pass_context
def delete(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> int:
    """Take records out; the memory's history still has them.

    \b
    Examples:
      gitmem memory delete mem_0123456789ab art_89abcdef
      gitmem memory delete conversation:planning
    """
    gone = delete_records(open_here(ctx), names)
    if as_json:
        write_json([{"id": found.id, "parts": found.parts} for found in gone])
        return 0
    for found in gone:
        what = "turn" if found.id.startswith("conversation:") else "chunk"
        told = f" and {count(found.parts, what)}" if found.id[:4] != "mem_" else ""
        print(f"deleted {visible(found.id)}{told}")
    return 0


@command.command("log")
@click.argument("name", metavar="[ID]", default="")
@click.option("-n", "--limit", type=int, metavar="N", default=LOG_DEFAULT, show_default=True, help="At most this many.")
@json_option
@click.pass_context
def log(ctx: click.Context, name: str, limit: int, as_json: bool) -> int:
    """Tell what was added, changed and deleted, the newest first.

    \b
    Examples:
      gitmem memory log
      gitmem memory log art_89abcdef
    """
    steps = read_log(open_here(ctx), name=name, limit=limit)
    if as_json:
        write_json([step_json(step) for step in steps])
    else:
        for step in steps:
            print(format_step(step))
    return 0


@command.command("diff")
@click.argument("old", metavar="[REV", default="")
@click.argument("new", metavar="[REV]]", default="")
@json_option
@click.pass_context
def diff(ctx: click.Context, old: str, new: str, as_json: bool) -> int:
    """Show what differs between two states of the memory, by default since the last change.

    \b
    Examples:
      gitmem memory diff
      gitmem memory diff 2026-01-31
      gitmem memory diff 1f2e3d4 ~3
    """
    changes = read_difference(open_here(ctx), old, new)
    if as_json:
        write_json([change_json(change) for change in changes])
    else:
        for change in changes:
            print("\n".join(format_change(change)))
    return 0


@command.command("restore")
@click.argument("name", metavar="ID")
@click.option("--at", metavar="REV", default="", help="As it was then; by default before its last change.")
@json_option
@click.pass_context
def restore(ctx: click.Context, name: str, at: str, as_json: bool) -> int:
    """Put a record back as it was before.

    \b
    Examples:
      gitmem memory restore mem_0123456789ab
      gitmem memory restore art_89abcdef --at ~5
    """
    notes: list[str] = []
    records = restore_records(open_here(ctx), name, at=at, notes=notes)
    say_notes(ctx, notes)
    if as_json:
        write_json([record_json(record) for record in records])
    else:
        print(f"restored {visible(name)}")
    return 0


@command.command("purge")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_context
def purge(ctx: click.Context, yes: bool, as_json: bool) -> int:
    """Forget the memory's history: what was deleted or replaced is gone for good, from the object database too.

    What is kept now stays. Objects of yours are not touched.

    \b
    Examples:
      gitmem memory delete mem_0123456789ab
      gitmem memory purge
    """
    if not yes:
        confirm("forget the memory's history for good?", "purge asks before it forgets", "gitmem memory purge --yes")
    made = purge_memory(open_here(ctx))
    if as_json:
        write_json(made._asdict())
    else:
        print(f"removed {count(made.objects, 'object')}, {size(made.bytes)}")
    return 0


@command.command("import")
@click.argument("file", metavar="FILE|-")
@click.option("--partial", is_flag=True, help="Leave bad lines out instead of refusing all.")
@secrets_option
@json_option
@click.pass_context
def import_(ctx: click.Context, file: str, partial: bool, allow_secrets: bool, as_json: bool) -> int:
    """Take in records as JSON Lines, as `gitmem memory export` writes them.

    A line needs its content and, for a turn, conversation, turn and role; the kind is note, document or turn.
    With bad lines and `--partial` the exit code is 5.

    \b
    Examples:
      gitmem memory import memory.jsonl
      echo '{"content": "Deploys happen on Tuesdays.", "type": "fact"}' | gitmem memory import -
    """
    notes: list[str] = []
    made = import_records(open_here(ctx), read_lines(file), partial=partial, allow_secrets=allow_secrets, notes=notes)
    say_notes(ctx, notes)
    for line in made.bad:
        print(f"warning: line {line.number}: {visible(line.reason)}", file=sys.stderr)
    if as_json:
        bad = [line._asdict() for line in made.bad]
        write_json({"written": made.written, "unchanged": made.unchanged, "bad_lines": bad})
    else:
        print(f"imported {count(made.written, 'record')}, {made.unchanged:,} were there already")
    return 5 if made.bad else 0


@command.command("export")
@click.argument("file", metavar="[FILE|-]", default="-")
@click.pass_context
def export(ctx: click.Context, file: str) -> int:
    """Write every record as JSON Lines.

    \b
    Examples:
      gitmem memory export memory.jsonl
    """
    lines = (line + "\n" for line in export_records(open_here(ctx)))
    if file == "-":
        for line in lines:
            sys.stdout.buffer.write(line.encode())
        return 0
    write_atomic(Path(file), (line.encode() for line in lines))
    return 0
